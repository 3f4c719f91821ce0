#include "solvers/shared/proximal/iterate.h"

#include <algorithm>
#include <utility>

namespace proxbench::proximal {

namespace {

/// The scores at w are recomputed if their columns exceed 5/4 of the direction's columns by more than this
/// many.
constexpr std::size_t kSpareColumns = 2 * kPad;

}  // namespace

Iterate::Iterate(Objective& of, Buffers& buffers, StopToken token)
    : objective(of), stop(std::move(token)), buffers_(buffers) {
  if (buffers_.at_w.scores.values.empty())
    buffers_ = {objective.make_state(), objective.make_state(), std::nullopt};
}

void Iterate::open(const SparseVector& w, KnownStart* known) {
  if (!buffers_.copies) buffers_.copies.emplace(objective);
  SmoothState& at = buffers_.at_w;
  if (known != nullptr) {
    std::swap(at, known->state);
    value = objective.value(at.loss, w.value);
  } else {
    value = objective.evaluate(w, at);
  }
}

void Iterate::leave(KnownStart& known) {
  std::swap(buffers_.at_w, known.state);
  known.at_result = true;
}

void Iterate::select(const SparseVector& w, double from, const KnownStart* known,
                     Objective::Selection& selection) {
  if (known != nullptr && known->complete_above <= std::min(from, lambda()))
    objective.reselect(known->selection, known->complete_above, from, selection);
  else
    objective.select_gradient(residual(), w, from, selection);
  buffers_.copies->fold(objective, selection);
}

void Iterate::take(Objective::Selection& selection) {
  set.take(selection);
  set.mu.resize(set.size());
  for (std::size_t j = 0; j < set.size(); ++j) set.mu[j] = buffers_.copies->mu(objective, set.index[j]);
}

const SparseVector& Iterate::collect(SparseVector& out) const {
  if (!set.chosen) return out;
  set.collect(out);
  buffers_.copies->spread(objective, out);
  return out;
}

void Iterate::map_direction() {
  objective.scores(set.index, d, buffers_.trial.scores);
}

void Iterate::scale_direction(double factor) {
  for (double& x : d) x *= factor;
  for (double& x : buffers_.trial.scores.values) x *= factor;
  for (double& x : buffers_.trial.scores.extra) x *= factor;
  mapped_ = true;
}

double Iterate::loss_along(double alpha, bool with_residual) {
  SmoothState& trial = buffers_.trial;
  return trial.loss =
             objective.infer({scores(), &trial.scores, alpha}, with_residual ? &trial.residual : nullptr);
}

ArmijoResult Iterate::search(double slope, const ArmijoOptions& options, bool with_residual) {
  if (!std::exchange(mapped_, false)) map_direction();
  if (!(slope < 0.0)) return {};
  return armijo(value, slope, 1.0, options, [&](double alpha) {
    if (stop.requested()) return kNaN;
    return loss_along(alpha, with_residual) + penalty(alpha);
  });
}

Step Iterate::move(const ArmijoResult& found, bool has_residual) {
  SmoothState &at = buffers_.at_w, &trial = buffers_.trial;
  value = found.value;
  at.loss = trial.loss;
  objective.map().advance(at.scores, found.alpha, trial.scores);
  if (!has_residual) objective.infer({at.scores}, &trial.residual);
  for (std::size_t j = 0; j < set.size(); ++j) {
    d[j] *= found.alpha;
    // This makes w + d exactly zero if the inner problem set the coordinate to zero.
    set.w[j] += d[j];
  }
  // Columns of outputs that have left the working set hold zeros but cost as much as others.
  if (at.scores.drifted() ||
      (!at.scores.one_each() &&
       at.scores.columns > trial.scores.columns + trial.scores.columns / 4 + kSpareColumns))
    objective.scores(set.index, set.w, at.scores);
  change_.resize(set.size());
  objective.map().partial_adjoint(trial.residual, set.index, change_);
  for (std::size_t j = 0; j < set.size(); ++j) change_[j] += set.mu[j] * set.w[j];
  set.g.swap(change_);
  for (std::size_t j = 0; j < set.size(); ++j) change_[j] = set.g[j] - change_[j];
  std::swap(at.residual, trial.residual);
  return {found.alpha, d, change_, trial.residual, at.residual};
}

/// The penalty of w + alpha*d.
double Iterate::penalty(double alpha) {
  trial_.resize(set.size());
  for (std::size_t j = 0; j < set.size(); ++j) trial_[j] = set.w[j] + alpha * d[j];
  return objective.penalty().l1(trial_) + set.l2(trial_);
}

}  // namespace proxbench::proximal
