#include "core/quasi_newton/lbfgs.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

CompactLbfgs::CompactLbfgs(std::size_t memory, GammaRule rule)
    : memory_(memory), stride_(padded(2 * memory)), rule_(rule) {
  if (memory < 1) throw Error::usage("memory = 0: violated constraint memory >= 1");
}

void CompactLbfgs::reset(std::size_t rows, double gamma) {
  rows_ = rows;
  gamma_ = gamma;
  unit_ = gamma > 0.0 && std::isfinite(gamma) ? std::ldexp(1.0, std::ilogb(gamma) / 2) : 1.0;
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
  if (rule_ == GammaRule::kLastStep) gamma_ = sy / sb;
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
    q_[j * stride_ + 2 * slot] = unit_ * b[j];
    q_[j * stride_ + 2 * slot + 1] = y[j] / unit_;
  }
}

/// Computes the rows of S^T B0 S and S^T Y that belong to `slot`, from its s. L needs s_i^T y_j only for i
/// after j, so the products of the new y with older s are not needed.
void CompactLbfgs::multiply_pairs(std::size_t slot, std::span<const double> s) {
  AlignedVector<double> products(width(), 0.0);
  kernels_in_use().add_product({.rows = s.data(),
                                .rows_stride = rows_,
                                .count = 1,
                                .inner = rows_,
                                .matrix = q_.data(),
                                .matrix_stride = stride_,
                                .width = width(),
                                .out = products.data(),
                                .out_stride = width()});
  for (const std::size_t other : ages_) {
    sts_[slot * memory_ + other] = unit_ * products[2 * other];
    sty_[slot * memory_ + other] = unit_ * products[2 * other + 1];
  }
}

void CompactLbfgs::set_gamma(double gamma) {
  gamma_ = gamma;
  if (!ages_.empty()) build_middle();
}

/// Computes M from the inverse of K = [gamma*S^T S, L; L^T, -D], where L is the part of S^T Y below its
/// diagonal D. With the Schur complement J of -D, which is positive definite, and E = L D^-1, the inverse is
/// [J^-1, J^-1 E; (J^-1 E)^T, E^T J^-1 E - D^-1]. Steps shrink by many orders of magnitude as the solver
/// converges, so everything is first scaled to a unit diagonal. Here gamma and S are in the units of q_; M
/// turns them back.
void CompactLbfgs::build_middle() {
  const std::size_t w = width();
  const double gamma = gamma_ / unit_ / unit_, back = unit_ * unit_;
  const auto order = static_cast<Eigen::Index>(ages_.size());
  const auto slot = [&](Eigen::Index age) { return ages_[static_cast<std::size_t>(age)]; };
  Eigen::VectorXd ss_scale(order), sy_scale(order);
  for (Eigen::Index a = 0; a < order; ++a) {
    ss_scale[a] = 1.0 / std::sqrt(gamma * sts_[slot(a) * memory_ + slot(a)]);
    sy_scale[a] = 1.0 / std::sqrt(sty_[slot(a) * memory_ + slot(a)]);
  }
  Eigen::MatrixXd j(order, order), l = Eigen::MatrixXd::Zero(order, order);
  for (Eigen::Index a = 0; a < order; ++a) {
    for (Eigen::Index b = 0; b < order; ++b)
      j(a, b) = gamma * sts_[slot(a) * memory_ + slot(b)] * ss_scale[a] * ss_scale[b];
    for (Eigen::Index b = 0; b < a; ++b)
      l(a, b) = sty_[slot(a) * memory_ + slot(b)] * ss_scale[a] * sy_scale[b];
  }
  j.noalias() += l * l.transpose();
  const Eigen::MatrixXd ss = j.ldlt().solve(Eigen::MatrixXd::Identity(order, order));
  const Eigen::MatrixXd sy = ss * l;
  const Eigen::MatrixXd yy = l.transpose() * sy - Eigen::MatrixXd::Identity(order, order);
  middle_.assign(w * w, 0.0);
  for (Eigen::Index a = 0; a < order; ++a)
    for (Eigen::Index b = 0; b < order; ++b) {
      const std::size_t s_a = 2 * slot(a), s_b = 2 * slot(b);
      middle_[s_a * w + s_b] = back * gamma * gamma * 0.5 * (ss(a, b) + ss(b, a)) * ss_scale[a] * ss_scale[b];
      middle_[s_a * w + s_b + 1] = middle_[(s_b + 1) * w + s_a] =
          back * gamma * sy(a, b) * ss_scale[a] * sy_scale[b];
      middle_[(s_a + 1) * w + s_b + 1] = back * 0.5 * (yy(a, b) + yy(b, a)) * sy_scale[a] * sy_scale[b];
    }
}

void CompactLbfgs::refresh(const Parallel& parallel) {
  const Chunks chunks{rows_, 256};
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    const std::size_t first = chunks.begin(chunk), count = chunks.end(chunk) - first;
    kernels_in_use().add_product({.rows = q(first),
                                  .rows_stride = stride_,
                                  .count = count,
                                  .inner = width(),
                                  .matrix = middle_.data(),
                                  .matrix_stride = width(),
                                  .width = width(),
                                  .out = q_hat_.data() + first * stride_,
                                  .out_stride = stride_,
                                  .overwrite = true});
  });
}

double CompactLbfgs::diagonal(std::size_t j, double of_start) const {
  double dot = 0.0;
  for (std::size_t c = 0; c < width(); ++c) dot += q(j)[c] * q_hat(j)[c];
  return gamma_ * of_start - dot;
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
