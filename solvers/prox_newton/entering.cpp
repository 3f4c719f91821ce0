#include "solvers/prox_newton/entering.h"

#include <algorithm>
#include <cmath>

namespace proxbench::prox_newton {

using namespace proximal;

namespace {

/// At most kMostEntering violators enter, or as many as the support has if that is more. If these are at
/// least half of all violators, all of them enter, which saves a full gradient. kMostEnteringCostly takes the
/// place of kMostEntering if full gradients are costly and blocks pay on the smaller working set, since the
/// cost of an iteration then depends on the working set.
constexpr std::size_t kMostEntering = 5000, kMostEnteringCostly = 1000;
/// Full gradients are costly if X has more entries than this many times N*K, which is about the cost of an
/// inference.
constexpr double kCostlyGradient = 3.0;

/// Keeps in the selection the support, and every other i with enters(i). `enters` is called in ascending
/// order.
template <class Enters>
void keep_zeros(const Enters& enters, Objective::Selection& selection) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < selection.index.size(); ++i) {
    if (selection.weight[i] == 0.0 && !enters(i)) continue;
    selection.index[kept] = selection.index[i];
    selection.weight[kept] = selection.weight[i];
    selection.gradient[kept++] = selection.gradient[i];
  }
  selection.index.resize(kept);
  selection.weight.resize(kept);
  selection.gradient.resize(kept);
}

/// Keeps in the selection the support, and the violators with the largest gradients.
void keep_worst_violators(std::size_t most, Objective::Selection& selection) {
  std::vector<std::size_t> violators;
  for (std::size_t i = 0; i < selection.index.size(); ++i)
    if (selection.weight[i] == 0.0) violators.push_back(i);
  most = std::max(most, selection.index.size() - violators.size());
  if (violators.size() <= 2 * most) return;
  std::ranges::stable_sort(violators, [&](std::size_t a, std::size_t b) {
    return std::abs(selection.gradient[a]) > std::abs(selection.gradient[b]);
  });
  std::vector<bool> enters(selection.index.size(), false);
  for (std::size_t v = 0; v < most; ++v) enters[violators[v]] = true;
  keep_zeros([&](std::size_t i) { return enters[i]; }, selection);
}

}  // namespace

bool full_gradients_are_costly(const Objective& objective) {
  const double cells =
      static_cast<double>(objective.map().x().whole_positions()) * static_cast<double>(objective.outputs());
  return static_cast<double>(objective.map().x().whole_nonzeros()) > kCostlyGradient * cells;
}

void Entering::begin(const SolveProblem& problem) {
  if (!problem.in_sequence) last_ = {};
  lambda_before_ = problem.in_sequence ? lambda_ : 0.0;
  lambda_ = problem.objective.lambda();
}

void Entering::select(Iterate& at, const SparseVector& w, const KnownStart* known,
                      const std::function<bool(std::span<const Coord>)>& blocks_pay,
                      Objective::Selection& selection) {
  at.select(w, at.lambda(), known, selection);
  Objective::Selection few;
  if (full_gradients_are_costly(at.objective)) {
    few = selection;
    keep_worst_violators(kMostEnteringCostly, few);
  }
  if (!few.index.empty() && blocks_pay(few.index))
    selection = std::move(few);
  else
    keep_worst_violators(kMostEntering, selection);
  if (known != nullptr) {
    drop_leaving(selection);
    last_ = {lambda_before_, known->selection.index, known->selection.gradient};
  }
}

/// Keeps only violators that will still be violators at the optimum, if the gradient changes on the way to
/// this lambda at the same rate as in the last solve.
void Entering::drop_leaving(Objective::Selection& selection) const {
  const double lambda_step = last_.lambda - lambda_before_;
  if (!(lambda_step > 0.0 && lambda_ < lambda_before_)) return;
  const double ratio = (lambda_before_ - lambda_) / lambda_step;
  std::size_t at = 0;
  keep_zeros(
      [&](std::size_t i) {
        while (at < last_.index.size() && last_.index[at] < selection.index[i]) ++at;
        if (at == last_.index.size() || last_.index[at] != selection.index[i]) return true;
        const double change = selection.gradient[i] - last_.gradient[at];
        return std::abs(selection.gradient[i] + ratio * change) > lambda_;
      },
      selection);
}

}  // namespace proxbench::prox_newton
