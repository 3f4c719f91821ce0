#include "core/lbfgs.h"

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/kernel_table.h"

namespace proxbench {

namespace {

/// Relative curvature below which a pair tells nothing but rounding.
constexpr double kCurvatureFloor = 1e-12;

}  // namespace

CompactLbfgs::CompactLbfgs(std::size_t memory, Scaling scaling)
    : memory_(memory), stride_(padded(2 * memory)), scaling_(scaling) {
  if (memory < 1) throw Error::usage("memory = 0: violated constraint memory >= 1");
}

void CompactLbfgs::reset(std::size_t rows, double gamma) {
  rows_ = rows;
  gamma_ = gamma;
  ages_.clear();
  q_.assign(rows * stride_, 0.0);
  q_hat_.assign(rows * stride_, 0.0);
  sts_.assign(memory_ * memory_, 0.0);
  sty_.assign(memory_ * memory_, 0.0);
}

void CompactLbfgs::keep_rows(std::span<const std::uint32_t> kept) {
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i] != i) std::copy_n(q(kept[i]), width(), q_.data() + i * stride_);
  rows_ = kept.size();
  q_.resize(rows_ * stride_);
  q_hat_.resize(rows_ * stride_);
}

void CompactLbfgs::take_rows(std::span<const std::uint32_t> from) {
  AlignedVector<double> rows(from.size() * stride_, 0.0);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != kNew) std::copy_n(q(from[i]), width(), rows.data() + i * stride_);
  q_.swap(rows);
  rows_ = from.size();
  q_hat_.assign(rows_ * stride_, 0.0);
}

bool CompactLbfgs::update(std::span<const double> s, std::span<const double> y, std::span<const double> b) {
  double ss = 0.0, sy = 0.0, yy = 0.0, sb = 0.0;
  for (std::size_t j = 0; j < rows_; ++j) {
    ss += s[j] * s[j];
    sy += s[j] * y[j];
    yy += y[j] * y[j];
    sb += s[j] * b[j];
  }
  if (!(sy > kCurvatureFloor * std::sqrt(ss * yy))) return false;

  std::size_t slot = ages_.size();
  if (ages_.size() == memory_) {
    slot = ages_.front();
    ages_.erase(ages_.begin());
  }
  ages_.push_back(slot);
  write_pair(slot, y, b);
  multiply_pairs(slot, s);
  for (const std::size_t other : ages_) sts_[other * memory_ + slot] = sts_[slot * memory_ + other];
  switch (scaling_) {
    case Scaling::kShort:
      gamma_ = sy / sb;
      break;
    case Scaling::kGeometric:
      gamma_ = std::sqrt(yy / ss);
      break;
    case Scaling::kLong:
      gamma_ = yy / sy;
      break;
    case Scaling::kNone:
      break;
  }
  build_middle();
  return true;
}

void CompactLbfgs::assign(std::size_t rows, std::span<const std::vector<double>> s,
                          std::span<const std::vector<double>> y, std::span<const std::vector<double>> b,
                          const Parallel& parallel) {
  reset(rows, gamma_);
  for (std::size_t i = 0; i < s.size(); ++i) ages_.push_back(i);
  for (std::size_t i = 0; i < s.size(); ++i) write_pair(i, y[i], b[i]);
  parallel.for_each(s.size(), [&](std::size_t i) { multiply_pairs(i, s[i]); });
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) sts_[j * memory_ + i] = sts_[i * memory_ + j];
  if (!s.empty()) build_middle();
}

void CompactLbfgs::write_pair(std::size_t slot, std::span<const double> y, std::span<const double> b) {
  for (std::size_t j = 0; j < rows_; ++j) {
    q_[j * stride_ + 2 * slot] = b[j];
    q_[j * stride_ + 2 * slot + 1] = y[j];
  }
}

/// Row `slot` of S^T B0 S and of S^T Y, s of the pair in that slot. L holds s_i^T y_j for i after j
/// only, so y needs none.
void CompactLbfgs::multiply_pairs(std::size_t slot, std::span<const double> s) {
  AlignedVector<double> products(width(), 0.0);
  kernels_in_use().combine_rows(q_.data(), stride_, rows_, s.data(), products.data(), width());
  for (const std::size_t other : ages_) {
    sts_[slot * memory_ + other] = products[2 * other];
    sty_[slot * memory_ + other] = products[2 * other + 1];
  }
}

void CompactLbfgs::set_gamma(double gamma) {
  gamma_ = gamma;
  if (!ages_.empty()) build_middle();
}

void CompactLbfgs::build_middle() {
  const std::size_t n = ages_.size(), w = width();
  const auto order = static_cast<Eigen::Index>(2 * n);
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(order, order);
  auto at = [&](std::size_t a, std::size_t b) -> double& {
    return k(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
  };
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) at(a, b) = gamma_ * sts_[ages_[a] * memory_ + ages_[b]];
    for (std::size_t b = 0; b < a; ++b) at(a, n + b) = at(n + b, a) = sty_[ages_[a] * memory_ + ages_[b]];
    at(n + a, n + a) = -sty_[ages_[a] * memory_ + ages_[a]];
  }
  // Steps shrink by many orders of magnitude as the solver converges: scale to unit diagonal before
  // inverting.
  const Eigen::VectorXd scale = k.diagonal().cwiseAbs().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = scale.asDiagonal() * k * scale.asDiagonal();
  const Eigen::MatrixXd inverse = scaled.partialPivLu().inverse();
  const Eigen::MatrixXd r = scale.asDiagonal() * (0.5 * (inverse + inverse.transpose())) * scale.asDiagonal();
  middle_.assign(w * w, 0.0);
  for (std::size_t a = 0; a < 2 * n; ++a)
    for (std::size_t b = 0; b < 2 * n; ++b) {
      const std::size_t row = a < n ? 2 * ages_[a] : 2 * ages_[a - n] + 1;
      const std::size_t column = b < n ? 2 * ages_[b] : 2 * ages_[b - n] + 1;
      middle_[row * w + column] = (a < n ? gamma_ : 1.0) *
                                  r(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) *
                                  (b < n ? gamma_ : 1.0);
    }
}

void CompactLbfgs::refresh(const Parallel& parallel) {
  const Chunks chunks{rows_, 256};
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    const std::size_t first = chunks.begin(chunk);
    kernels_in_use().rows_times_matrix(q(first), stride_, chunks.end(chunk) - first, middle_.data(), width(),
                                       q_hat_.data() + first * stride_);
  });
}

double CompactLbfgs::diagonal(std::size_t j) const {
  double dot = 0.0;
  for (std::size_t c = 0; c < width(); ++c) dot += q(j)[c] * q_hat(j)[c];
  return gamma_ - dot;
}

std::vector<double> CompactLbfgs::multiply(std::span<const double> d) const {
  std::vector<double> u(width(), 0.0), out(rows_);
  for (std::size_t j = 0; j < rows_; ++j)
    for (std::size_t c = 0; c < width(); ++c) u[c] += q_hat(j)[c] * d[j];
  for (std::size_t j = 0; j < rows_; ++j) {
    double dot = 0.0;
    for (std::size_t c = 0; c < width(); ++c) dot += q(j)[c] * u[c];
    out[j] = gamma_ * d[j] - dot;
  }
  return out;
}

}  // namespace proxbench
