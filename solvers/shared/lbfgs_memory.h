#pragma once
/// L-BFGS by its inverse: the newest pairs (s, y), and H times a vector by the two-loop recursion (Nocedal
/// and Wright 2006, algorithm 7.4). For solvers that keep w dense; core/quasi_newton/lbfgs.h has the matrix itself.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/base/parallel.h"

namespace proxbench::dense {

class LbfgsMemory {
 public:
  /// At most `capacity` >= 1 pairs of d numbers. Borrows `parallel`.
  LbfgsMemory(std::size_t capacity, std::size_t d, const Parallel& parallel);

  bool empty() const { return size_ == 0; }
  /// Forgets the pairs, but not H_0.
  void clear() { size_ = 0; }
  /// H_0 = scale * I, y^T s / y^T y of the newest pair ever kept; 0 before the first.
  double scale() const { return scale_; }

  /// Keeps s = w - w_old, y = g - g_old in place of the oldest pair, unless y^T s < omega * ||y||^2.
  void update(std::span<const double> w, std::span<const double> w_old, std::span<const double> g,
              std::span<const double> g_old, double omega);
  /// Keeps this pair in place of the oldest one, unless y^T s <= 0.
  void update(std::span<const double> s, std::span<const double> y);

  /// r := H r, from H_0 = scale * I, or from r := H_0 r as `start` does it.
  void apply(std::span<double> r, const std::function<void(std::span<double>)>& start = nullptr);

 private:
  /// Where the i-th oldest pair lies.
  std::size_t slot(std::size_t i) const { return (oldest_ + i) % rho_.size(); }
  void keep(double omega);

  const Parallel& parallel_;
  /// One more than the capacity: the newest is formed before the oldest goes.
  std::vector<std::vector<double>> s_, y_;
  std::vector<double> rho_, alpha_;  ///< rho = 1 / y^T s
  double scale_ = 0.0;
  std::size_t oldest_ = 0, size_ = 0;
};

}  // namespace proxbench::dense
