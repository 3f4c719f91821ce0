#include "solvers/gdmm/pair_search.h"

#include <algorithm>
#include <optional>

namespace proxbench {
namespace {

constexpr PairChoice kNone{0, 0, -kInfinity};

void raise(PairChoice& best, const PairChoice& choice) {
  if (choice.value > best.value) best = choice;
}

/// Finds the label with the largest weight among those with message 0. Labels that are not in `sorted` have
/// weight 0. These labels are tried from the highest number down: labels with high numbers are rare, so they
/// most likely have weight 0.
template <class WeightOf>
std::optional<std::pair<Index, double>> best_partner(const PairWeights::Sorted& sorted,
                                                     const LabelMessages& messages,
                                                     const WeightOf& weight_of) {
  auto at = sorted.begin();
  const auto first_free = [&](auto&& goes_on) {
    while (at != sorted.end() && goes_on(at->first) && messages[static_cast<Index>(at->second)] != 0.0) ++at;
    return at != sorted.end() && goes_on(at->first);
  };
  if (first_free([](double key) { return key < 0.0; }))
    return std::pair(static_cast<Index>(at->second), -at->first);
  if (sorted.size() < messages.labels())
    for (Index k = messages.labels(); k-- > 0;)
      if (messages[k] == 0.0 && weight_of(k) == 0.0) return std::pair(k, 0.0);
  if (first_free([](double) { return true; })) return std::pair(static_cast<Index>(at->second), -at->first);
  return std::nullopt;
}

/// max of weight[b] + left + right[b], in lanes that the compiler keeps in vectors.
double largest_sum(const double* weight, double left, const double* right, std::size_t labels) {
  constexpr std::size_t kLanes = 8;
  double lane[kLanes];
  std::fill(lane, lane + kLanes, kNone.value);
  std::size_t b = 0;
  for (; b + kLanes <= labels; b += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double sum = weight[b + l] + left + right[b + l];
      lane[l] = sum > lane[l] ? sum : lane[l];
    }
  double best = *std::max_element(lane, lane + kLanes);
  for (; b < labels; ++b) best = std::max(best, weight[b] + left + right[b]);
  return best;
}

/// Case (i): both messages are zero.
PairChoice best_quiet_pair(const PairWeights& v, const LabelMessages& left, const LabelMessages& right) {
  const Index labels = v.labels();
  const auto quiet = [&](std::uint64_t cell) {
    return left[static_cast<Index>(cell / labels)] == 0.0 && right[static_cast<Index>(cell % labels)] == 0.0;
  };
  const auto choice = [&](std::uint64_t cell, double key) {
    return PairChoice{static_cast<Index>(cell / labels), static_cast<Index>(cell % labels), -key};
  };
  auto at = v.sorted().begin();
  for (; at != v.sorted().end() && at->first < 0.0; ++at)
    if (quiet(at->second)) return choice(at->second, at->first);
  for (Index a = labels; a-- > 0;) {
    if (left[a] != 0.0 || v.row(a).size() == labels) continue;
    for (Index b = labels; b-- > 0;)
      if (right[b] == 0.0 && v.at(a, b) == 0.0) return {a, b, 0.0};
  }
  for (; at != v.sorted().end(); ++at)
    if (quiet(at->second)) return choice(at->second, at->first);
  return kNone;
}

}  // namespace

PairWeights::PairWeights(Index labels, bool sorted)
    : labels_(labels),
      sorted_(sorted),
      value_(static_cast<std::size_t>(labels) * labels, 0.0),
      rows_(sorted ? labels : 0),
      columns_(sorted ? labels : 0) {}

void PairWeights::set(Index left, Index right, double weight) {
  const double before = std::exchange(value_[cell(left, right)], weight);
  if (before == weight || !sorted_) return;
  const auto replace = [&](Sorted& in, std::uint64_t number) {
    if (before != 0.0) in.erase({-before, number});
    if (weight != 0.0) in.emplace(-weight, number);
  };
  replace(all_, cell(left, right));
  replace(rows_[left], right);
  replace(columns_[right], left);
}

PairChoice best_pair(const PairWeights& v, const LabelMessages& left, const LabelMessages& right) {
  PairChoice best = best_quiet_pair(v, left, right);
  for (const Index b : right.touched())  // case (ii)
    if (const auto a = best_partner(v.column(b), left, [&](Index k) { return v.at(k, b); }))
      raise(best, {a->first, b, a->second + right[b]});
  for (const Index a : left.touched()) {
    if (const auto b = best_partner(v.row(a), right, [&](Index k) { return v.at(a, k); }))  // case (iii)
      raise(best, {a, b->first, b->second + left[a]});
    for (const Index b : right.touched()) raise(best, {a, b, v.at(a, b) + left[a] + right[b]});  // case (iv)
  }
  return best;
}

PairChoice best_pair_by_force(const PairWeights& v, const LabelMessages& left, const LabelMessages& right) {
  PairChoice best = kNone;
  const Index labels = v.labels();
  for (Index a = 0; a < labels; ++a) {
    const double* const weight = v.values().data() + std::size_t{a} * labels;
    const double top = largest_sum(weight, left[a], right.values().data(), labels);
    if (!(top > best.value)) continue;
    Index b = 0;
    while (weight[b] + left[a] + right[b] != top) ++b;
    best = {a, b, top};
  }
  return best;
}

}  // namespace proxbench
