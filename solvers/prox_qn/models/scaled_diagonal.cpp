#include "solvers/prox_qn/models/scaled_diagonal.h"

#include <cmath>

namespace proxbench::prox_qn {

void ScaledDiagonal::start_first(Iterate& at) {
  const double unit = at.objective.map().typical_value();
  if (!settings_.blocks) first_gamma_ = unit * unit;
  start(at, first_gamma_);
  if (!settings_.measured_scale) return;
  inner_.minimise(lbfgs_, metric(), true, at);
  if (at.stop.requested()) return;
  const double curvature =
      at.curvature_along_direction(settings_.blocks ? metric_.diagonal() : std::span<const double>());
  if (curvature > 0.0 && std::isfinite(curvature)) first_gamma_ = curvature;
  lbfgs_.reset(at.set.size(), first_gamma_);
}

void ScaledDiagonal::start(const Iterate& at, double gamma) {
  if (settings_.blocks) metric_.build_counts(at.objective, at.set.index);
  lbfgs_.reset(at.set.size(), gamma);
}

void ScaledDiagonal::learn(const Step& step, const Iterate&) {
  inner_.judge(step);
  if (!settings_.blocks) {
    lbfgs_.update(step.d, step.change);
    return;
  }
  metric_.multiply(step.d, product_);
  if (!lbfgs_.update(step.d, step.change, product_)) return;
  double inverse = 0.0, along = 0.0, change = 0.0;  // y^T D^-1 y, s^T D s, s^T y
  for (std::size_t j = 0; j < step.d.size(); ++j) {
    inverse += step.change[j] * step.change[j] / metric_.diagonal(j);
    along += step.d[j] * product_[j];
    change += step.d[j] * step.change[j];
  }
  lbfgs_.set_gamma(settings_.scaling == GammaRule::kShort ? change / along : std::sqrt(inverse / along));
}

void ScaledDiagonal::keep_rows(std::span<const std::uint32_t> kept) {
  lbfgs_.keep_rows(kept);
  if (settings_.blocks) metric_.keep_rows(kept);
}

void ScaledDiagonal::stop() {
  lbfgs_ = CompactLbfgs(settings_.memory, settings_.blocks ? GammaRule::kNone : settings_.scaling);
}

}  // namespace proxbench::prox_qn
