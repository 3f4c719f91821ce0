/// Compares max-margin solvers with each other and with the dual over all structures, solved by another
/// method. Checks the conditions that their steps must meet.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Conditions;
using test::every_sample;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;

using Texts = std::map<std::string, std::string>;

std::vector<ProblemSpec> hinge_specs() {
  std::vector<ProblemSpec> out = test::smooth_specs();
  out.push_back(
      {.name = "candidates", .labels = 1, .lambda = 0.0, .mu = 0.5, .seed = 107, .candidates = true});
  for (ProblemSpec& spec : out) spec.loss = {Loss::Kind::kHinge, Cost::kHamming};
  const std::size_t n = out.size();
  for (std::size_t i = 0; i < n; i += 2) {
    out.push_back(out[i]);
    out.back().name += ", mean cost";
    out.back().loss.cost = Cost::kHammingMean;
  }
  return out;
}

std::vector<Texts> variants() {
  std::vector<Texts> out;
  for (const char* sampling : {"uniform", "gap"})
    for (const char* steps : {"fw", "pairwise", "away", "block"})
      for (const char* cache : {"0", "20"})
        for (const char* batch : {"1", "5"})
          out.push_back({{"sampling", sampling},
                         {"steps", steps},
                         {"cache", cache},
                         {"batch", batch},
                         {"averaging", "false"}});
  return out;
}

std::string text(const Texts& options) {
  std::string out;
  for (const auto& [name, value] : options) out += name + "=" + value + " ";
  return out;
}

/// The dual of a problem whose structures can be listed, as a quadratic program with dense vectors. It
/// maximises
///
///     D(alpha) = sum_i <alpha_i, cost_i> - (1/(2 mu)) * ||sum_i sum_y alpha_i(y) * psi_i(y)||^2
///
/// over simplices, where psi_i(y) = features of y less those of gold. Each step is exact on two structures of
/// one instance. It ends when no pair raises D.
class ListedDual {
 public:
  explicit ListedDual(const Problem& problem) : objective_(problem.objective()) {
    const auto begin = objective_.oracle().begin();
    for (Index i = 0; i < objective_.instances(); ++i) {
      std::vector<Index> y(begin[i + 1] - begin[i], 0);
      alpha_.emplace_back();
      psi_.emplace_back();
      cost_.emplace_back();
      while (true) {
        add(problem, i, y);
        std::size_t t = 0;
        while (t < y.size() && ++y[t] == objective_.outputs()) y[t++] = 0;
        if (t == y.size()) break;
      }
      alpha_.back().assign(cost_.back().size(), 0.0);
      for (std::size_t a = 0; a < cost_.back().size(); ++a)
        if (cost_.back()[a] == 0.0) alpha_.back()[a] = 1.0;
    }
    sum_.assign(objective_.dimension(), 0.0);
  }

  /// The maximum of D.
  double solve() {
    const double mu = objective_.mu();
    for (int round = 0; round < 200000; ++round) {
      double largest = 0.0;
      for (std::size_t i = 0; i < alpha_.size(); ++i) {
        std::vector<double> value(cost_[i]);
        for (std::size_t a = 0; a < value.size(); ++a)
          for (std::size_t c = 0; c < sum_.size(); ++c) value[a] -= sum_[c] * psi_[i][a][c] / mu;
        std::size_t up = 0, down = alpha_[i].size();
        for (std::size_t a = 0; a < value.size(); ++a) {
          if (value[a] > value[up]) up = a;
          if (alpha_[i][a] > 0.0 && (down == alpha_[i].size() || value[a] < value[down])) down = a;
        }
        const double slope = value[up] - value[down];
        double squares = 0.0;
        for (std::size_t c = 0; c < sum_.size(); ++c)
          squares += (psi_[i][up][c] - psi_[i][down][c]) * (psi_[i][up][c] - psi_[i][down][c]);
        const double gamma =
            std::min(squares > 0.0 ? mu * slope / squares : alpha_[i][down], alpha_[i][down]);
        largest = std::max(largest, slope);
        if (!(gamma > 0.0)) continue;
        alpha_[i][up] += gamma;
        alpha_[i][down] = gamma == alpha_[i][down] ? 0.0 : alpha_[i][down] - gamma;
        for (std::size_t c = 0; c < sum_.size(); ++c) sum_[c] += gamma * (psi_[i][up][c] - psi_[i][down][c]);
      }
      if (largest < 1e-12) break;
    }
    double value = 0.0;
    for (std::size_t i = 0; i < alpha_.size(); ++i)
      for (std::size_t a = 0; a < alpha_[i].size(); ++a) value += alpha_[i][a] * cost_[i][a];
    for (const double s : sum_) value -= s * s / (2.0 * mu);
    return value;
  }

