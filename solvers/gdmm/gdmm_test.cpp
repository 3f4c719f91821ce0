/// GDMM on small problems: its augmented Lagrangian, its dual points, and the optimum.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/certificates/dual.h"
#include "solvers/gdmm/away_steps.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Problem;
using test::ProblemSpec;

ProblemSpec small_chain(double mu, std::uint64_t seed) {
  return {.name = "chain",
          .labels = 3,
          .features = 6,
          .sequences = 8,
          .longest = 4,
          .bias = true,
          .lambda = 0.0,
          .mu = mu,
          .seed = seed};
}

/// Draws instances with random features. Their labels depend on the features and on each other.
Dataset random_label_sets(Index labels, Index instances, std::uint64_t seed) {
  Random random(seed);
  constexpr Index kFeatures = 6;
  std::vector<double> truth(kFeatures * labels);
  for (double& t : truth) t = random.normal();
  Dataset data;
  DesignMatrix::Builder builder;
  for (Index i = 0; i < instances; ++i) {
    std::vector<double> score(labels, -0.5);
    for (Index j = 0; j < kFeatures; ++j)
      if (random.uniform() < 0.5) {
        builder.add(j, 1.0);
        for (Index k = 0; k < labels; ++k) score[k] += truth[j * labels + k];
      }
    builder.end_position();
    std::vector<Index> on;
    for (Index k = 0; k < labels; ++k)
      if (score[k] + random.normal() + (on.empty() ? 0.0 : 0.5) > 0.0) on.push_back(k);
    data.on.add(on);
    data.gold.push_back(kNoOutput);
    data.begin.push_back(i + 1);
  }
  data.x = std::move(builder).build(kFeatures);
  Vocabulary names;
  for (Index k = 0; k < labels; ++k) names.outputs.push_back("l" + std::to_string(k));
  for (Index j = 0; j < kFeatures; ++j) names.features.push_back("f" + std::to_string(j));
  data.vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  return data;
}

/// One problem with a hinge loss.
struct Task {
  Task(const Dataset& set, const std::string& oracle_name, double mu, Cost cost = Cost::kHamming)
      : data(set),
        oracle(oracle_registry().find(oracle_name).make(data)),
        penalty{0.0, mu},
        loss{Loss::Kind::kHinge, cost} {}
  Objective objective(int threads = 1) const {
    return Objective(data.x, *oracle, penalty, Parallel(threads), loss);
  }
  Dataset data;
  std::unique_ptr<Oracle> oracle;
  Penalty penalty;
  Loss loss;
};

struct Trained {
  SolveResult result;
  Certificate certificate;
  std::vector<Sample> trace;
};

Trained train(const Task& task, const std::string& solver, std::map<std::string, std::string> set,
              std::int64_t iterations, int threads = 1) {
  Objective objective = task.objective(threads), evaluator = task.objective(threads);
  Monitor monitor(evaluator, objective,
                  {.max_iterations = iterations,
                   .sample_growth = 0.5,
                   .dense_samples = 20,
                   .sample_kkt = true,
                   .sampling_budget = std::numeric_limits<double>::infinity()});
  const SolverInfo& info = solver_registry().find(solver);
  Options options(info.options);
  for (const auto& [name, text] : set) options.set(name, text);
  Trained out;
  out.result = info.make(options)->solve({objective, monitor, {}, 0.0, std::nan(""), 7});
  monitor.finish(out.result.w);
  out.trace = monitor.trace();
  out.certificate = certify(evaluator, out.result.w);
  return out;
}

std::vector<Task> tasks() {
  std::vector<Task> out;
  for (const double mu : {0.3, 1.0}) {
    out.emplace_back(Problem(small_chain(mu, 3)).data(), "chain", mu);
    out.emplace_back(Problem(small_chain(mu, 4)).data(), "chain", mu, Cost::kHammingMean);
    out.emplace_back(random_label_sets(4, 12, 5), "labels", mu);
  }
  return out;
}

std::unique_ptr<Factors> make_factors(
    const Objective& objective, double rho,
    Factors::Settings::Search search = Factors::Settings::Search::kFactorwise) {
  return make_factors(objective, Factors::Settings{objective.mu(), rho, search});
}

