#include "solvers/prox_qn/screening.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "core/rounding.h"

namespace proxbench::prox_qn {

namespace {

/// Screening is tried where it could prove all |g_j| below this share of lambda.
constexpr double kWorthScreening = 0.5;

}  // namespace

void Screening::apply(Iterate& at, const SparseVector& w, double wanted, Objective::Selection& selection) {
  Objective& objective = at.objective;
  const double lambda = at.lambda();
  // To first order the gap is at least sum_j |w_j|*lambda + w_j*g_j: most of the time that says already
  // that it is too large.
  double least_gap = 0.0;
  for (std::size_t i = 0; i < selection.index.size(); ++i)
    least_gap += lambda * std::abs(selection.weight[i]) + selection.weight[i] * selection.gradient[i];
  if (!screen_) screen_.emplace(objective);
  if (screen_->threshold({.value = at.value}, least_gap) < kWorthScreening * lambda) return;
  const DualBound bound = dual_bound(
      objective, {w, at.scores(), at.residual(), at.value, objective_rounding(objective, w), selection});
  const double threshold = screen_->threshold(bound, at.value - bound.value);
  if (threshold < kWorthScreening * lambda) return;
  Objective::Selection wide;
  objective.select_gradient(at.residual(), w, threshold, wide);
  const std::vector<Coord> survivors = screen_->survivors(wide, bound, at.value - bound.value);
  std::vector<Coord> candidates;
  std::set_union(survivors.begin(), survivors.end(), w.index.begin(), w.index.end(),
                 std::back_inserter(candidates));
  if (objective.candidates() != nullptr) {
    std::vector<Coord> both;
    std::set_intersection(candidates.begin(), candidates.end(), objective.candidates()->begin(),
                          objective.candidates()->end(), std::back_inserter(both));
    candidates.swap(both);
  }
  dropped_ = static_cast<double>(objective.dimension() - candidates.size());
  objective.restrict_to(std::move(candidates));
  objective.select_gradient(at.residual(), w, wanted, selection);
}

}  // namespace proxbench::prox_qn
