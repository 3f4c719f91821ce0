#include "solvers/shared/score_line.h"

#include <utility>

namespace proxbench::dense {

ScoreLine::ScoreLine(Objective& objective)
    : objective_(objective), scores_(objective.make_scores()), residual_(objective.make_residual()) {}

void ScoreLine::open(Point& from, std::span<const double> gradient, std::span<const double> direction) {
  const Parallel& parallel = objective_.parallel();
  from_ = &from;
  direction_ = direction;
  from.nonzeros.assign(direction);
  objective_.scores(from.nonzeros, scores_);
  slope_ = dot(parallel, gradient, direction);
  w_dot_p_ = dot(parallel, from.w, direction);
  p_dot_p_ = dot(parallel, direction, direction);
}

/// Forms the differences to alpha = 0 first: near the optimum they are small compared with F and its slope.
double ScoreLine::value(double alpha, Curvature* curvature) {
  alpha_ = alpha;
  const ScorePoint at{from_->scores, &scores_, alpha};
  loss_ = curvature == nullptr ? objective_.infer(at, &residual_) : curvature->infer(at, residual_);
  const double l2 = objective_.mu() * alpha * (w_dot_p_ + 0.5 * alpha * p_dot_p_);
  return from_->smooth + ((loss_ - from_->loss) + l2);
}

LineValue ScoreLine::at(double alpha) {
  const double f = value(alpha);
  // inner() multiplies by the point's scores minus the trial's, which is -alpha*S_p.
  const double change =
      -objective_.map().inner(residual_, from_->residual, from_->scores, {from_->scores, &scores_, alpha}) /
      alpha;
  return {f, slope_ + change + objective_.mu() * alpha * p_dot_p_};
}

void ScoreLine::move(Point& point, std::span<double> change) {
  for_all(objective_.parallel(), point.w.size(), [&](std::size_t i) {
    const double before = point.w[i];
    point.w[i] += alpha_ * direction_[i];
    change[i] = point.w[i] - before;
  });
  point.nonzeros.assign(point.w);
  objective_.map().advance(point.scores, alpha_, scores_);
  if (point.scores.drifted()) objective_.scores(point.nonzeros, point.scores);
  std::swap(point.residual, residual_);
  point.loss = loss_;
  point.smooth = loss_ + objective_.penalty().l2(point.nonzeros.value);
}

}  // namespace proxbench::dense