TEST(Gdmm, GradientIsThatOfTheAugmentedLagrangian) {
  for (const Task& task : tasks()) {
    const Objective objective = task.objective();
    const auto factors = make_factors(objective, 0.7);
    Random random(1);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t f = 0; f < factors->size(); ++f) {
        Factors::Work work = factors->make_work();
        factors->step(f, factors->search(f, work).value);
      }
      factors->raise_multipliers(0.5);
    }
    for (int check = 0; check < 40; ++check) {
      const std::size_t f = random.below(factors->size());
      Factors::Work work = factors->make_work();
      const Factors::Vertex vertex = factors->search(f, work);
      EXPECT_NEAR(vertex.gradient, factors->gradient(f, vertex.value), 1e-10);
      constexpr double kStep = 1e-4;
      const double here = factors->lagrangian();
      factors->shift(f, vertex.value, kStep);
      const double up = factors->lagrangian();
      factors->shift(f, vertex.value, -2.0 * kStep);
      const double down = factors->lagrangian();
      factors->shift(f, vertex.value, kStep);
      EXPECT_NEAR((up - down) / (2.0 * kStep), vertex.gradient, 1e-6 * (1.0 + std::abs(here)));
    }
  }
}

TEST(Gdmm, SearchesFindTheLeastGradient) {
  for (const Task& task : tasks()) {
    const Objective objective = task.objective();
    const auto factors = make_factors(objective, 1.3),
               brute = make_factors(objective, 1.3, Factors::Settings::Search::kBrute);
    const Index labels = task.oracle->factors()->binary_outputs() ? 2 : objective.outputs();
    Factors::Work work = factors->make_work();
    for (int round = 0; round < 5; ++round)
      for (std::size_t f = 0; f < factors->size(); ++f) {
        const Factors::Vertex found = factors->search(f, work);
        const std::uint64_t values = factors->is_pair(f) ? std::uint64_t{labels} * labels : labels;
        double least = std::numeric_limits<double>::infinity();
        for (std::uint64_t value = 0; value < values; ++value)
          least = std::min(least, factors->gradient(f, value));
        ASSERT_NEAR(found.gradient, least, 1e-11);
        ASSERT_NEAR(brute->search(f, work).gradient, least, 1e-11);
        for (Factors* both : {factors.get(), brute.get()}) {
          both->step(f, found.value);
          if (f + 1 == factors->size()) both->raise_multipliers(1.0);
        }
      }
  }
}

TEST(Gdmm, NoStepRaisesTheAugmentedLagrangian) {
  for (const Task& task : tasks()) {
    const Objective objective = task.objective();
    const auto factors = make_factors(objective, 1.0);
    Factors::Work work = factors->make_work();
    double last = factors->lagrangian();
    EXPECT_EQ(last, 0.0) << "all weight on gold";
    for (int round = 0; round < 30; ++round) {
      for (std::size_t f = 0; f < factors->size(); ++f) {
        const Factors::Value value = factors->search(f, work).value;
        const double predicted = factors->solve(f, value, work.block), made = factors->step(f, value);
        EXPECT_EQ(made, predicted) << "Algorithm 3 asks for what Algorithm 4 does";
        const double now = factors->lagrangian();
        ASSERT_LE(now, last - made + 1e-10) << "the model is an upper bound";
        last = now;
      }
      factors->raise_multipliers(1.0);
      last = factors->lagrangian();
    }
  }
}

TEST(Gdmm, NoStepOfAllFactorsRaisesTheAugmentedLagrangian) {
  for (const Task& task : tasks()) {
    const Objective objective = task.objective();
    Objective of_monitor = task.objective();
    Monitor monitor(of_monitor, objective, {});
    monitor.start({});
    const auto factors = make_factors(objective, 1.0);
    const Parallel parallel;
    AwaySteps away(*factors, parallel);
    for (int round = 0; round < 5; ++round) {
      double last = factors->lagrangian();
      const double first = last;
      for (int step = 0; step < 20; ++step) {
        away.step(monitor);
        const double now = factors->lagrangian();
        ASSERT_LE(now, last + 1e-10);
        last = now;
        for (std::size_t f = 0; f < factors->size(); ++f) {
          double sum = 0.0;
          for (const Factors::Atom& atom : factors->active(f)) {
            ASSERT_GE(atom.weight, 0.0);
            sum += atom.weight;
          }
          ASSERT_NEAR(sum, 1.0, 1e-9);
        }
      }
      EXPECT_LT(last, first);
      factors->raise_multipliers(0.3);
    }
  }
}

TEST(Gdmm, ProjectsOntoTheSimplex) {
  Random random(1);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<double> x(1 + random.below(6));
    for (double& value : x) value = 2.0 * random.normal();
    std::vector<double> y = x;
    std::vector<double> buffer;
    project_onto_simplex(y, buffer);
    double sum = 0.0;
    // The conditions of the nearest point: x - y is one number where y > 0, and no larger where y = 0.
    double shift = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += y[i];
      EXPECT_GE(y[i], 0.0);
      shift = std::max(shift, x[i] - y[i]);
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (y[i] > 0.0) {
        EXPECT_NEAR(x[i] - y[i], shift, 1e-12);
      }
  }
}

