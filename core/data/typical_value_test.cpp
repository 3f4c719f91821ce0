#include "core/data/typical_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "core/base/random.h"

namespace proxbench {
namespace {

double typical(const std::vector<double>& values) {
  DesignMatrix::Builder builder;
  for (std::size_t p = 0; p < values.size(); ++p) {
    builder.add(static_cast<Index>(p % 3), values[p]);
    builder.end_position();
  }
  return typical_value(std::move(builder).build(3), Parallel());
}

TEST(TypicalValue, IsOneWhereXIsBinary) {
  EXPECT_EQ(typical({1, 1, 1, 1}), 1.0);
  EXPECT_EQ(typical({}), 1.0);
}

TEST(TypicalValue, IsNearTheGeometricMean) {
  EXPECT_EQ(typical({8, -8, 8}), 8.0);
  EXPECT_EQ(typical({0.25, 1, 4}), 1.0);
  EXPECT_EQ(typical({0.125, 0.125, 0.125, 1}), 0.25);  // 2^-2.25
}

TEST(TypicalValue, HardlySeesOneHugeCell) {
  std::vector<double> values(500, 1.5);
  values[7] = 1e12;
  EXPECT_EQ(typical(values), 1.0);
}

TEST(TypicalValue, GrowsWithAllValues) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> values(1 + random.below(20));
    for (double& x : values) x = random.normal();
    for (const int k : {-40, -13, 7, 40}) {
      std::vector<double> scaled = values;
      for (double& x : scaled) x = std::ldexp(x, k);
      EXPECT_EQ(typical(scaled), std::ldexp(typical(values), k));
    }
  }
}

}  // namespace
}  // namespace proxbench