 private:
  void add(const Problem& problem, Index i, const std::vector<Index>& y) {
    const Index begin = objective_.oracle().begin()[i], outputs = objective_.outputs();
    std::vector<double> psi(objective_.dimension(), 0.0);
    double wrong = 0.0;
    for (Index t = 0; t < y.size(); ++t) {
      const Index gold = problem.data().gold[begin + t];
      wrong += y[t] != gold;
      const auto row = objective_.map().x().row(begin + t);
      const auto values = objective_.map().x().row_values(begin + t);
      for (std::size_t e = 0; e < row.size(); ++e) {
        psi[row[e] * outputs + y[t]] += values.empty() ? 1.0 : values[e];
        psi[row[e] * outputs + gold] -= values.empty() ? 1.0 : values[e];
      }
      if (t == 0 || problem.oracle_name() != "chain") continue;
      psi[objective_.unary_weights() + y[t - 1] * outputs + y[t]] += 1.0;
      psi[objective_.unary_weights() + problem.data().gold[begin + t - 1] * outputs + gold] -= 1.0;
    }
    if (objective_.loss().cost == Cost::kHammingMean) wrong /= static_cast<double>(y.size());
    psi_.back().push_back(std::move(psi));
    cost_.back().push_back(wrong);
  }

  Objective objective_;
  std::vector<std::vector<double>> alpha_, cost_;
  std::vector<std::vector<std::vector<double>>> psi_;
  std::vector<double> sum_;
};

TEST(Bcfw, FindsTheOptimumOfTheDualOverAllStructures) {
  for (const Cost cost : {Cost::kHamming, Cost::kHammingMean})
    for (ProblemSpec spec :
         {ProblemSpec{.name = "chain", .labels = 3, .features = 5, .sequences = 8, .longest = 4, .seed = 3},
          ProblemSpec{.name = "real",
          .labels = 2,
          .features = 4,
          .sequences = 8,
          .longest = 3,
          .real = true,
          .seed = 4},
          ProblemSpec{.name = "flat",
          .labels = 4,
          .features = 6,
          .sequences = 15,
          .seed = 5,
          .tree = ProblemSpec::Tree::kFlat}}) {
      SCOPED_TRACE(spec.name);
      spec.lambda = 0.0;
      spec.mu = 0.4;
      spec.loss = {Loss::Kind::kHinge, cost};
      const Problem problem(spec);
      const double expected = ListedDual(problem).solve();
      const Outcome r = run("bcfw", problem, {.tol = 1e-10});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_NEAR(r.certificate.objective, expected, 1e-9 * expected);
      EXPECT_NEAR(r.lower_bound, expected, 1e-9 * expected);
    }
}

TEST(Bcfw, AllVariantsComeToTheSameOptimum) {
  for (const ProblemSpec& spec : {hinge_specs()[5], hinge_specs()[8]}) {  // mu = 1
    ASSERT_EQ(spec.mu, 1.0);
    const Problem problem(spec);
    const double expected = run("bcfw", problem, {.tol = 1e-9}).certificate.objective;
    for (Texts options : variants()) {
      SCOPED_TRACE(spec.name + ": " + text(options));
      const bool slow = options["steps"] == "fw";
      const double tol = slow ? 1e-2 : 1e-6;
      const Outcome r = run("bcfw", problem, {.tol = tol, .options = options});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_LE(r.certificate.objective, expected * (1 + tol));
      EXPECT_GE(r.certificate.objective, expected * (1 - 1e-9));
      EXPECT_LE(r.lower_bound, expected * (1 + 1e-12));
    }
    const Outcome average = run("bcfw", problem, {.tol = 1e-2, .options = {{"preset", "paper"}}});
    EXPECT_EQ(average.result.status, Status::kConverged);
    EXPECT_LE(average.certificate.objective, expected * 1.01);
  }
}

