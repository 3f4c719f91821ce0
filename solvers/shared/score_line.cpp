#include "solvers/shared/score_line.h"

#include <utility>

namespace proxbench::dense {

ScoreLine::ScoreLine(const Objective& objective)
    : scores_(objective.make_scores()), residual_(objective.make_residual()) {}

void ScoreLine::open(const Objective& objective, const Point& from, std::span<const double> gradient,
                     std::span<const double> direction) {
  const Parallel& parallel = objective.parallel();
  from_ = &from;
  direction_ = direction;
  const SparseVector p = SparseVector::from_dense(direction);
  objective.scores(p, scores_);
  slope_ = dot(parallel, gradient, direction);
  w_dot_p_ = dot(parallel, from.w, direction);
  p_dot_p_ = dot(parallel, direction, direction);
}

/// Differences to alpha = 0 are formed first: near the optimum they are small beside F and its slope.
double ScoreLine::value(const Objective& objective, double alpha, const Infer& infer) {
  alpha_ = alpha;
  loss_ = infer({from_->scores, &scores_, alpha}, residual_);
  const double l2 = objective.mu() * alpha * (w_dot_p_ + 0.5 * alpha * p_dot_p_);
  return from_->smooth + ((loss_ - from_->loss) + l2);
}

LineValue ScoreLine::at(const Objective& objective, double alpha, const Infer& infer) {
  const double f = value(objective, alpha, infer);
  // Of scores S less those of the point, which is -alpha*S_p.
  const double change =
      -objective.inner(residual_, from_->residual, from_->scores, {from_->scores, &scores_, alpha}) / alpha;
  return {f, slope_ + change + objective.mu() * alpha * p_dot_p_};
}

void ScoreLine::move(const Objective& objective, Point& point) {
  for_range(objective.parallel(), point.w.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) point.w[i] += alpha_ * direction_[i];
  });
  point.nonzeros = SparseVector::from_dense(point.w);
  objective.advance(point.scores, alpha_, scores_);
  std::swap(point.residual, residual_);
  point.loss = loss_;
  point.smooth = loss_ + objective.l2(point.nonzeros.value);
}

}  // namespace proxbench::dense
