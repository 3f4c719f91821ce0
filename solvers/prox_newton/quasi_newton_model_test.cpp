#include "solvers/prox_newton/quasi_newton_model.h"

#include <gtest/gtest.h>

#include "solvers/shared/proximal/test_iterate.h"

namespace proxbench::prox_newton {
namespace {

using namespace proximal;

/// Returns whether the model has blocks in the first epoch of a solve. 300 sequences have features with this
/// density, and inner problems have at most `max_inner` passes.
bool has_blocks(double density, std::int64_t max_inner, bool in_sequence) {
  const test::Problem problem(
      {.name = "dense", .labels = 5, .features = 60, .sequences = 300, .longest = 12, .density = density});
  IterateAtZero zero(problem);
  Objective evaluator = problem.objective();
  Monitor monitor(evaluator, zero.objective, {});
  const SparseVector start;
  const SolveProblem solve{zero.objective, monitor, start, 0.0, 1.0, 1, in_sequence};
  Settings settings{};
  settings.memory = 40;
  settings.max_inner = max_inner;
  settings.inner_tol = 0.3;
  QuasiNewtonModel model(settings);
  model.begin(solve, zero.at.set);
  model.start_epoch(zero.at, true);
  EXPECT_LT(model.minimise(zero.at), 0.0);
  return model.has_blocks();
}

TEST(QuasiNewtonModel, HasBlocksAlongPathsAndIfFullGradientsAreCostly) {
  constexpr double kFew = 0.2, kMany = 0.5;  // 12 and 30 features of a position, beside 5 labels
  EXPECT_FALSE(has_blocks(kFew, 1, false));
  EXPECT_TRUE(has_blocks(kFew, 1, true));
  EXPECT_TRUE(has_blocks(kMany, 1, false));
  EXPECT_TRUE(has_blocks(kMany, 1, true));
}

TEST(QuasiNewtonModel, HasNoBlocksIfInnerProblemsCostMoreThanAPass) {
  EXPECT_FALSE(has_blocks(0.5, 1'000'000, true));
  EXPECT_FALSE(has_blocks(0.5, 1'000'000, false));
}

}  // namespace
}  // namespace proxbench::prox_newton