TEST(Bcfw, TheDualNeverFallsAndNeverPassesThePrimal) {
  for (const ProblemSpec& spec : hinge_specs()) {
    const Problem problem(spec);
    for (const Texts& options : variants()) {
      SCOPED_TRACE(spec.name + ": " + text(options));
      const Outcome r = run("bcfw", problem, {.tol = 0.0, .monitor = every_sample(60), .options = options});
      double before = 0.0, lowest = r.trace.front().objective;
      for (const Sample& sample : r.trace) {
        lowest = std::min(lowest, sample.objective);
        if (std::isnan(sample.dual_gap)) continue;
        const double dual = test::dual_of(sample);
        EXPECT_GE(dual, before - 1e-12 * (1 + before)) << sample.iteration;
        before = dual;
      }
      EXPECT_GT(before, 0.0);
      EXPECT_LE(before, lowest * (1 + 1e-12));
    }
  }
}

/// If the solver converged by its own dual value, the audit confirms the gap from the atoms.
TEST(Bcfw, ConvergedIsAGapThatTheAuditFinds) {
  const Problem problem(hinge_specs()[5]);
  const Outcome r = run("bcfw", problem,
                        {.tol = 1e-7, .monitor = every_sample(20000), .options = {{"refresh_every", "1"}}});
  const Sample& last = r.trace.back();
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_LE(last.dual_gap, 1e-7 * last.objective * (1 + 1e-6));
  EXPECT_GE(last.dual_gap, -1e-12 * last.objective);
}

/// Compares the average that is kept lazily with an average over all iterates.
TEST(Bcfw, AveragesAllIteratesWithWeightsOneTwoThree) {
  for (const char* solver : {"bcfw", "ssg"}) {
    ProblemSpec spec = hinge_specs()[0];
    spec.sequences = 1;  // a report is then a step
    const Problem problem(spec);
    const auto at = [&](std::int64_t iterations, const char* averaging) {
      return run(solver, problem,
                 {.tol = 0.0,
                  .monitor = {.max_iterations = iterations},
                  .options = {{"averaging", averaging}}})
          .result.w;
    };
    std::map<Coord, double> expected;
    constexpr int kSteps = 9;
    for (int k = 1; k <= kSteps; ++k) {
      const SparseVector w = at(k, "false");
      for (std::size_t c = 0; c < w.nnz(); ++c)
        expected[w.index[c]] += 2.0 * k / (kSteps * (kSteps + 1.0)) * w.value[c];
    }
    const SparseVector average = at(kSteps, "true");
    for (std::size_t c = 0; c < average.nnz(); ++c)
      EXPECT_NEAR(average.value[c], expected[average.index[c]], 1e-13) << solver;
    double size = 0.0;
    for (const double value : average.value) size += std::abs(value);
    EXPECT_GT(size, 0.0);
  }
}

TEST(Bcfw, ThePresetPaperIsTheMethodOf2013) {
  Options options(solver_registry().find("bcfw").options);
  options.set("preset", "paper");
  for (const auto& [name, value] : {std::pair{"sampling", "uniform"},
                                    {"steps", "fw"},
                                    {"cache", "0"},
                                    {"averaging", "true"},
                                    {"batch", "1"}})
    EXPECT_EQ(options.string(name), value) << name;
}

TEST(Bcfw, CachesSaveOracleCalls) {
  ProblemSpec spec = hinge_specs()[0];
  spec.sequences = 60;
  const Problem problem(spec);
  const auto passes = [&](const char* cache) {
    return run("bcfw", problem,
               {.tol = 0.0, .monitor = {.max_iterations = 200}, .options = {{"cache", cache}}})
        .trace.back()
        .passes;
  };
  EXPECT_LT(passes("50"), 0.8 * passes("0"));
}

