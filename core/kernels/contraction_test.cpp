/// A kernel must round each number in the same way wherever it lies: in a whole vector, in the remainder
/// after the last whole vector, in a whole tile or in a smaller one. Then no bit depends on how instances are
/// cut into chunks and shared among processes. The reference adds one product after the other, either all of
/// them fused or none.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/test_instruction_sets.h"

namespace proxbench {
namespace {

AlignedVector<double> random_numbers(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  AlignedVector<double> out(n);
  for (double& x : out) x = random.normal();
  return out;
}

class Contraction : public EachInstructionSet {
 protected:
  const KernelTable& kernels() const { return kernels_in_use(); }
  void SetUp() override {
    EachInstructionSet::SetUp();
    // 1 + (1 + 2^-30)^2 - 2: the last bit of the product is lost if the product is rounded by itself.
    AlignedVector<double> x(kPad, 1.0 + 0x1p-30), y(kPad, -1.0 - 0x1p-29);
    kernels().add_scaled(y.data(), 1.0 + 0x1p-30, x.data(), kPad);
    fused_ = y[0] != 0.0;
    ASSERT_EQ(y[0], fused_ ? 0x1p-60 : 0.0);
  }
  /// Returns sum + a * b.
  double add(double sum, double a, double b) const {
    const volatile double product = a * b;  // volatile, so that the compiler of this test does not fuse it
    return fused_ ? std::fma(a, b, sum) : sum + product;
  }

  bool fused_ = false;
};
PROXBENCH_ON_EACH_INSTRUCTION_SET(Contraction);

TEST_P(Contraction, SetsThatCanFuseProductsDo) {
#ifndef NDEBUG
  GTEST_SKIP() << "GCC fuses with optimisation only";
#endif
  if (GetParam() != InstructionSet::kBaseline) {
    EXPECT_TRUE(fused_);
  }
}

TEST_P(Contraction, SumsOfTwoVectorsAreTheSameInTheRest) {
  const auto x = random_numbers(5 * kPad, 1), z = random_numbers(5 * kPad, 2),
             y = random_numbers(5 * kPad, 3);
  for (std::size_t n = 0; n <= x.size(); ++n) {
    AlignedVector<double> scaled = y, then_dot = y;
    kernels().add_scaled(scaled.data(), 0.7, x.data(), n);
    kernels().add_then_dot(0.7, x.data(), then_dot.data(), z.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = i < n ? add(y[i], 0.7, x[i]) : y[i];
      ASSERT_EQ(scaled[i], expected) << i << " of " << n;
      ASSERT_EQ(then_dot[i], expected) << i << " of " << n;
    }
  }
}

TEST_P(Contraction, ProductsOfTwoVectorsAreTheSameInTheRest) {
  // One number among zeros, at each place of whole vectors and of the remainder.
  for (std::size_t n = 1; n <= 5 * kPad; ++n)
    for (std::size_t at = 0; at < n; ++at) {
      AlignedVector<double> a(n, 0.0), b(n, 0.0);
      const double first = 1.0 + 0x1p-30, second = -1.0 - 0x1p-29;
      a[at] = b[at] = first;
      ASSERT_EQ(kernels().dot(a.data(), b.data(), n), first * first) << at << " of " << n;
      AlignedVector<double> moved(n, 0.0);
      moved[at] = second;
      ASSERT_EQ(kernels().add_then_dot(first, a.data(), moved.data(), b.data(), n),
                add(second, first, first) * first)
          << at << " of " << n;
    }
}

TEST_P(Contraction, EntriesOfColumnsAreAddedAlike) {
  constexpr std::size_t kPositions = 64;
  const auto column = random_numbers(kPositions, 1), values = random_numbers(kPositions, 2);
  std::vector<std::uint16_t> offset(kPositions);
  for (std::size_t p = 0; p < kPositions; ++p) offset[p] = static_cast<std::uint16_t>(p);
  for (std::size_t n = 0; n <= kPositions; ++n) {
    const ColumnBlock block{offset.data(), values.data(), n};
    const double weight = 0.7;
    AlignedVector<double> out = column;
    kernels().scatter(out.data(), &block, &weight, 1);
    for (std::size_t p = 0; p < kPositions; ++p)
      ASSERT_EQ(out[p], p < n ? add(column[p], weight, values[p]) : column[p]) << p << " of " << n;
  }
}

TEST_P(Contraction, SumsOfRowsAreTheSameInTilesOfAnyWidth) {
  constexpr std::size_t kRows = 7;
  for (std::size_t width = kPad; width <= 20 * kPad; width += kPad) {
    const auto rows = random_numbers(kRows * width, 1), x = random_numbers(kRows, 2),
               begin = random_numbers(width, 3);
    std::vector<Index> index(kRows);
    for (Index r = 0; r < kRows; ++r) index[r] = r;
    AlignedVector<double> expected(width), added = begin;
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t k = 0; k < width; ++k) expected[k] = add(expected[k], x[r], rows[r * width + k]);
    for (std::size_t k = 0; k < width; ++k) expected[k] += begin[k];
    kernels().add_rows(rows.data(), index.data(), x.data(), kRows, added.data(), width);
    ASSERT_EQ(added, expected) << width;
  }
}

TEST_P(Contraction, ProductsOfMatricesAreTheSameInTilesOfAnySize) {
  for (std::size_t width = kPad; width <= 10 * kPad; width += kPad)
    for (std::size_t count = 1; count <= 14; ++count) {
      const auto rows = random_numbers(count * width, 1), matrix = random_numbers(width * width, 2),
                 begin = random_numbers(count * width, 3);
      AlignedVector<double> expected(count * width, 0.0), added = begin;
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t j = 0; j < width; ++j)
          for (std::size_t k = 0; k < width; ++k)
            expected[r * width + k] =
                add(expected[r * width + k], rows[r * width + j], matrix[j * width + k]);
      kernels().add_product(
          {rows.data(), width, count, width, matrix.data(), width, width, added.data(), width});
      for (std::size_t i = 0; i < added.size(); ++i)
        ASSERT_EQ(added[i], begin[i] + expected[i]) << count << " x " << width;
    }
}

}  // namespace
}  // namespace proxbench
