#pragma once
/// The inverse form of L-BFGS: keeps the newest pairs (s, y) and multiplies a vector by H in the two-loop
/// recursion (Nocedal and Wright 2006, algorithm 7.4). For solvers that keep w dense. The matrix itself is in
/// core/quasi_newton/lbfgs.h.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/parallel.h"

namespace proxbench::dense {

class LbfgsMemory {
 public:
  /// Keeps at most `capacity` >= 1 pairs of vectors of length d. Borrows `parallel`.
  LbfgsMemory(std::size_t capacity, std::size_t d, const Parallel& parallel);

  bool empty() const { return size_ == 0; }
  /// Forgets the pairs but keeps H_0.
  void clear() { size_ = 0; }
  /// The factor of H_0 = scale * I: y^T s / y^T y of the newest pair ever kept, and 0 before the first pair.
  double scale() const { return scale_; }

  /// Keeps a pair. Drops the oldest one if `capacity` pairs are kept already. Ignores the new pair if y^T s
  /// <= 0.
  void update(std::span<const double> s, std::span<const double> y);
  /// Drops all but so many of the newest pairs.
  void keep_newest(std::size_t pairs);
  /// Changes the coordinates under the same pairs. Coordinate i becomes the old one from[i], or, if that is
  /// CompactLbfgs::kNew, one that no pair moved.
  void take_rows(std::span<const std::uint32_t> from);

  /// Does the same for the pair that the caller has written into spare_s() and spare_y() (length d). Also
  /// ignores it if y^T s < omega * ||y||^2.
  void keep(double omega);
  std::vector<double>& spare_s() { return s_[slot(size_)]; }
  std::vector<double>& spare_y() { return y_[slot(size_)]; }

  /// r := H r. H_0 is scale * I (I before the first pair). A given `start` replaces H_0: it must compute r :=
  /// H_0 r.
  void apply(std::span<double> r, const std::function<void(std::span<double>)>& start = nullptr);

 private:
  /// The storage index of the i-th oldest pair.
  std::size_t slot(std::size_t i) const { return (oldest_ + i) % rho_.size(); }

  void make_spare(std::size_t d);

  const Parallel& parallel_;
  /// There is one more slot than the capacity, since the newest pair is formed before the oldest one is
  /// dropped. A slot has its vectors once it is used.
  std::vector<std::vector<double>> s_, y_;
  std::vector<double> rho_, alpha_;  ///< rho = 1 / y^T s
  double scale_ = 0.0;
  std::size_t oldest_ = 0, size_ = 0;
};

}  // namespace proxbench::dense
