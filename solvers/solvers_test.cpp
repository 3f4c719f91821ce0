/// Statements that hold for every registered solver, on small random chain problems.
///
/// Nothing here comes from a run of the solver under test: optimality is judged by certify(), which knows F
/// and its minimum-norm subgradient alone, and values by agreement among solvers that share little code.

#include "solvers/solvers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "solvers/test_problems.h"

namespace proxbench {
namespace {

using test::Problem;
using test::ProblemSpec;
using ::testing::HasSubstr;

constexpr double kTolerance = 1e-6;

double kkt_at_zero(const Problem& problem) {
  Objective objective = problem.objective();
  return certify(objective, {}).kkt;
}

struct Conditions {
  double tol = kTolerance;
  Parallel parallel = Parallel();
  MonitorOptions monitor = {.max_iterations = 50000};
  std::map<std::string, std::string> options = {};
  SparseVector start = {};
  const std::atomic<bool>* interrupt = nullptr;
  const Oracle* oracle = nullptr;  ///< in place of the problem's own
};

struct Outcome {
  SolveResult result;
  std::vector<Sample> trace;
  Certificate certificate;
  double kkt_target = 0.0;
};

Outcome run(const std::string& solver, const Problem& problem, const Conditions& setup = {}) {
  const Oracle& oracle = setup.oracle != nullptr ? *setup.oracle : problem.oracle();
  const ProblemSpec& spec = problem.spec();
  Objective objective(problem.data().x, oracle, spec.lambda, spec.mu, setup.parallel);
  Objective evaluator = problem.objective(setup.parallel);
  Monitor monitor(evaluator, objective, setup.monitor);
  monitor.interrupt = setup.interrupt;
  const SolverInfo& info = solver_registry().find(solver);
  Options options(info.options);
  for (const auto& [name, text] : setup.options) options.set(name, text);
  const SolveProblem task{objective, monitor, setup.start, setup.tol, kkt_at_zero(problem), 7};
  Outcome out;
  out.result = info.make(options)->solve(task);
  monitor.finish(out.result.iterations, out.result.w, out.result.working_set);
  out.trace = monitor.trace();
  out.certificate = certify(evaluator, out.result.w);
  out.kkt_target = task.kkt_target();
  return out;
}

/// Passes inference on, after `hook`, which may throw or change the value.
class HookedOracle final : public Oracle {
 public:
  HookedOracle(const Oracle& inner, std::function<double(int, double)> hook)
      : inner_(inner), hook_(std::move(hook)) {}
  Index outputs() const override { return inner_.outputs(); }
  std::size_t positions() const override { return inner_.positions(); }
  std::span<const Index> begin() const override { return inner_.begin(); }
  std::size_t extra_weights() const override { return inner_.extra_weights(); }
  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    return hook_(calls++, inner_.infer(at, residual, parallel));
  }
  bool collapses() const override { return inner_.collapses(); }
  std::span<const Index> gold_outputs(Index position) const override { return inner_.gold_outputs(position); }
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override {
    return hook_(calls++, inner_.infer_some(instances, at, residual, parallel));
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override {
    inner_.instance_terms(scores, terms, parallel);
  }
  void decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    inner_.decode(scores, decoding, outputs, parallel);
  }
  mutable int calls = 0;

 private:
  const Oracle& inner_;
  std::function<double(int, double)> hook_;
};

class EverySolver : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Registry, EverySolver, ::testing::ValuesIn(solver_registry().names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST_P(EverySolver, ReachesTheKktTargetOnEveryProblem) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const Outcome r = run(GetParam(), problem);
    EXPECT_EQ(r.result.status, Status::kConverged) << status_name(r.result.status);
    EXPECT_GT(r.result.w.nnz(), 0u);
    EXPECT_GT(r.result.iterations, 0);
    EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    EXPECT_LT(r.certificate.objective, r.trace.front().objective);
  }
}

TEST_P(EverySolver, NeverStopsFarAboveThePointThatHasTheTarget) {
  // The looser target must not be overshot by much work: what was asked for is when to stop.
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  const Outcome loose = run(GetParam(), problem, {.tol = 1e-2});
  const Outcome tight = run(GetParam(), problem, {.tol = 1e-6});
  EXPECT_EQ(loose.result.status, Status::kConverged);
  EXPECT_LE(loose.certificate.kkt, loose.kkt_target * (1 + 1e-6));
  EXPECT_LT(loose.result.iterations, tight.result.iterations);
}

