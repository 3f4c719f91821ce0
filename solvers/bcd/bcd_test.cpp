#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/data/dataset.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::optimum;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;

TEST(Bcd, EveryChoiceReachesTheOptimum) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const double expected = optimum(problem);
    for (const auto& [option, value] : {std::pair{"shrinking", "false"},
                                        {"order", "cyclic"},
                                        {"epoch_margin", "0"},
                                        {"report", "1e-3"},
                                        {"floor", "1e-3"}}) {
      SCOPED_TRACE(std::string(option) + " = " + value);
      const Outcome r =
          run("bcd", problem, {.monitor = {.max_iterations = 10000000}, .options = {{option, value}}});
      EXPECT_EQ(r.result.status, Status::kConverged) << status_name(r.result.status);
      EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
      EXPECT_NEAR(r.certificate.objective, expected, 1e-8 * expected);
    }
  }
}

TEST(Bcd, AFeatureThatFewInstancesCarryCostsTheirShareOfAPass) {
  // Each instance has one feature of its own, so a cycle infers each instance once, for its feature. There
  // are no transitions.
  Dataset data;
  DesignMatrix::Builder builder;
  constexpr Index kInstances = 20;
  for (Index i = 0; i < kInstances; ++i) {
    builder.add(i, 3.0);
    builder.end_position();
    data.gold.push_back(i % 2);
    data.begin.push_back(i + 1);
  }
  data.x = std::move(builder).build(kInstances);
  auto names = std::make_shared<Vocabulary>();
  names->features.resize(kInstances);
  names->outputs.resize(2);
  data.vocabulary = names;
  const auto oracle = oracle_registry().find("tree").make(data);
  Objective objective(data.x, *oracle, {0.1, 0.0}, Parallel()),
      evaluator(data.x, *oracle, {0.1, 0.0}, Parallel());
  Monitor monitor(evaluator, objective, {.max_iterations = 1});
  const SolverInfo& info = solver_registry().find("bcd");
  Options options(info.options);
  options.set("report", "100");
  const SolveResult r = info.make(options)->solve({objective, monitor, {}, 1e-9, 1.4, 7});
  EXPECT_EQ(r.w.nnz(), 2u * kInstances);
  // The full gradient, then for each instance its residual and at most a few trials.
  EXPECT_GE(objective.counts().passes(), 3.0 - 1e-9);
  EXPECT_LE(objective.counts().passes(), 6.0);
}

}  // namespace
}  // namespace proxbench