TEST(Bcfw, SameBitsForAnyThreadsInBatches) {
  ProblemSpec spec = test::large_spec();
  spec.lambda = 0.0;
  spec.mu = 1.0;
  spec.loss.kind = Loss::Kind::kHinge;
  const Problem problem(spec);
  for (const std::string solver : {"bcfw", "ssg"}) {
    const auto w = [&](const Parallel& parallel) {
      return run(solver, problem,
                 {.tol = 0.0,
                  .parallel = parallel,
                  .monitor = {.max_iterations = 30},
                  .options = {{"batch", "16"}}})
          .result.w;
    };
    const SparseVector expected = w(Parallel());
    for (const Backend backend : {Backend::kOpenMP, Backend::kTBB}) {
      const SparseVector found = w(Parallel(3, backend));
      EXPECT_EQ(found.index, expected.index);
      EXPECT_EQ(found.value, expected.value);
    }
  }
}

TEST(Ssg, ComesNearTheOptimum) {
  for (const ProblemSpec& spec : hinge_specs()) {
    const Problem problem(spec);
    const double best = run("bcfw", problem, {.tol = 1e-6}).certificate.objective;
    const Outcome r =
        run("ssg", problem, {.monitor = {.max_iterations = 20000}, .options = {{"reports", "1"}}});
    EXPECT_LE(r.certificate.objective, best * 1.01) << spec.name;
  }
}

/// The bound that the harness computes without a solver's dual point holds, too.
TEST(HingeCertificate, NeverPassesTheOptimum) {
  Random random(8);
  for (const double lambda : {0.0, 0.3})
    for (ProblemSpec spec : hinge_specs()) {
      spec.lambda = lambda;
      const Problem problem(spec);
      Objective objective = problem.objective();
      spec.lambda = 0.0;
      const SparseVector optimum = run("bcfw", Problem(spec), {.tol = 1e-6}).result.w;
      double lowest = certify(objective, optimum).objective;
      std::vector<double> bounds;
      for (const double size : {0.0, 0.01, 0.1, 1.0}) {
        SparseVector w = optimum;
        for (double& x : w.value) x += size * random.normal();
        const Certificate c = certify(objective, w);
        lowest = std::min(lowest, c.objective);
        bounds.push_back(c.dual);
      }
      for (const double bound : bounds) {
        EXPECT_LE(bound, lowest * (1 + 1e-12)) << spec.name;
        EXPECT_GE(bound, 0.0) << spec.name;
      }
    }
  // With l1 alone.
  ProblemSpec spec = hinge_specs()[0];
  spec.lambda = 1.0;
  spec.mu = 0.0;
  const Problem problem(spec);
  Objective objective = problem.objective();
  const Certificate c = certify(objective, {});
  EXPECT_GT(c.dual, 0.0);
  EXPECT_LE(c.dual, c.objective);
}

/// The audit refuses weights and structures that are no distribution.
TEST(HingeCertificate, RefusesWhatIsNoDistribution) {
  const Problem problem(hinge_specs()[0]);
  const Objective objective = problem.objective();
  struct Point final : StructurePoint {
    const Objective& objective;
    std::vector<double> weights{0.25, 0.75};
    Index change = 0;
    explicit Point(const Objective& of) : objective(of) {}
    void mixture(Index instance, Mixture& out) const override {
      const auto begin = objective.oracle().begin();
      std::vector<Index> gold(begin[instance + 1] - begin[instance]);
      objective.oracle().instance_max()->gold_structure(instance, gold);
      out.weight = weights;
      out.outputs = gold;
      gold[0] = (gold[0] + change) % (objective.outputs() + (change > 1 ? 9 : 0));
      out.outputs.insert(out.outputs.end(), gold.begin(), gold.end());
    }
  };
  Point point(objective);
  EXPECT_NEAR(point.value(objective), 0.0, 1e-11) << "all on gold";
  EXPECT_LE(point.value(objective), 0.0) << "rounding is taken off";
  point.change = 1;
  EXPECT_NO_THROW(point.value(objective));
  for (const std::vector<double>& weights :
       {std::vector<double>{0.5, 0.6}, {1.5, -0.5}, {std::nan(""), 1.0}, {1.0}}) {
    point.weights = weights;
    EXPECT_THROW(point.value(objective), Error);
  }
  point.weights = {0.25, 0.75};
  point.change = 8;
  EXPECT_THROW(point.value(objective), Error);
}

