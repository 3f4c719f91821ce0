#pragma once

#include <cstddef>

namespace proxbench {

/// The extra weight of two labels, left < right,: row-major above the diagonal.
inline std::size_t label_pair(std::size_t labels, std::size_t left, std::size_t right) {
  return left * labels - left * (left + 1) / 2 + (right - left - 1);
}

}  // namespace proxbench
