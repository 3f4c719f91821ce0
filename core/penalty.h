#pragma once
/// The penalty of every model here: lambda*||w||_1 + (mu/2)*||w||_2^2. Either part may be zero, but not both.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace proxbench {

/// sign(x) * max(|x| - t, 0).
inline double soft_threshold(double x, double t) {
  return x > t ? x - t : (x < -t ? x + t : 0.0);
}

/// One coordinate of the minimum-norm subgradient of F, from the weight w and the gradient g of the smooth
/// part there (Zhong et al. 2014, equation 16).
inline double minimum_norm_subgradient(double w, double g, double lambda) {
  if (g != g) return g;  // a NaN must not look like an optimum
  if (w > 0) return g + lambda;
  if (w < 0) return g - lambda;
  if (g > lambda) return g - lambda;
  if (g < -lambda) return g + lambda;
  return 0.0;
}

/// Norms are summed in blocks of this many terms, which loses fewer digits than one long sum.
inline constexpr std::size_t kBlockOfNorms = 128;

/// The sum of term(i) over i < n.
template <class Term>
double sum_in_blocks(std::size_t n, const Term& term) {
  double sum = 0.0;
  for (std::size_t begin = 0; begin < n; begin += kBlockOfNorms) {
    const std::size_t end = std::min(n, begin + kBlockOfNorms);
    double part = 0.0;
    for (std::size_t i = begin; i < end; ++i) part += term(i);
    sum += part;
  }
  return sum;
}

inline double l1_norm(std::span<const double> w) {
  return sum_in_blocks(w.size(), [&](std::size_t i) { return std::abs(w[i]); });
}

inline double squared_norm(std::span<const double> w) {
  return sum_in_blocks(w.size(), [&](std::size_t i) { return w[i] * w[i]; });
}

struct Penalty {
  double lambda = 0.0, mu = 0.0;

  bool operator==(const Penalty&) const = default;
  /// "lambda = 1", "mu = 0.1" or "lambda = 1, mu = 0.1". A part that is 0 is omitted.
  std::string text() const;
  /// Throws Error (kUsage) unless lambda and mu are finite and >= 0, and at least one of them is > 0.
  void check() const;
  double l1(std::span<const double> w) const { return lambda == 0.0 ? 0.0 : lambda * l1_norm(w); }
  double l2(std::span<const double> w) const { return mu == 0.0 ? 0.0 : 0.5 * mu * squared_norm(w); }
};

}  // namespace proxbench
