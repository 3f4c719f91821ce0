#pragma once
/// The compact limited-memory BFGS matrix on a shrinking working set (Zhong et al. 2014, sections 2.1 and
/// 2.3).
///
///     B = gamma*I - Q R Q^T,   Q = [gamma*S  Y],   R = [gamma*S^T S, L; L^T, -D]^-1
///
/// S and Y hold at most m pairs s = w_{t+1} - w_t and y = g_{t+1} - g_t, restricted to the |A| coordinates
/// (rows) of the working set A. gamma is folded into the middle matrix, so that rows are stored once: B =
/// gamma*I - [S Y] M [S Y]^T with M = diag(gamma, 1) R diag(gamma, 1).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/types.h"

namespace proxbench {

/// How a new pair (s, y) changes gamma. kLastStep sets it to the curvature of the step, y^T s / s^T s, as in
/// the paper. kNone does not change gamma.
enum class GammaRule { kLastStep, kNone };

class CompactLbfgs {
 public:
  /// A pair with less relative curvature contains only rounding errors.
  static constexpr double kCurvatureFloor = 1e-12;

  /// memory m >= 1.
  explicit CompactLbfgs(std::size_t memory, GammaRule rule = GammaRule::kLastStep);

  /// Drops all pairs and takes a working set of `rows` coordinates; B = gamma*I.
  void reset(std::size_t rows, double gamma);

  /// Keeps only the given rows, which must ascend, because the working set shrank. D, L and S^T S stay as
  /// computed over the larger set: s is zero outside the set on which it was computed.
  void keep_rows(std::span<const std::uint32_t> kept);
  static constexpr std::uint32_t kNew = static_cast<std::uint32_t>(-1);
  /// Changes the working set under the same pairs. Row i is the old row from[i], or kNew if no pair moved it.
  void take_rows(std::span<const std::uint32_t> from);

  /// Appends the pair (s, y), one number per row. Drops the oldest pair if m are stored. If the pair has too
  /// little curvature, y^T s <= 1e-12 * |s|*|y|, skips the pair, returns false and leaves B unchanged.
  bool update(std::span<const double> s, std::span<const double> y) { return update(s, y, s); }
  /// Does the same for B = gamma*B0 - [S Y] M [S Y]^T, with b = B0 s in place of s in S. The curvature is y^T
  /// s / s^T b.
  bool update(std::span<const double> s, std::span<const double> y, std::span<const double> b);

  /// Replaces all pairs by the given ones: at most m, oldest first, each of `rows` numbers. s, y and b = B0 s
  /// are as in update(). Each pair must have y^T s > 0. gamma stays.
  void assign(std::size_t rows, std::span<const std::vector<double>> s,
              std::span<const std::vector<double>> y, std::span<const std::vector<double>> b,
              const Parallel& parallel = Parallel());
  /// Entry j of y in a pair. The oldest pair has age 0.
  double y(std::size_t age, std::size_t j) const { return q_[j * stride_ + 2 * ages_[age] + 1]; }

  double gamma() const { return gamma_; }
  /// Changes gamma under the same pairs. Only with GammaRule::kNone; other rules set gamma with each pair.
  void set_gamma(double gamma);
  std::size_t rows() const { return rows_; }
  std::size_t pairs() const { return ages_.size(); }
  /// Doubles used in a row of q() and q_hat(): two for each pair, padded.
  std::size_t width() const { return padded(2 * pairs()); }

  /// q(j) is row j of [S Y], in units of gamma so that no product over- or underflows, and q_hat(j) is column
  /// j of M [S Y]^T, width() doubles each: (Bd)_j = gamma*d_j
  /// - q(j) . sum_i q_hat(i) d_i. Their rows are stride() doubles apart.
  std::size_t stride() const { return stride_; }
  const double* q(std::size_t j) const { return q_.data() + j * stride_; }
  const double* q_hat(std::size_t j) const { return q_hat_.data() + j * stride_; }
  /// B_jj, if the diagonal entry of B0 is of_start.
  double diagonal(std::size_t j, double of_start = 1.0) const;

  /// Computes q_hat for all rows. Call it after update() or keep_rows(), and before q_hat() or diagonal().
  void refresh(const Parallel& parallel = Parallel());

  /// B d by the formula above, for tests and checks.
  std::vector<double> multiply(std::span<const double> d) const;

 private:
  void write_pair(std::size_t slot, std::span<const double> y, std::span<const double> b);
  void multiply_pairs(std::size_t slot, std::span<const double> s);
  void build_middle();

  std::size_t memory_, stride_, rows_ = 0;
  GammaRule rule_;
  double gamma_ = 1.0;
  double unit_ = 1.0;  ///< a power of 2 near the square root of gamma at the last reset()
  std::vector<std::size_t>
      ages_;  ///< slots in use, oldest first; slot i has b in column 2i of q_, y in column 2i + 1
  AlignedVector<double> q_, q_hat_;
  std::vector<double> sts_, sty_;  ///< S^T S and S^T Y by slot, memory x memory, row-major
  AlignedVector<double> middle_;   ///< M (symmetric), width() x width(); zero where unused
};

}  // namespace proxbench
