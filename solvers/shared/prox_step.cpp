#include "solvers/shared/prox_step.h"

#include <algorithm>
#include <cmath>

namespace proxbench::dense {

namespace {

constexpr int kMostTrials = 60;
/// Changes of f below this multiple of eps*|f| count as rounding.
constexpr double kReliable = 1e4;

}  // namespace

Schema<ProxStepSettings> prox_step_rows() {
  return Schema<ProxStepSettings>(
      {option(&ProxStepSettings::lipschitz, "lipschitz", "0",
              "first estimate of the gradient's Lipschitz constant; 0: from the curvature along the "
              "first step",
              {0}),
       option(&ProxStepSettings::backtrack, "backtrack", "2",
              "factor on the Lipschitz estimate after a rejected trial", above(1, 1e3))});
}

ProxStep::Move ProxStep::move(const Objective& objective, const Anchor& anchor, Point& next) const {
  const double step = 1.0 / lipschitz, threshold = objective.lambda() * step;
  const Parallel& parallel = objective.parallel();
  const std::size_t d = next.w.size();
  for_all(parallel, d, [&](std::size_t i) {
    next.w[i] = soft_threshold(anchor.w[i] - step * anchor.gradient[i], threshold);
  });
  Move out{};
  out.squared = sum_all(parallel, d, [&](std::size_t i) {
    const double moved = next.w[i] - anchor.w[i];
    return moved * moved;
  });
  out.linear =
      sum_all(parallel, d, [&](std::size_t i) { return anchor.gradient[i] * (next.w[i] - anchor.w[i]); });
  for (std::size_t i = 0; i < d; ++i) out.largest = std::max(out.largest, std::abs(next.w[i] - anchor.w[i]));
  return out;
}

double ProxStep::curvature(const Objective& objective, const Anchor& anchor, const Point& next,
                           double squared) {
  return objective.map().inner(next.residual, anchor.residual, next.scores, anchor.scores) +
         objective.mu() * squared;
}

void ProxStep::initialise(Objective& objective, const Anchor& anchor, Point& scratch) {
  if (lipschitz > 0.0) return;
  double squared_subgradient = 0.0;
  for (std::size_t i = 0; i < anchor.w.size(); ++i) {
    const double v = minimum_norm_subgradient(anchor.w[i], anchor.gradient[i], objective.lambda());
    squared_subgradient += v * v;
  }
  lipschitz = objective.map().typical_value() * std::sqrt(squared_subgradient);
  const Move moved = move(objective, anchor, scratch);
  if (!(moved.squared > 0.0)) return;
  scratch.evaluate(objective);
  const double estimate = curvature(objective, anchor, scratch, moved.squared) / moved.squared;
  if (std::isfinite(estimate) && estimate > 0.0) lipschitz = estimate;
}

bool ProxStep::take(Objective& objective, const Anchor& anchor, Point& next,
                    const std::function<bool(double)>& wants_residual, const StopToken& stop) {
  const double ulp = std::numeric_limits<double>::epsilon() * std::abs(anchor.smooth);
  // The sums behind two values of f are inexact by a few units in the last place.
  constexpr double kAllowance = 4.0;
  for (int trial = 0; trial < kMostTrials; ++trial, lipschitz *= backtrack_) {
    if (stop.requested()) return false;
    const Move moved = move(objective, anchor, next);
    if (!(moved.squared > 0.0)) return false;
    const double quadratic = 0.5 * lipschitz * moved.squared;
    const bool values_tell = quadratic > kReliable * ulp;
    has_residual_ = !values_tell || wants_residual(lipschitz * moved.largest);
    next.evaluate(objective, has_residual_);
    if (!std::isfinite(next.smooth)) continue;
    const bool passed = values_tell
                            ? next.smooth - anchor.smooth - moved.linear <= quadratic + kAllowance * ulp
                            : curvature(objective, anchor, next, moved.squared) <= lipschitz * moved.squared;
    if (passed) return true;
  }
  return false;
}

}  // namespace proxbench::dense
