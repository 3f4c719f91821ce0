#pragma once
/// Numbers that are none: not measured, never reached.

#include <limits>

namespace proxbench {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace proxbench
