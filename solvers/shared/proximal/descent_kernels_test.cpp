#include "solvers/shared/proximal/descent_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/kernels/test_instruction_sets.h"

namespace proxbench {
namespace {

class Descent : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(Descent);

AlignedVector<double> random_numbers(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  AlignedVector<double> out(n);
  for (double& x : out) x = random.normal();
  return out;
}

/// Each step must minimise the model plus the penalty in its coordinate, so zero must be in the subgradient
/// there.
TEST_P(Descent, AStepIsOptimalInItsCoordinate) {
  constexpr std::size_t kRows = 40, kWidth = 24;
  constexpr double kGamma = 5.0, kLambda = 0.4;
  auto q = random_numbers(kRows * kWidth, 1);
  for (double& each : q) each *= 0.1;
  auto q_hat = q;  // B = gamma*I - Q Q^T
  const auto w = random_numbers(kRows, 2), g = random_numbers(kRows, 3);
  AlignedVector<double> diagonal(kRows, kGamma), d(kRows), d_hat(kWidth);
  for (std::size_t j = 0; j < kRows; ++j)
    for (std::size_t c = 0; c < kWidth; ++c) diagonal[j] -= q[j * kWidth + c] * q_hat[j * kWidth + c];
  const DescentPass pass{.start = nullptr,
                         .q = q.data(),
                         .q_hat = q_hat.data(),
                         .stride = kWidth,
                         .width = kWidth,
                         .gamma = kGamma,
                         .lambda = kLambda,
                         .w = w.data(),
                         .g = g.data(),
                         .diagonal = diagonal.data(),
                         .d = d.data(),
                         .d_hat = d_hat.data()};
  for (std::uint32_t j = 0; j < kRows; ++j) {
    const double moved = descent_kernels().descend(pass, &j, 1);
    EXPECT_NEAR(moved, std::abs(d[j]) * diagonal[j], 1e-12);
    double slope = g[j] + kGamma * d[j];
    for (std::size_t c = 0; c < kWidth; ++c) slope -= q[j * kWidth + c] * d_hat[c];
    const double at = w[j] + d[j];
    if (at == 0.0)
      EXPECT_LE(std::abs(slope), kLambda + 1e-12);
    else
      EXPECT_NEAR(slope, at > 0 ? -kLambda : kLambda, 1e-12);
  }
  const std::uint32_t last = kRows - 1;
  d[last] = -w[last];
  AlignedVector<double> flat(kRows, -1.0);
  DescentPass refused = pass;
  refused.diagonal = flat.data();
  EXPECT_EQ(descent_kernels().descend(refused, &last, 1), 0.0) << "rounding made the model flat there";
}

}  // namespace
}  // namespace proxbench
