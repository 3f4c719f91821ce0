#include "core/kernels/kernel_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/random.h"
#include "core/base/sum.h"
#include "core/kernels/test_instruction_sets.h"

namespace proxbench {
namespace {

class Kernels : public EachInstructionSet {
 protected:
  const KernelTable& kernels() const { return kernels_in_use(); }
};
PROXBENCH_ON_EACH_INSTRUCTION_SET(Kernels);

AlignedVector<double> random_numbers(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  AlignedVector<double> out(n);
  for (double& x : out) x = random.normal();
  return out;
}

/// A column with an entry at each of `positions` with probability `density`.
struct Column {
  Column(std::size_t positions, double density, bool binary, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t p = 0; p < positions; ++p)
      if (random.uniform() < density) {
        offset.push_back(static_cast<std::uint16_t>(p));
        if (!binary) value.push_back(random.normal());
      }
  }
  double at(std::size_t i) const { return value.empty() ? 1.0 : value[i]; }
  ColumnBlock block() const { return {offset.data(), value.empty() ? nullptr : value.data(), offset.size()}; }
  std::vector<std::uint16_t> offset;
  std::vector<double> value;
};

TEST_P(Kernels, ExponentialsAreThoseOfTheLibraryWithinTwoUlp) {
  std::vector<double> x;
  for (double v = -707.9; v < 700.0; v += 0.0371) x.push_back(v);
  for (double v = 1e-300; v < 1.0; v *= 3.7) x.insert(x.end(), {v, -v});
  x.insert(x.end(), {0.0, -0.0, std::log(2.0) / 2, -std::log(2.0) / 2});
  x.resize(padded(x.size()), 0.0);
  std::vector<double> y = x;
  kernels().exponentiate(y.data(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(x[i]), ulp = std::nextafter(exact, INFINITY) - exact;
    EXPECT_LE(std::abs(y[i] - exact), 2.0 * ulp) << "exp(" << x[i] << ")";
  }
}

TEST_P(Kernels, ExponentialsUnderflowToZeroAndKeepNaN) {
  std::vector<double> x{-708.1, -745.0, -1e5, -1e300, -INFINITY, std::nan(""), -708.0, 0.0};
  kernels().exponentiate(x.data(), x.size());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(x[i], 0.0) << i;
  EXPECT_TRUE(std::isnan(x[5]));
  EXPECT_GT(x[6], 0.0);
  EXPECT_EQ(x[7], 1.0);
}

TEST_P(Kernels, LogarithmsAreThoseOfTheLibraryWithinTwoUlp) {
  std::vector<double> x{1.0, 2.0, 0.5, std::sqrt(0.5), std::sqrt(2.0), 1e300, 2.3e-308};
  for (double v = 1e-300; v < 1e3; v *= 1.0371) x.insert(x.end(), {v, 1.0 + v, 1.0 / (1.0 + v)});
  x.resize(padded(x.size()), 1.0);
  std::vector<double> y = x;
  kernels().logarithm(y.data(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::log(x[i]), ulp = std::nextafter(std::abs(exact), INFINITY) - std::abs(exact);
    EXPECT_LE(std::abs(y[i] - exact), 2.0 * ulp) << "log(" << x[i] << ")";
  }
}

TEST_P(Kernels, LogarithmsOfWhatIsTooSmallAreThatOfTheSmallestNormalNumber) {
  const double smallest = std::numeric_limits<double>::min();
  std::vector<double> x{0.0, 1e-310, smallest, 1.0, 1.0, 1.0, 1.0, 1.0};
  kernels().logarithm(x.data(), x.size());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], std::log(smallest), 1e-12) << i;
  EXPECT_EQ(x[3], 0.0);
}

TEST_P(Kernels, GatherSumsAndScatterAddsTheEntriesOfColumns) {
  constexpr std::size_t kPositions = 1000;
  for (const bool binary : {true, false})
    for (const double density : {0.0, 0.003, 0.1, 0.5, 1.0}) {
      std::vector<Column> columns;
      for (std::uint64_t c = 0; c < 7; ++c) columns.emplace_back(kPositions, density, binary, c);
      std::vector<ColumnBlock> blocks;
      for (const Column& column : columns) blocks.push_back(column.block());
      const auto numbers = random_numbers(kPositions, 1), weight = random_numbers(columns.size(), 2);
      auto sum = random_numbers(columns.size(), 3), expected_sum = sum, scattered = numbers,
           expected = numbers;
      for (std::size_t c = 0; c < columns.size(); ++c)
        for (std::size_t i = 0; i < columns[c].offset.size(); ++i) {
          expected_sum[c] += columns[c].at(i) * numbers[columns[c].offset[i]];
          expected[columns[c].offset[i]] += weight[c] * columns[c].at(i);
        }
      kernels().gather(numbers.data(), blocks.data(), blocks.size(), sum.data());
      kernels().scatter(scattered.data(), blocks.data(), weight.data(), blocks.size());
      for (std::size_t c = 0; c < columns.size(); ++c) EXPECT_NEAR(sum[c], expected_sum[c], 1e-11);
      for (std::size_t p = 0; p < kPositions; ++p) EXPECT_NEAR(scattered[p], expected[p], 1e-13);
    }
}

/// The sum of a column by definition: pieces of kPieceEntries entries, in order.
double in_pieces(const Column& column, const std::vector<double>& numbers, double sum) {
  for (std::size_t first = 0; first < column.offset.size(); first += kPieceEntries) {
    double piece = 0.0;
    for (std::size_t i = first; i < std::min(first + kPieceEntries, column.offset.size()); ++i)
      piece += column.at(i) * numbers[column.offset[i]];
    sum += piece;
  }
  return sum;
}

TEST_P(Kernels, RowsAndColumnsAreSummedInTheSamePieces) {
  constexpr std::size_t kRows = 700;
  for (const double density : {0.002, 0.02, 0.3, 1.0})
    for (std::size_t width = kPad; width <= 20 * kPad; width += 3 * kPad)
      for (const bool binary : {true, false}) {
        const Column column(kRows, density, binary, width);
        const auto rows = random_numbers(kRows * width, 1), before = random_numbers(width, 2);
        auto by_row = before;
        kernels().add_block_rows(rows.data(), column.block(), by_row.data(), width);
        for (std::size_t k = 0; k < width; ++k) {
          std::vector<double> numbers(kRows);
          for (std::size_t p = 0; p < kRows; ++p) numbers[p] = rows[p * width + k];
          double by_column = before[k];
          const ColumnBlock block = column.block();
          kernels().gather(numbers.data(), &block, 1, &by_column);
          ASSERT_EQ(by_row[k], by_column) << width << ", " << k << ", " << density;
          if (binary) {
            ASSERT_EQ(by_row[k], in_pieces(column, numbers, before[k]));
          }
          ASSERT_NEAR(by_row[k], in_pieces(column, numbers, before[k]), 1e-11);
        }
      }
}

TEST_P(Kernels, ColumnsOfAllLengthsAreSummedTogether) {
  constexpr std::size_t kRows = 700;
  const auto rows = random_numbers(kRows, 1);
  const std::vector<double> numbers(rows.begin(), rows.end());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Column> columns;
    std::vector<ColumnBlock> blocks;
    for (std::uint64_t c = 0; c < 9; ++c)
      columns.emplace_back(kRows, static_cast<double>((seed * 7 + c * 5) % 11) / 10.0, true, 9 * seed + c);
    for (const Column& column : columns) blocks.push_back(column.block());
    std::vector<double> sums(columns.size(), 1.0);
    kernels().gather(numbers.data(), blocks.data(), blocks.size(), sums.data());
    for (std::size_t c = 0; c < columns.size(); ++c) EXPECT_EQ(sums[c], in_pieces(columns[c], numbers, 1.0));
  }
}

