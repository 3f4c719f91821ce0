#pragma once
/// Values for numbers that were not measured (NaN) or never reached (infinity).

#include <limits>

namespace proxbench {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace proxbench
