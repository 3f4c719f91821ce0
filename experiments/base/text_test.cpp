#include "experiments/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/base/random.h"

namespace proxbench {
namespace {

long double number(const std::string& text) {
  return std::strtold(text.c_str(), nullptr);
}

TEST(DirectedText, NeverClaimsMoreThanTheNumber) {
  EXPECT_EQ(text_down(6.8522666646837, 10), "6.852266664");
  EXPECT_EQ(text_up(6.8522666646837, 10), "6.852266665");
  EXPECT_EQ(text_up(3.371e-5, 3), "3.38e-05");
  EXPECT_EQ(text_down(0.0, 3), "0");
  EXPECT_EQ(text_up(0.0, 3), "0");
  EXPECT_EQ(text_up(0.5, 3), "0.5") << "exact";
  EXPECT_EQ(text_up(9.9996, 4), "10");
  EXPECT_EQ(text_down(10.0 - 1e-12, 3), "9.99");
  EXPECT_EQ(text_down(-9.9996, 4), "-10");
  EXPECT_EQ(text_up(std::numeric_limits<double>::quiet_NaN(), 3), "nan");
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const double x = random.normal() * std::pow(10.0, 20.0 * random.normal());
    const int digits = 1 + static_cast<int>(random.below(12));
    const long double down = number(text_down(x, digits)), up = number(text_up(x, digits));
    EXPECT_LE(down, x);
    EXPECT_GE(up, x);
    // At most one unit of the last digit apart.
    EXPECT_LE(up - down,
              1.001L * std::pow(10.0L, std::floor(std::log10(std::fabs((long double)x))) - digits + 1))
        << x << " with " << digits;
  }
}

}  // namespace
}  // namespace proxbench
