#include "core/lbfgs.h"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "core/error.h"
#include "core/kernels.h"

namespace proxbench {

namespace {

/// Relative curvature below which a pair tells nothing but rounding.
constexpr double kCurvatureFloor = 1e-12;

}  // namespace

CompactLbfgs::CompactLbfgs(std::size_t memory) : memory_(memory), width_(padded(2 * memory)) {
  if (memory < 1) throw Error::usage("memory = 0: violated constraint memory >= 1");
}

void CompactLbfgs::reset(std::size_t rows, double gamma) {
  rows_ = rows;
  gamma_ = gamma;
  ages_.clear();
  q_.assign(rows * width_, 0.0);
  q_hat_.assign(rows * width_, 0.0);
  const auto m = static_cast<Eigen::Index>(memory_), w = static_cast<Eigen::Index>(width_);
  sts_ = Eigen::MatrixXd::Zero(m, m);
  sty_ = Eigen::MatrixXd::Zero(m, m);
  middle_ = Eigen::MatrixXd::Zero(w, w);
}

void CompactLbfgs::keep_rows(std::span<const std::uint32_t> kept) {
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i] != i) std::copy_n(q_.data() + kept[i] * width_, width_, q_.data() + i * width_);
  rows_ = kept.size();
  q_.resize(rows_ * width_);
  q_hat_.resize(rows_ * width_);
}

bool CompactLbfgs::update(std::span<const double> s, std::span<const double> y) {
  double ss = 0.0, sy = 0.0, yy = 0.0;
  for (std::size_t j = 0; j < rows_; ++j) {
    ss += s[j] * s[j];
    sy += s[j] * y[j];
    yy += y[j] * y[j];
  }
  if (!(sy > kCurvatureFloor * std::sqrt(ss * yy))) return false;

  std::size_t slot = ages_.size();
  if (ages_.size() == memory_) {
    slot = ages_.front();
    ages_.erase(ages_.begin());
  }
  ages_.push_back(slot);
  for (std::size_t j = 0; j < rows_; ++j) {
    q_[j * width_ + slot] = s[j];
    q_[j * width_ + memory_ + slot] = y[j];
  }
  // Inner products of s with every stored s and y, and of y with nothing else: L holds s_i^T y_j for i after j only.
  AlignedVector<double> products(width_, 0.0);
  for (std::size_t j = 0; j < rows_; ++j) {
    const kernels::Pack sj = kernels::splat(s[j]);
    for (std::size_t c = 0; c < width_; c += kPad)
      kernels::store(products.data() + c,
                     kernels::load(products.data() + c) + sj * kernels::load(q(j) + c));
  }
  const auto e = static_cast<Eigen::Index>(slot);
  for (const std::size_t other : ages_) {
    const auto o = static_cast<Eigen::Index>(other);
    sts_(e, o) = sts_(o, e) = products[other];
    sty_(e, o) = products[memory_ + other];
  }
  gamma_ = sy / ss;
  build_middle();
  return true;
}

void CompactLbfgs::build_middle() {
  const auto n = static_cast<Eigen::Index>(ages_.size()), m = static_cast<Eigen::Index>(memory_);
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  for (Eigen::Index a = 0; a < n; ++a)
    for (Eigen::Index b = 0; b < n; ++b) {
      const auto i = static_cast<Eigen::Index>(ages_[static_cast<std::size_t>(a)]);
      const auto j = static_cast<Eigen::Index>(ages_[static_cast<std::size_t>(b)]);
      k(a, b) = gamma_ * sts_(i, j);
      if (a > b) k(a, n + b) = k(n + b, a) = sty_(i, j);
      if (a == b) k(n + a, n + a) = -sty_(i, i);
    }
  // Steps shrink by many orders of magnitude as the solver converges: scale to unit diagonal before inverting.
  const Eigen::VectorXd scale = k.diagonal().cwiseAbs().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = scale.asDiagonal() * k * scale.asDiagonal();
  Eigen::MatrixXd r = scale.asDiagonal() * scaled.fullPivLu().inverse() * scale.asDiagonal();
  r = 0.5 * (r + r.transpose()).eval();
  middle_.setZero();
  auto column = [&](Eigen::Index a) {
    return a < n ? static_cast<Eigen::Index>(ages_[static_cast<std::size_t>(a)])
                 : m + static_cast<Eigen::Index>(ages_[static_cast<std::size_t>(a - n)]);
  };
  for (Eigen::Index a = 0; a < 2 * n; ++a)
    for (Eigen::Index b = 0; b < 2 * n; ++b)
      middle_(column(a), column(b)) = (a < n ? gamma_ : 1.0) * r(a, b) * (b < n ? gamma_ : 1.0);
}

void CompactLbfgs::refresh() {
  // M is symmetric, so column storage serves as the row storage that the kernel reads.
  for (std::size_t j = 0; j < rows_; ++j)
    kernels::row_times_matrix(q(j), middle_.data(), width_, q_hat_.data() + j * width_, width_);
}

double CompactLbfgs::diagonal(std::size_t j) const {
  double dot = 0.0;
  for (std::size_t c = 0; c < width_; ++c) dot += q(j)[c] * q_hat(j)[c];
  return gamma_ - dot;
}

std::vector<double> CompactLbfgs::multiply(std::span<const double> d) const {
  std::vector<double> u(width_, 0.0), out(rows_);
  for (std::size_t j = 0; j < rows_; ++j)
    for (std::size_t c = 0; c < width_; ++c) u[c] += q_hat(j)[c] * d[j];
  for (std::size_t j = 0; j < rows_; ++j) {
    double dot = 0.0;
    for (std::size_t c = 0; c < width_; ++c) dot += q(j)[c] * u[c];
    out[j] = gamma_ * d[j] - dot;
  }
  return out;
}

}  // namespace proxbench
