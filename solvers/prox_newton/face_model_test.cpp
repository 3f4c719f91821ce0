#include "solvers/prox_newton/face_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/shared/proximal/coordinate_descent.h"
#include "solvers/shared/proximal/test_iterate.h"

namespace proxbench::prox_newton {
namespace {

using namespace proximal;

/// Each step stays on the face and predicts a decrease, and the steps lead to the optimum.
TEST(FaceModel, StepsStayOnTheFaceAndLeadToTheOptimum) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    if (spec.collinear) continue;  // slow in the last digits
    SCOPED_TRACE(spec.name);
    const test::Problem problem(spec);
    IterateAtZero zero(problem);
    Iterate& at = zero.at;
    const double first = zero.largest;
    FaceModel face;
    face.start_epoch(at);
    Optimality left;
    for (int iteration = 0; iteration < 500; ++iteration) {
      const double slope = face.step(at);
      at.set.shrink(at.lambda(), kInfinity, left);
      if (left.largest <= 1e-5 * first) break;
      ASSERT_LT(slope, 0.0);
      for (std::size_t j = 0; j < at.d.size(); ++j) {
        const double w = at.set.w[j], v = -minimum_norm_subgradient(w, at.set.g[j], at.lambda());
        ASSERT_GE((w == 0.0 ? v : w) * (w + at.d[j]), 0.0);
      }
      const ArmijoResult found = at.search(slope, {}, true);
      ASSERT_TRUE(found.accepted);
      face.learn(at.move(found, true), at);
    }
    EXPECT_LE(left.largest, 1e-5 * first);
  }
}

/// From w = 0, the direction along which the curvature was measured is scaled and not mapped again.
TEST(FaceModel, TheFirstStepHasTheScoresOfItsDirection) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const test::Problem problem(spec);
    IterateAtZero zero(problem, problem.objective().lambda());
    Iterate& at = zero.at;
    FaceModel face;
    face.start_epoch(at);
    const double slope = face.step(at);
    ASSERT_LT(slope, 0.0);
    EXPECT_NEAR(slope, predicted_change(at.set.w, at.set.g, at.d, at.lambda()), 1e-10 * std::abs(slope));
    const ArmijoResult found = at.search(slope, {}, true);
    ASSERT_TRUE(found.accepted);
    at.move(found, true);
    SparseVector w;
    at.collect(w);
    Objective again = problem.objective();
    SmoothState state = again.make_state();
    EXPECT_NEAR(found.value, again.evaluate(w, state), 1e-10 * found.value);
  }
}

/// The pairs survive the loss of rows.
TEST(FaceModel, KeepsItsPairsWhenRowsLeave) {
  const test::Problem problem(test::large_spec());
  IterateAtZero zero(problem);
  Iterate& at = zero.at;
  FaceModel face;
  face.start_epoch(at);
  for (int iteration = 0; iteration < 5; ++iteration) {
    const ArmijoResult found = at.search(face.step(at), {}, true);
    face.learn(at.move(found, true), at);
  }
  Optimality left;
  const auto& kept = at.set.shrink(at.lambda(), 0.0, left);
  ASSERT_LT(kept.size(), at.d.size());
  face.keep_rows(kept);
  EXPECT_LT(face.step(at), 0.0);
  EXPECT_EQ(at.d.size(), kept.size());
}

}  // namespace
}  // namespace proxbench::prox_newton
