#include "solvers/shared/proximal/copies.h"

#include <algorithm>
#include <numeric>

#include "core/data/reduction.h"

namespace proxbench::proximal {

Copies::Copies(const Objective& objective) {
  if (!(objective.lambda() > 0.0 && objective.mu() > 0.0)) return;
  std::vector<Index> all(objective.map().features());
  std::iota(all.begin(), all.end(), Index{0});
  const std::vector<std::size_t> first = first_copies(objective.map().x(), all, objective.parallel());
  first_.assign(first.begin(), first.end());
  if (first_ == all) {
    first_.clear();
    return;
  }
  next_ = all;
  count_.assign(all.size(), 1.0);
  std::vector<Index> last = all;  // of each first copy, the last one so far
  for (const Index j : all) {
    const Index f = first_[j];
    if (f == j) continue;
    count_[f] += 1.0;
    next_[last[f]] = j;
    last[f] = j;
  }
}

void Copies::fold(const Objective& objective, Objective::Selection& selection) const {
  if (empty()) return;
  struct Entry {
    Coord index;
    double weight, gradient;  // of l
  };
  std::vector<Entry> entries;
  entries.reserve(selection.index.size());
  const auto outputs = static_cast<Coord>(objective.outputs());
  for (std::size_t i = 0; i < selection.index.size(); ++i) {
    Coord c = selection.index[i];
    const double w = selection.weight[i];
    if (c < objective.unary_weights()) c = first_[c / outputs] * outputs + c % outputs;
    entries.push_back({c, w, selection.gradient[i] - objective.mu() * w});
  }
  std::ranges::stable_sort(entries, {}, &Entry::index);
  selection.index.clear();
  selection.weight.clear();
  selection.gradient.clear();
  for (const Entry& entry : entries) {
    if (!selection.index.empty() && selection.index.back() == entry.index) {
      selection.weight.back() += entry.weight;
      continue;
    }
    selection.index.push_back(entry.index);
    selection.weight.push_back(entry.weight);
    selection.gradient.push_back(entry.gradient);
  }
  for (std::size_t i = 0; i < selection.index.size(); ++i)
    selection.gradient[i] += mu(objective, selection.index[i]) * selection.weight[i];
}

void Copies::spread(const Objective& objective, SparseVector& w) const {
  if (empty()) return;
  std::vector<std::pair<Coord, double>> all;
  const auto outputs = static_cast<Coord>(objective.outputs());
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const Coord c = w.index[i];
    if (c >= objective.unary_weights()) {
      all.emplace_back(c, w.value[i]);
      continue;
    }
    auto j = static_cast<Index>(c / outputs);
    const double share = w.value[i] / count_[j];
    for (;; j = next_[j]) {
      all.emplace_back(j * outputs + c % outputs, share);
      if (next_[j] == j) break;
    }
  }
  std::ranges::sort(all);
  w.clear();
  for (const auto& [c, value] : all)
    if (value != 0.0) w.push_back(c, value);
}

}  // namespace proxbench::proximal