TEST(Bcfw, GapSamplingDrawsInstancesAgainWhoseGapWasZero) {
  // A gap of 0 often becomes positive again. Without uniform draws, an instance of gap 0 waits for the next
  // inference over all instances. A run then takes several times the passes of one that renews its estimates
  // at every pass.
  for (const std::uint64_t seed : {1, 2}) {
    ProblemSpec spec{.name = "multiclass",
                     .labels = 3,
                     .features = 5,
                     .sequences = 150,
                     .density = 1.0,
                     .real = true,
                     .lambda = 0.0,
                     .mu = 0.1,
                     .loss = {Loss::Kind::kHinge, Cost::kHamming},
                     .seed = seed,
                     .tree = ProblemSpec::Tree::kFlat};
    const Problem problem(spec);
    const auto passes = [&](const Texts& more) {
      Texts options{{"steps", "away"}, {"cache", "0"}};
      options.insert(more.begin(), more.end());
      const Outcome r =
          run("bcfw", problem,
              {.tol = 0.0, .monitor = {.max_iterations = 200000, .gap_target = 1e-3}, .options = options});
      EXPECT_EQ(r.result.status, Status::kGapReached);
      return r.trace.back().passes;
    };
    const double found = passes({}), renewed = passes({{"refresh_every", "1"}}),
                 never = passes({{"share", "1"}});
    EXPECT_EQ(passes({}), found) << "seed " << seed << ": the clock decides nothing";
    EXPECT_LE(found, 0.75 * never) << "seed " << seed;
    EXPECT_LE(found, 4.0 * renewed) << "seed " << seed;
  }
}

/// Solves for one mu after the other with one object, as a path over mu does.
TEST(Bcfw, ContinuesWithItsDualPointAtAnotherMu) {
  constexpr double kGap = 1e-3;
  for (ProblemSpec spec : hinge_specs()) {
    SCOPED_TRACE(spec.name);
    const SolverInfo& info = solver_registry().find("bcfw");
    const Options options(info.options);
    const std::unique_ptr<Solver> continuing = info.make(options);
    SparseVector start;
    const auto passes = [&](Solver& solver, double mu, bool in_sequence) {
      spec.mu = mu;
      const Problem problem(spec);
      Objective objective = problem.objective(), evaluator = problem.objective();
      Monitor monitor(
          evaluator, objective,
          {.max_iterations = 200000, .dense_samples = 200000, .sample_kkt = true, .gap_target = kGap});
      const SolveResult result =
          solver.solve({objective, monitor, start, 0.0, std::nan(""), 1, in_sequence, nullptr});
      monitor.finish(result.w);
      EXPECT_EQ(result.status, Status::kGapReached);
      EXPECT_GE(monitor.trace().back().dual_gap, -1e-9 * monitor.trace().back().objective);
      if (in_sequence) start = result.w;
      const std::vector<Sample>& trace = monitor.trace();
      return std::ranges::find_if(trace, [&](const Sample& s) { return s.gap <= kGap * s.objective; })
          ->passes;
    };
    const double first = spec.mu;
    const double begun = passes(*continuing, first, true), again = passes(*continuing, first, true),
                 next = passes(*continuing, 0.98 * first, true),
                 afresh = passes(*info.make(options), 0.98 * first, false);
    EXPECT_LT(again, 0.5 * begun) << "little is left to do";
    EXPECT_LT(next, afresh);
  }
}

}  // namespace
}  // namespace proxbench
