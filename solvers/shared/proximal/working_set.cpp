#include "solvers/shared/proximal/working_set.h"

#include <algorithm>
#include <cmath>

#include "core/quasi_newton/lbfgs.h"

namespace proxbench::proximal {

void WorkingSet::take(Objective::Selection& selection) {
  from.resize(selection.index.size());
  std::size_t old = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    while (old < index.size() && index[old] < selection.index[i]) ++old;
    from[i] = old < index.size() && index[old] == selection.index[i] ? static_cast<std::uint32_t>(old)
                                                                     : CompactLbfgs::kNew;
  }
  index.swap(selection.index);
  w.swap(selection.weight);
  g.swap(selection.gradient);
  chosen = true;
}

const std::vector<std::uint32_t>& WorkingSet::shrink(double lambda, double slack, Optimality& left) {
  kept_.clear();
  left = {};
  for (std::size_t j = 0; j < index.size(); ++j) {
    const double m = std::abs(minimum_norm_subgradient(w[j], g[j], lambda));
    if (w[j] == 0.0 && std::abs(g[j]) - lambda + slack <= 0.0) continue;
    kept_.push_back(static_cast<std::uint32_t>(j));
    left.largest = std::max(left.largest, m);
    left.l1 += m;
  }
  if (kept_.size() == index.size()) return kept_;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    index[i] = index[kept_[i]];
    w[i] = w[kept_[i]];
    g[i] = g[kept_[i]];
    mu[i] = mu[kept_[i]];
  }
  index.resize(kept_.size());
  w.resize(kept_.size());
  g.resize(kept_.size());
  mu.resize(kept_.size());
  return kept_;
}

double WorkingSet::l2(std::span<const double> v) const {
  return 0.5 * sum_in_blocks(v.size(), [&](std::size_t j) { return mu[j] * v[j] * v[j]; });
}

void WorkingSet::collect(SparseVector& out) const {
  out.clear();
  for (std::size_t j = 0; j < index.size(); ++j)
    if (w[j] != 0.0) out.push_back(index[j], w[j]);
}

}  // namespace proxbench::proximal
