#include "solvers/prox_newton/quasi_newton_model.h"

#include <gtest/gtest.h>

#include <utility>

#include "solvers/shared/proximal/test_iterate.h"

namespace proxbench::prox_newton {
namespace {

using namespace proximal;

/// Blocks come after an epoch that hardly lowers F. They go for good if F then falls by a similar amount from
/// epoch to epoch, and stay if each epoch lowers it much less than the one before.
TEST(QuasiNewtonModel, GivesUpBlocksWithWhichFFallsSlowly) {
  for (const double share : {0.6, 0.1}) {
    const test::Problem problem(
        {.name = "dense", .labels = 5, .features = 60, .sequences = 300, .longest = 12, .density = 0.2});
    IterateAtZero zero(problem);
    Iterate& at = zero.at;
    Objective evaluator = problem.objective();
    Monitor monitor(evaluator, zero.objective, {});
    const SparseVector start;
    const SolveProblem solve{zero.objective, monitor, start, 0.0, 1.0, 1};
    Settings settings{};
    settings.memory = 40;
    settings.max_inner = 1;
    settings.inner_tol = 0.3;
    QuasiNewtonModel model(settings);
    model.begin(solve, at.set);
    ASSERT_TRUE(model.blocks_pay(at, at.set.index));
    // An epoch of one iteration that begins at this F. Returns whether the model has blocks.
    const auto epoch = [&](double f) {
      const double value = std::exchange(at.value, f);
      model.start_epoch(at, true);
      at.value = value;
      const ArmijoResult found = at.search(model.minimise(at), {}, true);
      EXPECT_TRUE(found.accepted);
      model.learn(at.move(found, true), at);
      SparseVector w;
      Objective::Selection again;
      at.select(at.collect(w), -1.0, nullptr, again);
      at.take(again);
      return model.has_blocks();
    };
    EXPECT_FALSE(epoch(1000.0)) << "the first epoch";
    EXPECT_FALSE(epoch(900.0)) << "F fell by a tenth";
    EXPECT_TRUE(epoch(899.0)) << "F fell by a thousandth";
    EXPECT_TRUE(epoch(890.0)) << "blocks bring more";
    EXPECT_EQ(epoch(890.0 - 9.0 * share), share < 0.3);
    EXPECT_EQ(epoch(889.95 - 9.0 * share), share < 0.3) << "for good, and not since F hardly falls any more";
    EXPECT_EQ(epoch(889.9 - 9.0 * share), share < 0.3);
  }
}

}  // namespace
}  // namespace proxbench::prox_newton