TEST_P(EverySolver, ReachesTheSameOptimumFromAnotherStart) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  Conditions setup;
  Random random(5);
  Objective evaluator = problem.objective();
  for (Coord c = 0; c < evaluator.dimension(); c += 3) setup.start.push_back(c, random.normal());
  const Outcome far = run(GetParam(), problem, setup);
  const Outcome near = run(GetParam(), problem);
  EXPECT_EQ(far.trace.front().nnz, setup.start.nnz());
  EXPECT_EQ(far.result.status, Status::kConverged);
  EXPECT_LE(far.certificate.kkt, far.kkt_target * (1 + 1e-6));
  EXPECT_NEAR(far.certificate.objective, near.certificate.objective, 1e-8 * near.certificate.objective);
}

TEST_P(EverySolver, ReturnsAtOnceWhereZeroIsOptimal) {
  ProblemSpec spec{.name = "bias", .bias = true, .seed = 12};
  const double kkt = kkt_at_zero(Problem(spec));
  spec.lambda += kkt * (1 + 1e-9);  // the largest gradient entry at 0, and a little
  const Outcome r = run(GetParam(), Problem(spec));
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_EQ(r.result.w.nnz(), 0u);
  EXPECT_EQ(r.result.iterations, 0);
  EXPECT_EQ(r.certificate.kkt, 0.0);
}

TEST_P(EverySolver, FindsTheFirstWeightJustBelowTheLargestPenalty) {
  ProblemSpec spec{.name = "bias", .bias = true, .seed = 12};
  spec.lambda = (spec.lambda + kkt_at_zero(Problem(spec))) * 0.99;
  // kkt at 0 is a hundredth of the gradient here, and with it the target: ask for less.
  const Outcome r = run(GetParam(), Problem(spec), {.tol = 1e-4});
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
  EXPECT_GE(r.result.w.nnz(), 1u);
  EXPECT_LE(r.result.w.nnz(), 5u);
}

TEST_P(EverySolver, StopsAtMaxIterations) {
  const Problem problem(test::problem_specs()[3]);
  const Outcome r = run(GetParam(), problem, {.tol = 1e-9, .monitor = {.max_iterations = 3}});
  EXPECT_EQ(r.result.status, Status::kMaxIterations);
  EXPECT_EQ(r.result.iterations, 3);
  ASSERT_EQ(r.trace.size(), 4u) << "the start and every iteration";
  // The trace is of the iterates themselves, and what is returned is the last.
  EXPECT_EQ(r.trace.back().objective, r.certificate.objective);
  EXPECT_EQ(r.trace.back().nnz, r.certificate.nnz);
}

TEST_P(EverySolver, StopsAtTheTimeLimit) {
  const Problem problem(test::problem_specs()[3]);
  const Outcome r = run(GetParam(), problem, {.tol = 1e-9, .monitor = {.time_limit = 0.0}});
  EXPECT_EQ(r.result.status, Status::kTimeLimit);
  EXPECT_EQ(r.result.iterations, 1);
}

TEST_P(EverySolver, StopsWhenInterrupted) {
  const Problem problem(test::problem_specs()[3]);
  const std::atomic<bool> interrupt{true};
  const Outcome r = run(GetParam(), problem, {.tol = 1e-9, .interrupt = &interrupt});
  EXPECT_EQ(r.result.status, Status::kInterrupted);
  EXPECT_EQ(r.result.iterations, 1);
}

TEST_P(EverySolver, EndsByItselfWhereTheTargetIsOutOfReach) {
  // kkt = 0 to the last bit is not to be had: rounding ends the search, close to the optimum.
  const Problem problem(test::problem_specs()[4]);
  const Outcome r = run(GetParam(), problem, {.tol = 0.0});
  EXPECT_TRUE(r.result.status == Status::kStalled || r.certificate.kkt == 0.0)
      << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, 1e-5 * kkt_at_zero(problem));
}

TEST_P(EverySolver, GivesTheSameBitsWithAnyThreadsAndBackend) {
  const Problem problem(test::large_spec());
  Conditions setup;
  setup.tol = 1e-10;
  setup.monitor = {.max_iterations = 12, .dense_samples = 1000};
  const Outcome reference = run(GetParam(), problem, setup);
  ASSERT_GT(reference.result.w.nnz(), 10u);
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(backend_name(backend) + " " + std::to_string(threads));
      setup.parallel = Parallel(threads, backend);
      const Outcome r = run(GetParam(), problem, setup);
      EXPECT_EQ(r.result.w.index, reference.result.w.index);
      ASSERT_EQ(r.result.w.nnz(), reference.result.w.nnz());
      for (std::size_t i = 0; i < r.result.w.nnz(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint64_t>(r.result.w.value[i]),
                  std::bit_cast<std::uint64_t>(reference.result.w.value[i]));
      ASSERT_EQ(r.trace.size(), reference.trace.size());
      for (std::size_t i = 0; i < r.trace.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(r.trace[i].objective),
                  std::bit_cast<std::uint64_t>(reference.trace[i].objective));
        EXPECT_EQ(r.trace[i].passes, reference.trace[i].passes);
      }
    }
}