TEST(Gdmm, ReachesTheOptimum) {
  for (const Task& task : tasks()) {
    const Trained r = train(task, "gdmm", {{"batch", "1"}}, 2000);
    const Sample& last = r.trace.back();
    EXPECT_LE(last.dual_gap, 1e-7 * last.objective) << task.oracle->outputs();
    EXPECT_LE(last.infeasibility, 1e-6);
    for (const Sample& sample : r.trace)
      if (!std::isnan(sample.dual_gap)) {
        EXPECT_GE(sample.dual_gap, -1e-9 * sample.objective) << "weak duality";
      }
  }
}

TEST(Gdmm, ReachesTheOptimumOfBcfw) {
  for (const Task& task : tasks()) {
    if (task.oracle->instance_max() == nullptr) continue;
    const Trained mine = train(task, "gdmm", {{"batch", "1"}}, 2000), other = train(task, "bcfw", {}, 20000);
    EXPECT_LE(other.trace.back().dual_gap, 1e-4 * other.certificate.objective);
    EXPECT_NEAR(mine.certificate.objective, other.certificate.objective,
                other.trace.back().dual_gap + 1e-6 * other.certificate.objective);
  }
}

TEST(Gdmm, OtherPassesReachTheOptimum) {
  for (const Task& task : tasks())
    // A pass of Algorithm 3 moves one factor of each instance. A pass of the other algorithms moves all
    // factors.
    for (const auto& [inner, iterations] : {std::pair("bgcd", 10000), std::pair("afw", 1000)}) {
      const Trained r =
          train(task, "gdmm", {{"inner", inner}, {"partitions", "2"}, {"batch", "1"}}, iterations);
      const Sample& last = r.trace.back();
      EXPECT_LE(last.dual_gap, 1e-6 * last.objective) << inner << ' ' << last.infeasibility;
    }
}

TEST(Gdmm, ChangesRhoWithoutMovingVariablesAndMultipliers) {
  for (const Task& task : tasks()) {
    const Objective objective = task.objective();
    const auto factors = make_factors(objective, 1.0);
    Factors::Work work = factors->make_work();
    for (int round = 0; round < 3; ++round) {
      for (std::size_t f = 0; f < factors->size(); ++f) factors->step(f, factors->search(f, work).value);
      factors->raise_multipliers(1.0);
    }
    const double before = factors->lagrangian(), lacking = factors->infeasibility();
    ASSERT_GT(lacking, 0.0);
    factors->set_rho(4.0);
    EXPECT_EQ(factors->infeasibility(), lacking);
    EXPECT_NEAR(factors->lagrangian(), before + 1.5 * lacking * lacking, 1e-9 * std::abs(before));
  }
}

TEST(Gdmm, MeasuresHowFarVariablesMoved) {
  const Task task(Problem(small_chain(1.0, 3)).data(), "chain", 1.0);
  const Objective objective = task.objective();
  const auto factors = make_factors(objective, 1.0);
  const auto before = factors->variables();
  EXPECT_EQ(factors->moved_since(before), 0.0);
  const auto pair =
      std::ranges::find_if(factors->factors_of(0), [&](std::size_t f) { return factors->is_pair(f); });
  ASSERT_NE(pair, factors->factors_of(0).end()) << "the first sequence has two positions or more";
  factors->shift(*pair, factors->gold(*pair), -0.5);
  EXPECT_EQ(factors->moved_since(before), 0.0) << "no variable";
  const Factors::Value gold = factors->gold(0);
  factors->shift(0, gold, -0.5);
  factors->shift(0, gold == 0 ? 1 : 0, 0.5);
  EXPECT_DOUBLE_EQ(factors->moved_since(before), std::sqrt(0.5)) << "the first position has one edge";
}

TEST(Gdmm, TakesTheSameStepsOnAnyNumberOfThreads) {
  for (const Task& task : tasks())
    for (const std::string inner : {"block", "bgcd", "afw"}) {
      const Trained one = train(task, "gdmm", {{"inner", inner}, {"batch", "5"}}, 15, 1),
                    three = train(task, "gdmm", {{"inner", inner}, {"batch", "5"}}, 15, 3);
      EXPECT_EQ(one.result.w.index, three.result.w.index) << inner;
      EXPECT_EQ(one.result.w.value, three.result.w.value) << inner;
    }
}

TEST(Gdmm, NeedsFactors) {
  EXPECT_EQ(unmet_needs(solver_registry().find("gdmm"), {0.0, 1.0}, Loss::Kind::kHinge,
                        oracle_registry().find("tree")),
            "solver 'gdmm' needs an oracle with 'factors', which oracle 'tree' has not");
}

}  // namespace
}  // namespace proxbench
