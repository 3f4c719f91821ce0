#pragma once
/// NaN stands for a number that was not measured, infinity for a target that was never reached.

#include <limits>

namespace proxbench {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace proxbench
