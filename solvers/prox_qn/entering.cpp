#include "solvers/prox_qn/entering.h"

#include <algorithm>
#include <cmath>

#include "solvers/prox_qn/models/newton_model.h"

namespace proxbench::prox_qn {

namespace {

/// Growing working sets: violators that enter at least, and their entries of X relative to N*K, about what an
/// inference costs. Where X has fewer than kCheapGradient*N*K entries, full gradients are cheap, and more
/// enter.
constexpr std::size_t kFewestEntering = 1000, kFewestEnteringCheaply = 20000;
constexpr double kEnteringEntries = 4.0, kCheapGradient = 3.0;
/// With the Hessian come zeros whose gradients are so near to lambda, for the iterations to come; up to so
/// many, relative to the working set.
constexpr double kNear = 0.98, kMostNear = 0.2;

/// N*K.
double cells(const Objective& objective) {
  return static_cast<double>(objective.x().whole_positions()) * static_cast<double>(objective.outputs());
}

/// Leaves in the selection the support and the other i, in ascending order, that enters(i).
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

/// Leaves in the selection the support and the violators with the largest gradients: `least` or the size of
/// the support, and on until their features have so many entries of X.
void keep_worst_violators(const Objective& objective, std::size_t least, double most_entries,
                          Objective::Selection& selection) {
  struct Violator {
    double gradient;
    std::size_t at;
  };
  std::vector<Violator> violators;
  for (std::size_t i = 0; i < selection.index.size(); ++i)
    if (selection.weight[i] == 0.0) violators.push_back({std::abs(selection.gradient[i]), i});
  least = std::max(least, selection.index.size() - violators.size());
  if (violators.size() <= least) return;
  std::sort(violators.begin(), violators.end(), [](const Violator& a, const Violator& b) {
    return a.gradient > b.gradient || (a.gradient == b.gradient && a.at < b.at);
  });
  std::vector<bool> enters(selection.index.size(), false);
  double entries = 0.0;
  for (std::size_t v = 0; v < violators.size(); ++v) {
    const Coord c = selection.index[violators[v].at];
    entries += entries_of(objective, c);
    if (v >= least && entries > most_entries) break;
    enters[violators[v].at] = true;
  }
  keep_zeros([&](std::size_t i) { return enters[i]; }, selection);
}

}  // namespace

bool full_gradients_are_dear(const Objective& objective) {
  return static_cast<double>(objective.x().whole_nonzeros()) > kCheapGradient * cells(objective);
}

double Entering::threshold(bool newton, double lambda) const {
  if (newton) return kNear * lambda;
  if (!settings_.epochs.shrinking) return -1.0;
  return (settings_.growing ? 1.0 : settings_.epochs.margin) * lambda;
}

void Entering::select(Iterate& at, const SparseVector& w, bool newton, const KnownStart* known,
                      Objective::Selection& selection) {
  const double from = threshold(newton, at.lambda());
  if (known != nullptr && known->complete_above <= std::min(from, at.lambda()))
    at.objective.select_gradient(known->selection, known->complete_above, from, selection);
  else
    at.objective.select_gradient(at.residual(), w, from, selection);
  if (settings_.screening && std::isfinite(selection.kkt_max)) screening_.apply(at, w, from, selection);
  if (!newton && settings_.growing)
    keep_worst_violators(at.objective, dear_ ? kFewestEntering : kFewestEnteringCheaply,
                         dear_ ? kEnteringEntries * cells(at.objective) : 0.0, selection);
}

void keep_foretold_violators(const LastStart& last, double last_lambda, double lambda,
                             Objective::Selection& selection) {
  const double lambda_step = last.lambda - last_lambda;
  if (!(lambda_step > 0.0 && lambda < last_lambda)) return;
  const double ratio = (last_lambda - lambda) / lambda_step;
  std::size_t at = 0;
  keep_zeros(
      [&](std::size_t i) {
        while (at < last.index.size() && last.index[at] < selection.index[i]) ++at;
        if (at == last.index.size() || last.index[at] != selection.index[i]) return true;
        const double change = selection.gradient[i] - last.gradient[at];
        return std::abs(selection.gradient[i] + ratio * change) > lambda;
      },
      selection);
}

void keep_nearest(double lambda, Objective::Selection& selection) {
  std::vector<double> near;
  for (std::size_t i = 0; i < selection.index.size(); ++i)
    if (selection.weight[i] == 0.0 && std::abs(selection.gradient[i]) <= lambda)
      near.push_back(-std::abs(selection.gradient[i]));
  const std::size_t others = selection.index.size() - near.size(),
                    most = std::min(static_cast<std::size_t>(kMostNear * static_cast<double>(others)),
                                    NewtonModel::kMostRows - std::min(others, NewtonModel::kMostRows));
  if (near.size() <= most) return;
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(most), near.end());
  keep_zeros([&](std::size_t i) { return std::abs(selection.gradient[i]) > -near[most]; }, selection);
}

}  // namespace proxbench::prox_qn
