/// Compares the chain's derivative capability with finite differences of its residual. The Hessian products
/// of the chain and the tree are tested in core/hessian_product_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/kernels/test_instruction_sets.h"
#include "core/objective.h"
#include "oracles/chain/chain.h"
#include "oracles/test_chains.h"

namespace proxbench {
namespace {

using test::random_scores;
using test::sequences;

struct Found {
  Residual residual, change;
};
Found derivative(const Oracle& oracle, const Scores& scores, const Scores& direction,
                 const Parallel& parallel = Parallel()) {
  Found out{Scores(oracle.outputs(), oracle.positions(), oracle.extra_weights()), {}};
  out.change = out.residual;
  std::unique_ptr<DerivativeOracle::Messages> kept;
  oracle.derivatives()->infer_and_keep({scores}, out.residual, kept, parallel);
  oracle.derivatives()->derivative(*kept, direction, out.change, parallel);
  return out;
}

/// Labels, size of scores, size of transitions.
class ChainDerivative : public testing::TestWithParam<std::tuple<Index, double, double>> {};

TEST_P(ChainDerivative, IsThatOfTheResidual) {
  const auto [labels, size, transition_size] = GetParam();
  const ChainOracle oracle(sequences(labels, {3, 1, 5, 2, 14, 1, 7, 3, 3, 2, 2, 2, 9, 4, 4, 1}, 3));
  const Scores scores = random_scores(oracle, size, transition_size, 1),
               direction = random_scores(oracle, 1.0, 1.0, 2);
  const Residual change = derivative(oracle, scores, direction).change;
  // Richardson's extrapolation of central differences, with errors of order h^4.
  constexpr double kStep = 2e-3;
  const auto at = [&](double alpha) {
    Residual r(oracle.outputs(), oracle.positions(), oracle.extra_weights());
    oracle.infer({scores, &direction, alpha}, &r, Parallel());
    return r;
  };
  const Residual a = at(kStep), b = at(-kStep), c = at(2 * kStep), d = at(-2 * kStep);
  const auto expected = [&](double up, double down, double far_up, double far_down) {
    return (8 * (up - down) - (far_up - far_down)) / (12 * kStep);
  };
  for (Index k = 0; k < labels; ++k)
    for (std::size_t p = 0; p < oracle.positions(); ++p) {
      const std::size_t i = k * change.stride + p;
      ASSERT_NEAR(change.values[i], expected(a.values[i], b.values[i], c.values[i], d.values[i]), 1e-8)
          << k << " at " << p;
    }
  for (std::size_t e = 0; e < change.extra.size(); ++e)
    ASSERT_NEAR(change.extra[e], expected(a.extra[e], b.extra[e], c.extra[e], d.extra[e]), 1e-7) << e;
}

// The transitions beyond kLinearRange use the log domain.
INSTANTIATE_TEST_SUITE_P(Sizes, ChainDerivative,
                         testing::Values(std::tuple{1u, 1.0, 1.0}, std::tuple{2u, 1.0, 1.0},
                                         std::tuple{5u, 3.0, 2.0}, std::tuple{8u, 1.0, 0.0},
                                         std::tuple{26u, 2.0, 2.0}, std::tuple{37u, 2.0, 1.0},
                                         std::tuple{70u, 1.0, 1.0}, std::tuple{4u, 20.0, 290.0},
                                         std::tuple{4u, 30.0, 400.0}, std::tuple{9u, 1.0, 700.0}));

TEST(ChainDerivative, LinearAndLogDomainAgree) {
  const ChainOracle oracle(sequences(9, {40, 1, 7}, 3));
  Scores linear = random_scores(oracle, 5.0, 3.0, 1);
  const Scores direction = random_scores(oracle, 1.0, 1.0, 2);
  // One transition is far below the rest. It has no mass to lose, but the range passes kLinearRange.
  linear.extra[0] = -290.0;
  Scores logarithmic = linear;
  logarithmic.extra[0] = -310.0;
  const Residual a = derivative(oracle, linear, direction).change,
                 b = derivative(oracle, logarithmic, direction).change;
  for (std::size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 1e-12);
  for (std::size_t e = 0; e < a.extra.size(); ++e) EXPECT_NEAR(a.extra[e], b.extra[e], 1e-11);
}

TEST(ChainDerivative, ChangesSumToZeroOnLongSequences) {
  const ChainOracle oracle(sequences(26, {10000, 1}, 5));
  for (const double transition_size : {1.0, 290.0, 700.0}) {
    const Scores scores = random_scores(oracle, 100.0, transition_size, 2),
                 direction = random_scores(oracle, 10.0, 10.0, 3);
    const Residual change = derivative(oracle, scores, direction).change;
    for (std::size_t p = 0; p < oracle.positions(); ++p) {
      double sum = 0.0;
      for (Index k = 0; k < 26; ++k) {
        ASSERT_TRUE(std::isfinite(change.column(k)[p]));
        sum += change.column(k)[p];
      }
      ASSERT_NEAR(sum, 0.0, 1e-9) << p;
    }
    double edges = 0.0;
    for (const double e : change.extra) edges += e;
    EXPECT_NEAR(edges, 0.0, 1e-7);
  }
}

class DerivativeOnEachSet : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(DerivativeOnEachSet);

TEST_P(DerivativeOnEachSet, AgreesWithTheBaselineInTheSameBitsForAnyThreads) {
  std::vector<Index> lengths{1, 5, 300, 2, 2, 9, 7, 7, 3, 1, 250, 4, 8, 8, 8, 8, 8, 8, 8, 8};
  for (const Index labels : {1u, 3u, 8u, 26u, 31u, 70u}) {
    const ChainOracle oracle(sequences(labels, lengths, 11));
    const Scores scores = random_scores(oracle, 3, 2, 12), direction = random_scores(oracle, 1, 1, 13);
    use_instruction_set(InstructionSet::kBaseline);
    const Found expected = derivative(oracle, scores, direction);
    use_instruction_set(GetParam());
    const Found found = derivative(oracle, scores, direction),
                again = derivative(oracle, scores, direction, Parallel(3));
    Residual plain = found.residual;
    oracle.infer({scores}, &plain, Parallel());
    EXPECT_EQ(plain.values, found.residual.values) << "keeping messages changes no bit";
    for (Index k = 0; k < labels; ++k)
      for (std::size_t p = 0; p < oracle.positions(); ++p) {
        ASSERT_NEAR(found.change.column(k)[p], expected.change.column(k)[p], 1e-12);
        ASSERT_EQ(found.change.column(k)[p], again.change.column(k)[p]);
      }
    for (std::size_t e = 0; e < found.change.extra.size(); ++e)
      ASSERT_NEAR(found.change.extra[e], expected.change.extra[e], 1e-10);
    EXPECT_EQ(found.change.extra, again.change.extra);
  }
}

}  // namespace
}  // namespace proxbench