TEST_P(Kernels, RowsAreAddedByIndexAtEveryWidth) {
  constexpr std::size_t kRows = 300;
  for (const bool binary : {true, false})
    for (std::size_t width = kPad; width <= 20 * kPad; width += kPad) {
      const Column column(kRows, 0.2, binary, width);
      const std::vector<Index> index(column.offset.begin(), column.offset.end());
      const auto rows = random_numbers(kRows * width, 1);
      auto by_index = random_numbers(width, 2), expected = by_index;
      for (std::size_t i = 0; i < index.size(); ++i)
        for (std::size_t k = 0; k < width; ++k) expected[k] += column.at(i) * rows[index[i] * width + k];
      kernels().add_rows(rows.data(), index.data(), column.block().value, index.size(), by_index.data(),
                         width);
      for (std::size_t k = 0; k < width; ++k) EXPECT_NEAR(by_index[k], expected[k], 1e-12);
    }
}

TEST_P(Kernels, ColumnsTurnIntoRowsAndBack) {
  constexpr std::size_t kStride = 48, kBegin = 5;
  for (const std::size_t outputs : {1u, 2u, 7u, 8u, 9u, 26u})
    for (const std::size_t n : {1u, 3u, 8u, 21u, 40u}) {
      const std::size_t width = padded(outputs);
      const auto columns = random_numbers(outputs * kStride, 1);
      AlignedVector<double> rows(n * width, -1.0);
      auto back = random_numbers(outputs * kStride, 2);
      const auto before = back;
      kernels().columns_to_rows(columns.data(), kStride, outputs, kBegin, n, rows.data(), width);
      kernels().rows_to_columns(rows.data(), width, outputs, kBegin, n, back.data(), kStride);
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t k = 0; k < width; ++k)
          EXPECT_EQ(rows[p * width + k], k < outputs ? columns[k * kStride + kBegin + p] : 0.0);
      for (std::size_t k = 0; k < outputs; ++k)
        for (std::size_t p = 0; p < kStride; ++p) {
          const bool inside = p >= kBegin && p < kBegin + n;
          EXPECT_EQ(back[k * kStride + p], (inside ? columns : before)[k * kStride + p]);
        }
    }
}

