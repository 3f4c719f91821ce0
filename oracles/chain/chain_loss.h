#pragma once
/// The loss of one sequence, without the rounding of its large parts.

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "core/base/sum.h"
#include "core/base/types.h"

namespace proxbench {

/// Returns log Z - score of the labels y, from the tops and scales of ChainChunk, as
///
///     log prod_t scale_t + sum_t [(top_t - score_t(y_t)) + (largest - transition(y_t, y_{t+1}))].
///
/// score(t) is the score of y_t. No term of the sum over t is below 0, and the sum is compensated. So a long
/// sequence loses no digits, although log Z and the score of y are large and nearly equal. The product takes
/// one logarithm; its exponent is kept separately. `transition` is K x K, and `largest` its maximum.
template <class Score>
double chain_loss(std::span<const Index> y, const Score& score, const double* transition, std::size_t K,
                  double largest, const double* top, const double* scale) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1, kOne = std::uint64_t{1023} << 52;
  double product = 1.0, logs = 0.0;
  std::int64_t exponent = 0;
  CompensatedSum sum;
  for (std::size_t t = 0; t < y.size(); ++t) {
    double below = top[t] - score(t);
    if (t + 1 < y.size()) below += largest - transition[y[t] * K + y[t + 1]];
    sum.add(below);
    if (!(scale[t] > 0x1p-500 && scale[t] < 0x1p500)) {  // catches NaN, too
      logs += std::log(scale[t]);
      continue;
    }
    product *= scale[t];
    if (product > 0x1p-500 && product < 0x1p500) continue;
    const auto bits = std::bit_cast<std::uint64_t>(product);
    exponent += static_cast<std::int64_t>(bits >> 52) - 1023;
    product = std::bit_cast<double>((bits & kMantissa) | kOne);
  }
  sum.add(static_cast<double>(exponent) * std::numbers::ln2);
  sum.add(logs + std::log(product));
  return sum.value();
}

}  // namespace proxbench
