#include "core/data/design_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(DesignMatrix, RowsAreSortedAndDuplicatesAreSummed) {
  DesignMatrix::Builder b;
  b.add(3, 0.5);
  b.add(1, 2.0);
  b.add(3, 0.25);
  b.end_position();
  const DesignMatrix x = std::move(b).build(5);
  EXPECT_EQ(x.positions(), 1u);
  EXPECT_EQ(x.features(), 5u);
  EXPECT_EQ(x.nonzeros(), 2u);
  EXPECT_THAT(x.row(0), ElementsAre(1, 3));
  EXPECT_THAT(x.row_values(0), ElementsAre(2.0, 0.75));
}

TEST(DesignMatrix, ColumnsHoldThePositionsInOrder) {
  //      f0   f1   f2
  // p0    .    2    1
  // p1    .    .    .
  // p2    4    3    .
  DesignMatrix::Builder b;
  b.add(2, 1);
  b.add(1, 2);
  b.end_position();
  b.end_position();
  b.add(0, 4);
  b.add(1, 3);
  b.end_position();
  const DesignMatrix x = std::move(b).build(3);
  EXPECT_THAT(x.row(1), IsEmpty());
  EXPECT_THAT(x.column(0), ElementsAre(2));
  EXPECT_THAT(x.column_values(0), ElementsAre(4.0));
  EXPECT_THAT(x.column(1), ElementsAre(0, 2));
  EXPECT_THAT(x.column_values(1), ElementsAre(2.0, 3.0));
  EXPECT_THAT(x.column(2), ElementsAre(0));
  EXPECT_THAT(x.column_values(2), ElementsAre(1.0));
  EXPECT_FALSE(x.binary());
}

TEST(DesignMatrix, KeepsNoValuesWhereAllAreOne) {
  DesignMatrix::Builder b;
  b.add(1, 1);
  b.add(0, 1);
  b.end_position();
  const DesignMatrix x = std::move(b).build(2);
  EXPECT_TRUE(x.binary());
  EXPECT_THAT(x.row(0), ElementsAre(0, 1));
  EXPECT_THAT(x.row_values(0), IsEmpty());
  EXPECT_THAT(x.column_values(0), IsEmpty());
}

TEST(DesignMatrix, IsBinaryWhenOtherValuesWereMergedOrDropped) {
  DesignMatrix::Builder b;
  b.add(0, 1);
  b.add(1, 0.0);   // dropped
  b.add(2, 0.25);  // 0.25 + 0.75 = 1
  b.add(2, 0.75);
  b.add(3, 2.0);  // cancels
  b.add(3, -2.0);
  b.end_position();
  const DesignMatrix x = std::move(b).build(4);
  EXPECT_TRUE(x.binary());
  EXPECT_THAT(x.row(0), ElementsAre(0, 2));
  EXPECT_EQ(x.nonzeros(), 2u);
}

TEST(DesignMatrix, ADuplicateOfOnesIsATwoAndEarlierRowsStayOnes) {
  DesignMatrix::Builder b;
  b.add(0, 1);
  b.end_position();
  b.add(0, 1);
  b.add(1, 1);
  b.add(1, 1);
  b.end_position();
  const DesignMatrix x = std::move(b).build(2);
  EXPECT_FALSE(x.binary());
  EXPECT_THAT(x.row_values(0), ElementsAre(1.0));
  EXPECT_THAT(x.row_values(1), ElementsAre(1.0, 2.0));
  EXPECT_THAT(x.column_values(0), ElementsAre(1.0, 1.0));
}

TEST(DesignMatrix, RandomMatrixReadsBackByRowAndByColumn) {
  Random random(7);
  constexpr Index kPositions = 50, kFeatures = 20;
  std::map<std::pair<Index, Index>, double> want;
  DesignMatrix::Builder b;
  for (Index p = 0; p < kPositions; ++p) {
    for (int n = 0; n < 8; ++n) {
      const Index j = static_cast<Index>(random.below(kFeatures));
      const double v = static_cast<double>(random.below(5)) - 2.0;  // integers: sums are exact in any order
      b.add(j, v);
      want[{p, j}] += v;
    }
    b.end_position();
  }
  std::erase_if(want, [](const auto& entry) { return entry.second == 0.0; });
  const DesignMatrix x = std::move(b).build(kFeatures);
  EXPECT_EQ(x.nonzeros(), want.size());
  std::map<std::pair<Index, Index>, double> rows, columns;
  for (Index p = 0; p < kPositions; ++p)
    for (std::size_t i = 0; i < x.row(p).size(); ++i) rows[{p, x.row(p)[i]}] = x.row_values(p)[i];
  for (Index j = 0; j < kFeatures; ++j) {
    const auto column = x.column(j);
    EXPECT_TRUE(std::is_sorted(column.begin(), column.end()));
    for (std::size_t i = 0; i < column.size(); ++i) columns[{column[i], j}] = x.column_values(j)[i];
  }
  EXPECT_EQ(rows, want);
  EXPECT_EQ(columns, want);
}