TEST_P(Kernels, BoundsAreKeptOrNot) {
  AlignedVector<double> x(5 * kPad, 0.5);
  EXPECT_TRUE(kernels().all_within(x.data(), x.size() - 3, 0.5));
  EXPECT_EQ(kernels().lanes_outside(x.data(), 5, 0.5), 0u);
  for (const std::size_t at : {0u, 17u, 36u})
    for (const double bad : {0.6, -0.6, std::nan("")}) {
      auto y = x;
      y[at] = bad;
      EXPECT_FALSE(kernels().all_within(y.data(), y.size() - 3, 0.5));
      EXPECT_EQ(kernels().lanes_outside(y.data(), 5, 0.5), 1u << at % kPad);
    }
}

TEST_P(Kernels, VectorsAreAddedAndMultiplied) {
  for (const std::size_t n : {0u, 1u, 7u, 8u, 31u, 100u}) {
    const auto x = random_numbers(n, 1), z = random_numbers(n, 2);
    auto y = random_numbers(n, 3), expected = y;
    for (std::size_t i = 0; i < n; ++i) expected[i] += 0.3 * x[i];
    auto added = y;
    kernels().add_scaled(added.data(), 0.3, x.data(), n);
    const double dot = std::inner_product(expected.begin(), expected.end(), z.begin(), 0.0);
    EXPECT_NEAR(kernels().add_then_dot(0.3, x.data(), y.data(), z.data(), n), dot, 1e-12);
    EXPECT_NEAR(kernels().dot(y.data(), z.data(), n), dot, 1e-12);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(y[i], expected[i], 1e-15);
      EXPECT_NEAR(added[i], expected[i], 1e-15);
    }
  }
}

TEST_P(Kernels, MatricesAreMultiplied) {
  for (const std::size_t width : {8u, 24u, 80u})
    for (const std::size_t count : {1u, 5u, 6u, 20u}) {
      const std::size_t stride = width + kPad;
      constexpr std::size_t kInner = 11;
      const auto rows = random_numbers(count * stride, 1), matrix = random_numbers(kInner * stride, 2);
      AlignedVector<double> out(count * width, 2.0);
      kernels().add_product({.rows = rows.data(),
                             .rows_stride = stride,
                             .count = count,
                             .inner = std::min(kInner, width),
                             .matrix = matrix.data(),
                             .matrix_stride = stride,
                             .width = width,
                             .out = out.data(),
                             .out_stride = width});
      for (std::size_t k = 0; k < width; ++k) {
        for (std::size_t r = 0; r < count; ++r) {
          double product = 2.0;
          for (std::size_t j = 0; j < std::min(kInner, width); ++j)
            product += rows[r * stride + j] * matrix[j * stride + k];
          EXPECT_NEAR(out[r * width + k], product, 1e-12);
        }
      }
    }
}

}  // namespace
}  // namespace proxbench
