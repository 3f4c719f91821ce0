#include "solvers/sdca/line_search.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/kernel_sets.h"
#include "solvers/sdca/belief_kernels.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(BeliefKernels, belief_kernels)

namespace sdca {

void LineSearch::set(const BeliefOracle::Size& size, double* log_mu, const double* log_nu) {
  size_ = size;
  log_m_ = log_mu;
  log_nu_ = log_nu;
  for (AlignedVector<double>* numbers : {&p_, &difference_}) numbers->resize(size.all());
  const auto part = [&](std::size_t from, std::size_t n) {
    return belief_kernels().compare(log_mu + from, log_nu + from, n, p_.data() + from,
                                    difference_.data() + from);
  };
  const auto plus = part(0, size.positive), minus = part(size.positive, size.negative);
  forward_ = std::max(0.0, plus.forward - minus.forward);
  backward_ = std::max(0.0, plus.backward - minus.backward);
  gamma_ = at_ = 0.0;
  evaluations_ = 0;
  cliques_ = {forward_ + backward_, 0.0};
}

LineSearch::Slope LineSearch::slope(double gamma, double curvature) {
  const auto part = [&](std::size_t from, std::size_t n) {
    return belief_kernels().mix(p_.data() + from, difference_.data() + from, log_nu_ + from, gamma, n,
                                log_m_ + from);
  };
  const auto plus = part(0, size_.positive), minus = part(size_.positive, size_.negative);
  at_ = gamma;
  ++evaluations_;
  divergence_ = plus.divergence - minus.divergence;
  cliques_ = {-(plus.first - minus.first), plus.second - minus.second};
  return {cliques_.first - gamma * curvature, -cliques_.second - curvature};
}

/// Safeguarded Newton on f' (Press et al. 1992, section 9.4). If a step leaves the bracket, or is longer than
/// half of the step before the last, the bracket is halved instead.
double LineSearch::maximise(double curvature, double precision) {
  constexpr double kNarrow = 1e-12;
  // After this many steps the bracket is halved each time. If f'' grows without bound towards gamma = 1,
  // Newton steps from above reach ever less of the way to the maximum.
  constexpr int kMostNewtonSteps = 50;
  if (!(forward_ + backward_ > 0.0)) return gamma_ = 0.0;  // f'(0)
  gamma_ = curvature == 0.0 ? 1.0 : 0.5;                   // without curvature f'(1) is 0
  double low = 0.0, high = 1.0, last = 1.0, before_last = 1.0;
  while (true) {
    const Slope f = slope(gamma_, curvature);
    if (curvature == 0.0) return gamma_;
    (f.first >= 0.0 ? low : high) = gamma_;
    double next = gamma_ - f.first / f.second;
    if (precision == 0.0) {
      gamma_ = std::clamp(next, 0.0, 1.0);
      slope(gamma_, curvature);
      return gamma_;
    }
    const bool close = std::abs(next - gamma_) < precision;
    if (close && f.first >= 0.0) return gamma_;
    if (high - low < kNarrow) break;
    // From above the maximum, a step of twice the length ends about as far below it.
    if (close) next = gamma_ + 2.0 * (next - gamma_);
    if (evaluations_ > kMostNewtonSteps || !(next > low && next < high) ||
        (!close && 2.0 * std::abs(next - gamma_) > std::abs(before_last)))
      next = 0.5 * (low + high);
    before_last = last;
    last = next - gamma_;
    gamma_ = next;
  }
  gamma_ = low;
  slope(gamma_, curvature);
  return gamma_;
}

double LineSearch::corrected(double curvature, double shift) const {
  if (gamma_ == 0.0 || curvature == 0.0) return gamma_;
  const double integral = forward_ - divergence_;
  const auto least_rise = [&](double gamma) {
    return std::min(gamma / gamma_, 1.0) * integral - gamma * (shift + 0.5 * gamma * curvature);
  };
  const double slope_here = cliques_.first - gamma_ * curvature - shift;
  const double newton = std::clamp(gamma_ + slope_here / (cliques_.second + curvature), 0.0, 1.0);
  if (least_rise(newton) >= 0.0) return newton;
  // The maximiser of the bound.
  return std::clamp((integral / gamma_ - shift) / curvature, 0.0, gamma_);
}

void LineSearch::go_to(double gamma) {
  if (gamma != at_) slope(gamma, 0.0);
}

}  // namespace sdca
}  // namespace proxbench