TEST(DesignMatrix, OfNothingIsEmpty) {
  const DesignMatrix x = DesignMatrix::Builder().build(3);
  EXPECT_EQ(x.positions(), 0u);
  EXPECT_EQ(x.nonzeros(), 0u);
  EXPECT_THAT(x.column(2), IsEmpty());
}

TEST(DesignMatrix, MemoryIsTheTwoIndicesWithoutSlack) {
  DesignMatrix::Builder b;
  for (int p = 0; p < 1000; ++p) {
    for (Index j = 0; j < 100; ++j) b.add(j, 1);
    b.end_position();
  }
  const DesignMatrix x = std::move(b).build(100);
  EXPECT_EQ(x.memory_bytes(),
            100'000 * (sizeof(Index) + sizeof(std::uint16_t)) + (1001 + 101) * sizeof(std::uint64_t));
}

/// There are many positions and few entries per feature, as for candidates with lexical features and a base
/// score.
TEST(DesignMatrix, MemoryOfRareFeaturesFollowsTheNonzeros) {
  constexpr Index kPositions = 300'000, kFeatures = 400'000;
  Random random(11);
  DesignMatrix::Builder b;
  for (Index p = 0; p < kPositions; ++p) {
    b.add(0, 0.5 * p + 0.25);
    for (int n = 0; n < 5; ++n) b.add(1 + 5 * static_cast<Index>(random.below(kFeatures / 5 - 1)) + n, 1);
    b.end_position();
  }
  const DesignMatrix x = std::move(b).build(kFeatures);
  ASSERT_FALSE(x.binary());
  ASSERT_GE(x.blocks(), 4u);
  EXPECT_LE(x.memory_bytes(), 16 * x.nonzeros() + 40 * x.features());

  // Blocks hold the same entries as the rows, and blocks without entries are empty.
  std::vector<std::vector<Index>> columns(kFeatures);
  for (Index p = 0; p < kPositions; ++p)
    for (const Index j : x.row(p)) columns[j].push_back(p);
  for (Index j = 0; j < kFeatures; j += j < 100 ? 1 : 997) {
    EXPECT_EQ(x.column(j), columns[j]);
    std::size_t seen = 0;
    for (std::size_t block = 0; block < x.blocks(); ++block) {
      const ColumnBlock entries = x.column_block(j, block);
      for (std::size_t i = 0; i < entries.size; ++i, ++seen)
        ASSERT_EQ(entries.value[i], j == 0 ? 0.5 * columns[0][seen] + 0.25 : 1.0);
    }
    EXPECT_EQ(seen, columns[j].size());
  }
}

TEST(DesignMatrix, KeepsValuesOfFeaturesThatHaveOthersThanOne) {
  DesignMatrix::Builder b;
  b.add(0, 1);
  b.add(1, 2);
  b.add(2, 1);
  b.end_position();
  b.add(0, 1);
  b.add(1, 1);
  b.end_position();
  b.add(2, 1);
  b.end_position();
  const DesignMatrix x = std::move(b).build(3);
  EXPECT_FALSE(x.binary());
  EXPECT_THAT(x.column_values(0), ElementsAre(1.0, 1.0));
  EXPECT_THAT(x.column_values(1), ElementsAre(2.0, 1.0));
  EXPECT_EQ(x.memory_bytes(), x.nonzeros() * (sizeof(Index) + sizeof(std::uint16_t)) +
                                  2 * 3 * sizeof(double) + (4 + 4) * 2 * sizeof(std::uint64_t))
      << "those of one feature by row and by column, and ones";
  EXPECT_THAT(x.row_values(0), ElementsAre(1.0, 2.0, 1.0));
  EXPECT_THAT(x.row_values(1), ElementsAre(1.0, 1.0));
  EXPECT_THAT(x.row_values(2), ElementsAre(1.0));
  std::vector<double> scratch;
  EXPECT_THAT(x.row_values(0, scratch), ElementsAre(1.0, 2.0, 1.0));
}

TEST(DesignMatrix, ColumnsAreCutIntoBlocksOfPositions) {
  // Dense enough for the finest blocks. Feature 1 is on at every third position, and its value there is the
  // position + 1.
  constexpr Index kPositions = 10000;
  DesignMatrix::Builder b;
  for (Index p = 0; p < kPositions; ++p) {
    b.add(0, 1);
    if (p % 3 == 0) b.add(1, p + 1.0);
    b.end_position();
  }
  const DesignMatrix x = std::move(b).build(2);
  ASSERT_EQ(x.blocks(), 5u);
  std::size_t seen = 0;
  for (std::size_t block = 0; block < x.blocks(); ++block) {
    const auto entries = x.column_block(1, block);
    for (std::size_t i = 0; i < entries.size; ++i, ++seen) {
      const std::size_t p = x.block_begin(block) + entries.offset[i];
      ASSERT_LT(p, x.block_begin(block + 1));
      ASSERT_EQ(p, 3 * seen);
      ASSERT_EQ(entries.value[i], static_cast<double>(p) + 1.0);
    }
  }
  EXPECT_EQ(seen, x.column_size(1));
  EXPECT_EQ(x.column(1).size(), seen);
  EXPECT_EQ(x.column(1).back(), 9999u);
}

TEST(DesignMatrix, SparseColumnsHaveFewBlocks) {
  DesignMatrix::Builder b;
  for (Index p = 0; p < 150'000; ++p) {
    if (p % 10'000 == 9'999) b.add(0, 2);
    b.end_position();
  }
  const DesignMatrix x = std::move(b).build(10);
  EXPECT_EQ(x.blocks(), 3u);
  EXPECT_EQ(x.column(0).size(), 15u);
  EXPECT_EQ(x.column(0).back(), 149'999u);
}

TEST(DesignMatrix, CountsTheAdditionsOfASum) {
  DesignMatrix::Builder b;
  for (Index p = 0; p < 10'000; ++p) {
    b.add(0, 1);
    if (p % 1000 == 0) b.add(1, 1);
    b.end_position();
  }
  const DesignMatrix x = std::move(b).build(2);
  std::size_t pieces = 0;
  for (std::size_t block = 0; block < x.blocks(); ++block)
    pieces += (x.column_block(0, block).size + kPieceEntries - 1) / kPieceEntries;
  EXPECT_GE(x.additions(0), static_cast<double>(kPieceEntries + pieces));
  EXPECT_LE(x.additions(0), static_cast<double>(kPieceEntries + pieces + x.blocks() + 1));
  EXPECT_EQ(x.additions(1), 10.0 + 1.0) << "entries, and one process";
}

TEST(DesignMatrix, MoreSparsePositionsThanAnOffsetHoldsTakeSeveralBlocks) {
  DesignMatrix::Builder b;
  for (Index p = 0; p < 70000; ++p) {
    if (p == 0 || p == 65535 || p == 65536 || p == 69999) b.add(0, 1);
    b.end_position();
  }
  const DesignMatrix x = std::move(b).build(1);
  EXPECT_THAT(x.column(0), ElementsAre(0, 65535, 65536, 69999));
}

TEST(DesignMatrix, RefusesWhatItCannotHold) {
  EXPECT_EQ(error_of([] {
              DesignMatrix::Builder b;
              b.end_position();
              b.add(5, 1);
              b.end_position();
              std::move(b).build(5);
            }),
            "design matrix: position 1 holds feature 5, expected features below 5");
  EXPECT_EQ(error_of([] {
              DesignMatrix::Builder b;
              b.add(0, 1);
              std::move(b).build(5);
            }),
            "design matrix: 1 entries after the last end_position()");
  EXPECT_EQ(error_of([] {
              DesignMatrix::Builder b;
              b.add(2, std::numeric_limits<double>::infinity());
              b.end_position();
            }),
            "design matrix: position 0, feature 2 has value inf, expected a finite one");
}

}  // namespace
}  // namespace proxbench
