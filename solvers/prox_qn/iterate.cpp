#include "solvers/prox_qn/iterate.h"

#include <cmath>
#include <limits>
#include <utility>

namespace proxbench::prox_qn {

namespace {

/// Relative change of the smooth part over which its curvature is measured: the quadratic term keeps eight
/// digits or more.
constexpr double kShortStep = 1e-3;
/// Scores are made anew where they have more columns than the working set's outputs by this factor and this
/// many.
constexpr std::size_t kSpareColumns = 64;

}  // namespace

Iterate::Iterate(Objective& of, Buffers& buffers, StopToken token)
    : objective(of), stop(std::move(token)), buffers_(buffers) {
  if (buffers_.at_w.scores.values.empty())
    buffers_ = {{objective.make_scores(), objective.make_residual()},
                {objective.make_scores(), objective.make_residual()}};
}

void Iterate::open(const SparseVector& w, KnownStart* known) {
  SmoothState& at = buffers_.at_w;
  if (known != nullptr) {
    std::swap(at, known->state);
  } else {
    objective.scores(w, at.scores);
    at.loss = objective.infer({at.scores}, &at.residual);
  }
  value = at.loss + objective.l1(w.value) + objective.l2(w.value);
}

void Iterate::leave(KnownStart& known) {
  std::swap(buffers_.at_w, known.state);
  known.at_result = true;
}

double Iterate::curvature_along_direction(std::span<const double> diagonal) {
  Scores& direction = buffers_.trial.scores;
  objective.scores(set.index, d, direction);
  double slope = 0.0, norm = 0.0;
  for (std::size_t j = 0; j < set.size(); ++j) {
    slope += set.g[j] * d[j];
    norm += d[j] * d[j] * (diagonal.empty() ? 1.0 : diagonal[j]);
  }
  const double here = objective.infer({scores()}, nullptr) + objective.l2(set.w);
  const double alpha = kShortStep * here / std::abs(slope);
  form_trial(alpha);
  const double there = objective.infer({scores(), &direction, alpha}, nullptr) + objective.l2(trial_);
  return 2.0 * (there - here - alpha * slope) / (alpha * alpha * norm);
}

ArmijoResult Iterate::search(double slope, const ArmijoOptions& options, bool with_residual) {
  SmoothState& trial = buffers_.trial;
  objective.scores(set.index, d, trial.scores);
  if (!(slope < 0.0)) return {};
  return armijo(value, slope, 1.0, options, [&](double alpha) {
    if (stop.requested()) return std::numeric_limits<double>::quiet_NaN();
    trial.loss = objective.infer({scores(), &trial.scores, alpha}, with_residual ? &trial.residual : nullptr);
    return trial.loss + penalty(alpha);
  });
}

Step Iterate::move(const ArmijoResult& found, bool has_residual) {
  SmoothState &at = buffers_.at_w, &trial = buffers_.trial;
  value = found.value;
  at.loss = trial.loss;
  objective.advance(at.scores, found.alpha, trial.scores);
  if (!has_residual) objective.infer({at.scores}, &trial.residual);
  for (std::size_t j = 0; j < set.size(); ++j) {
    d[j] *= found.alpha;
    // w + d is exactly zero where the inner problem set it to zero.
    set.w[j] += d[j];
  }
  // Columns of outputs that have left the working set hold zeros, but cost as much as others.
  if (!at.scores.one_each() && 4 * at.scores.columns > 5 * trial.scores.columns + kSpareColumns)
    objective.scores(set.index, set.w, at.scores);
  change_.resize(set.size());
  objective.partial_gradient(trial.residual, set.index, set.w, change_);
  set.g.swap(change_);
  for (std::size_t j = 0; j < set.size(); ++j) change_[j] = set.g[j] - change_[j];
  std::swap(at.residual, trial.residual);
  return {found.alpha, d, change_, trial.residual, at.residual};
}

/// lambda*||w + alpha*d||_1 + (mu/2)*||w + alpha*d||^2.
double Iterate::penalty(double alpha) {
  form_trial(alpha);
  return objective.l1(trial_) + objective.l2(trial_);
}

void Iterate::form_trial(double alpha) {
  trial_.resize(set.size());
  for (std::size_t j = 0; j < set.size(); ++j) trial_[j] = set.w[j] + alpha * d[j];
}

}  // namespace proxbench::prox_qn