TEST_P(EverySolver, LetsAnErrorOfTheOracleThrough) {
  const Problem problem(test::problem_specs()[3]);
  for (const int at : {0, 1, 4}) {
    const HookedOracle oracle(problem.oracle(), [&](int call, double value) {
      if (call == at) throw Error("call " + std::to_string(at));
      return value;
    });
    try {
      run(GetParam(), problem, {.tol = 1e-9, .oracle = &oracle});
      ADD_FAILURE() << "no error at call " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "call " + std::to_string(at));
    }
    EXPECT_LE(oracle.calls, at + 1) << "no further inference after the error";
  }
}

TEST_P(EverySolver, ReportsDivergenceWhereTheStartHasNoValue) {
  const Problem problem(test::problem_specs()[0]);
  const HookedOracle oracle(problem.oracle(),
                            [](int, double) { return std::numeric_limits<double>::quiet_NaN(); });
  const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
  EXPECT_EQ(r.result.status, Status::kDiverged) << status_name(r.result.status);
  EXPECT_EQ(r.result.w.nnz(), 0u);
}

TEST_P(EverySolver, EndsWhereAllTrialsHaveNoValue) {
  const Problem problem(test::problem_specs()[0]);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const HookedOracle oracle(problem.oracle(),
                              [&](int call, double value) { return call < 1 ? value : bad; });
    const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
    EXPECT_TRUE(r.result.status == Status::kStalled || r.result.status == Status::kDiverged)
        << status_name(r.result.status);
    EXPECT_EQ(r.result.w.nnz(), 0u) << "what is returned is the last point with a value";
  }
}

TEST_P(EverySolver, BacksAwayFromTrialsThatHaveNoValue) {
  // A stray NaN now and then costs trials, not the result.
  const Problem problem(test::problem_specs()[0]);
  const HookedOracle oracle(problem.oracle(), [](int call, double value) {
    return call == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  });
  const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
  EXPECT_EQ(r.result.status, Status::kConverged) << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
}

TEST_P(EverySolver, NamesTheConstraintThatAnOptionViolates) {
  const SolverInfo& info = solver_registry().find(GetParam());
  auto refused = [&](const OptionSpec& spec, const std::string& text, const std::string& expected) {
    Options options(info.options);
    try {
      options.set(spec.name, text);
      ADD_FAILURE() << spec.name << " = " << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(spec.name));
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  };
  for (const OptionSpec& spec : info.options) {
    SCOPED_TRACE(spec.name);
    EXPECT_FALSE(spec.help.empty());
    const bool number = spec.type == OptionType::kInt || spec.type == OptionType::kReal;
    auto text = [&](double x) {
      return spec.type == OptionType::kInt ? std::to_string(static_cast<std::int64_t>(x)) : std::to_string(x);
    };
    if (number) {
      EXPECT_TRUE(std::isfinite(spec.min)) << "every number has a lower bound";
      refused(spec, text(spec.min_open ? spec.min : spec.min - 1), spec.constraint());
      if (std::isfinite(spec.max))
        refused(spec, text(spec.max_open ? spec.max : spec.max + 1), spec.constraint());
      refused(spec, "many", "many");
      refused(spec, "nan", "nan");
    }
    if (!spec.choices.empty()) refused(spec, "no-such-choice", spec.constraint());
  }
  Options options(info.options);
  EXPECT_THROW(options.set("no_such_option", "1"), Error);
}

TEST_P(EverySolver, SaysWhereItComesFrom) {
  const SolverInfo& info = solver_registry().find(GetParam());
  EXPECT_FALSE(info.help.empty());
  EXPECT_FALSE(info.paper.empty());
}

TEST(Solvers, AgreeOnTheObjective) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    double lowest = std::numeric_limits<double>::infinity(), highest = 0.0;
    for (const std::string& solver : solver_registry().names()) {
      const double objective = run(solver, problem, {.tol = 1e-7}).certificate.objective;
      lowest = std::min(lowest, objective);
      highest = std::max(highest, objective);
    }
    EXPECT_LE(highest - lowest, 1e-8 * lowest);
  }
}

