#include "solvers/shared/proximal/coordinate_descent.h"

#include <cmath>
#include <numeric>

#include "core/kernels/kernel_sets.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(DescentKernels, descent_kernels)

namespace proximal {

double predicted_change(std::span<const double> w, std::span<const double> g, std::span<const double> d,
                        double lambda) {
  // Near the optimum the terms cancel to the last digits. If w keeps its sign, they are therefore added
  // before they are multiplied by d.
  double change = 0.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const bool stays = w[j] * (w[j] + d[j]) > 0.0;
    change += stays ? d[j] * (g[j] + std::copysign(lambda, w[j]))
                    : d[j] * g[j] + lambda * (std::abs(w[j] + d[j]) - std::abs(w[j]));
  }
  return change;
}

void CoordinateDescent::begin(const CompactLbfgs& lbfgs, const StartMatrix& start, std::span<const double> w,
                              std::span<const double> g, double lambda, std::vector<double>& d) {
  lbfgs_ = &lbfgs;
  rows_ = start.rows;
  w_ = w;
  g_ = g;
  lambda_ = lambda;
  d_ = &d;
  d.assign(w.size(), 0.0);
  d_hat_.assign(lbfgs.width(), 0.0);
  diagonal_.resize(w.size());
  for (std::size_t j = 0; j < w.size(); ++j)
    diagonal_[j] = lbfgs.diagonal(j, rows_ != nullptr ? start.diagonal[j] : 1.0);
}

double CoordinateDescent::pass(Random& random) {
  const std::size_t n = w_.size();
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0u);
  random.shuffle(std::span(order_));
  return descent_kernels().descend({.start = rows_,
                                    .q = n > 0 ? lbfgs_->q(0) : nullptr,
                                    .q_hat = n > 0 ? lbfgs_->q_hat(0) : nullptr,
                                    .stride = lbfgs_->stride(),
                                    .width = lbfgs_->width(),
                                    .gamma = lbfgs_->gamma(),
                                    .lambda = lambda_,
                                    .w = w_.data(),
                                    .g = g_.data(),
                                    .diagonal = diagonal_.data(),
                                    .d = d_->data(),
                                    .d_hat = d_hat_.data()},
                                   order_.data(), n);
}

}  // namespace proximal
}  // namespace proxbench
