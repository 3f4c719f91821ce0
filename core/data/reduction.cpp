#include "core/data/reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/base/random.h"
#include "core/base/sum.h"

namespace proxbench {

namespace {

/// A hash of the positions and values of a column. Equal columns have equal hashes.
std::uint64_t hash_of(const DesignMatrix& x, Index feature) {
  std::uint64_t sum = 0;
  x.for_each_in_column(feature, [&](std::size_t p, double value) {
    Random random(p ^ std::rotl(std::bit_cast<std::uint64_t>(value), 32));
    sum += random.next();
  });
  return sum;
}

bool same_column(const DesignMatrix& x, Index i, Index j) {
  return x.column(i) == x.column(j) && std::ranges::equal(x.column_values(i), x.column_values(j));
}

}  // namespace

std::vector<std::size_t> first_copies(const DesignMatrix& x, std::span<const Index> features,
                                      const Parallel& parallel) {
  std::vector<double> hash(2 * features.size()), differs(features.size(), 0.0);
  parallel.for_each(features.size(), [&](std::size_t i) {
    // Processes add the halves of their hashes. Each half is below 2^32, so a double holds the sum exactly.
    const std::uint64_t of = hash_of(x, features[i]);
    hash[2 * i] = static_cast<double>(of >> 32);
    hash[2 * i + 1] = static_cast<double>(of & 0xffffffff);
  });
  add_processes(parallel, hash);
  const auto key = [&](std::size_t i) { return std::pair(hash[2 * i], hash[2 * i + 1]); };
  std::vector<std::size_t> order(features.size()), first(features.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, key);
  for (std::size_t o = 0; o < order.size(); ++o)
    first[order[o]] = o > 0 && key(order[o]) == key(order[o - 1]) ? first[order[o - 1]] : order[o];
  parallel.for_each(features.size(), [&](std::size_t i) {
    if (first[i] != i && !same_column(x, features[first[i]], features[i])) differs[i] = 1.0;
  });
  add_processes(parallel, differs);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (differs[i] > 0.0) first[i] = i;
  return first;
}

std::vector<Index> needed_features(const DesignMatrix& x, const Penalty& penalty, const Parallel& parallel) {
  std::vector<double> sums(x.features());
  for (Index j = 0; j < x.features(); ++j) {
    if (x.binary()) sums[j] += static_cast<double>(x.column_size(j));
    for (const double value : x.column_values(j)) sums[j] += std::abs(value);
  }
  add_processes(parallel, sums);
  std::vector<Index> kept;
  for (Index j = 0; j < x.features(); ++j)
    if (sums[j] > penalty.lambda) kept.push_back(j);
  if (!(penalty.lambda > 0.0 && penalty.mu == 0.0)) return kept;
  const std::vector<std::size_t> first = first_copies(x, kept, parallel);
  std::size_t left = 0;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (first[i] == i) kept[left++] = kept[i];
  kept.resize(left);
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
