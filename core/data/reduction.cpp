#include "core/data/reduction.h"

#include <algorithm>
#include <cmath>

#include "core/base/sum.h"

namespace proxbench {

std::vector<Index> features_that_can_enter(const DesignMatrix& x, double lambda, const Parallel& parallel) {
  std::vector<double> sums(x.features());
  for (Index j = 0; j < x.features(); ++j) {
    if (x.binary()) sums[j] += static_cast<double>(x.column_size(j));
    for (const double value : x.column_values(j)) sums[j] += std::abs(value);
  }
  add_processes(parallel, sums);
  std::vector<Index> kept;
  for (Index j = 0; j < x.features(); ++j)
    if (sums[j] > lambda) kept.push_back(j);
  return kept;
}

SparseVector expand_features(SparseVector w, const std::vector<Index>& kept, Index features, Index outputs) {
  const Coord unary = static_cast<Coord>(kept.size()) * outputs, all = static_cast<Coord>(features) * outputs;
  for (Coord& c : w.index)
    c = c < unary ? static_cast<Coord>(kept[c / outputs]) * outputs + c % outputs : c - unary + all;
  return w;
}

std::optional<SparseVector> reduce_features(const SparseVector& w, const std::vector<Index>& kept,
                                            Index features, Index outputs) {
  const Coord unary = static_cast<Coord>(kept.size()) * outputs, all = static_cast<Coord>(features) * outputs;
  SparseVector out;
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    Coord c = w.index[i];
    if (c < all) {
      const auto j = std::ranges::lower_bound(kept, static_cast<Index>(c / outputs));
      if (j == kept.end() || *j != c / outputs) return std::nullopt;
      c = static_cast<Coord>(j - kept.begin()) * outputs + c % outputs;
    } else {
      c = c - all + unary;
    }
    out.push_back(c, w.value[i]);
  }
  return out;
}

}  // namespace proxbench
