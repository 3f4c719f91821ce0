#pragma once
/// NaN stands for a number that was not measured, infinity for a target that was never reached.

#include <cmath>
#include <limits>

namespace proxbench {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// a - b, and a / b for b > 0, rounded up. For claims that something is at most this large.
inline double difference_up(double a, double b) {
  const double found = a - b, back = a - found;
  const double error = (a - (found + back)) + (back - b);  // of `found`, exactly (Knuth)
  return error > 0.0 ? std::nextafter(found, kInfinity) : found;
}
inline double quotient_up(double a, double b) {
  const double found = a / b;
  return std::fma(found, b, -a) < 0.0 ? std::nextafter(found, kInfinity) : found;
}

}  // namespace proxbench