TEST(Solvers, NoPointAroundTheOptimumIsLower) {
  // F itself, not its gradient: steps along and across coordinates from the optimum never lower it.
  const Problem problem({.name = "elastic net", .bias = true, .mu = 0.3, .seed = 22});
  Objective objective = problem.objective();
  const Outcome r = run("prox-gd-acc", problem, {.tol = 1e-9});
  std::vector<double> w(objective.dimension(), 0.0);
  for (std::size_t i = 0; i < r.result.w.nnz(); ++i) w[r.result.w.index[i]] = r.result.w.value[i];
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> moved = w;
    const double size = std::pow(10.0, -1 - trial % 3);
    if (trial % 2 == 0) {
      moved[random.below(moved.size())] += size * random.normal();
    } else {
      for (double& x : moved)
        if (x != 0.0) x += size * random.normal();
    }
    EXPECT_GE(certify(objective, SparseVector::from_dense(moved)).objective, r.certificate.objective);
  }
}

TEST(ProxGdAcc, EveryRestartRuleReachesTheOptimum) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  const double expected = run("owl-qn", problem, {.tol = 1e-7}).certificate.objective;
  for (const std::string rule : {"gradient", "function", "none"}) {
    SCOPED_TRACE(rule);
    const Outcome r = run("prox-gd-acc", problem, {.options = {{"restart", rule}}});
    EXPECT_EQ(r.result.status, Status::kConverged);
    EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    EXPECT_NEAR(r.certificate.objective, expected, 1e-8 * expected);
  }
}

TEST(ProxGdAcc, NeedsFarFewerIterationsThanWithoutMomentum) {
  const Problem problem({.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21});
  EXPECT_LT(3 * run("prox-gd-acc", problem).result.iterations, run("prox-gd", problem).result.iterations);
}

TEST(ProximalGradient, FirstEstimateOfTheLipschitzConstantDoesNotMatter) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  for (const std::string solver : {"prox-gd", "prox-gd-acc"})
    for (const std::string estimate : {"1e-6", "1e6"}) {
      SCOPED_TRACE(solver + " " + estimate);
      const Outcome r = run(solver, problem, {.options = {{"lipschitz", estimate}}});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    }
}

TEST(DescentMethods, LowerTheObjectiveAtEveryIteration) {
  for (const std::string solver : {"owl-qn", "liblbfgs-owlqn", "prox-gd"}) {
    SCOPED_TRACE(solver);
    const Problem problem(test::problem_specs()[1]);
    const Outcome r = run(solver, problem, {.tol = 1e-3, .monitor = {.dense_samples = 1000000}});
    for (std::size_t i = 1; i < r.trace.size(); ++i)
      EXPECT_LT(r.trace[i].objective, r.trace[i - 1].objective);
  }
}

TEST(OwlQn, SkipsUpdatesBelowTheCurvatureFloor) {
  // With a floor that no pair reaches the memory stays empty: every step is along the pseudo-gradient, and
  // slow.
  const Problem problem({.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21});
  const Outcome all = run("owl-qn", problem);
  const Outcome none = run("owl-qn", problem, {.options = {{"omega", "0.999999"}}});
  EXPECT_GT(none.result.iterations, 2 * all.result.iterations);
}

TEST(OwlQn, OneIterationFollowsThePaper) {
  // From w = 0 with an empty memory: p = v, alpha = 1/||v||, halved until the condition of section 3.2 holds.
  const Problem problem(test::problem_specs()[1]);
  Objective objective = problem.objective();
  const std::size_t d = objective.dimension();
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(SparseVector{}, scores);
  const double f0 = objective.infer({scores}, &residual);
  std::vector<double> w(d, 0.0), g(d), v(d), x(d);
  objective.gradient(residual, w, g);
  double norm = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    v[i] =
        std::abs(g[i]) > objective.lambda() ? -std::copysign(std::abs(g[i]) - objective.lambda(), g[i]) : 0.0;
    norm += v[i] * v[i];
  }
  norm = std::sqrt(norm);
  double alpha = 1.0 / norm;
  while (true) {
    double predicted = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      x[i] = alpha * v[i];
      predicted += v[i] * x[i];
    }
    if (certify(objective, SparseVector::from_dense(x)).objective <= f0 - 1e-4 * predicted) break;
    alpha *= 0.5;
  }
  const Outcome r = run("owl-qn", problem, {.monitor = {.max_iterations = 1}});
  const SparseVector expected = SparseVector::from_dense(x);
  EXPECT_EQ(r.result.w.index, expected.index);
  ASSERT_EQ(r.result.w.nnz(), expected.nnz());
  for (std::size_t i = 0; i < expected.nnz(); ++i) EXPECT_NEAR(r.result.w.value[i], expected.value[i], 1e-14);
}

}  // namespace
}  // namespace proxbench
