#include "solvers/gdmm/label_search.h"

#include <algorithm>

#include "core/kernels/kernel_table.h"

namespace proxbench {
namespace {

/// If the features of a position have weights for more than this share of the K labels on average, all K
/// scores are computed: a vector register adds about 1/kDenseShare numbers in the time of one scattered
/// addition.
constexpr double kDenseShare = 1.0 / 8.0;
constexpr LabelChoice kNone{0, -kInfinity};

}  // namespace

IndexedWeights::IndexedWeights(const DesignMatrix& x, Index labels)
    : x_(x),
      labels_(labels),
      width_(padded(labels)),
      rows_(x.features() * width_, 0.0),
      known_(static_cast<std::size_t>(x.features()) * labels, false),
      labels_of_(x.features()) {}

void IndexedWeights::add(Index feature, Index label, double change) {
  double& weight = rows_[feature * width_ + label];
  const std::size_t at = static_cast<std::size_t>(feature) * labels_ + label;
  if (weight == 0.0 && !known_[at]) {
    known_[at] = true;
    labels_of_[feature].push_back(label);
  }
  weight += change;
}

void IndexedWeights::add_features(Index position, Index label, double step) {
  x_.for_each_entry(position, [&](Index j, double value) { add(j, label, step * value); });
}

void IndexedWeights::add_scores(Index position, double* row) const {
  const auto features = x_.row(position);
  const auto values = x_.row_values(position);
  kernels_in_use().add_rows(rows_.data(), features.data(), values.empty() ? nullptr : values.data(),
                            features.size(), row, width_);
}

double IndexedWeights::score(Index position, Index label) const {
  double sum = 0.0;
  x_.for_each_entry(position, [&](Index j, double value) { sum += at(j, label) * value; });
  return sum;
}

SparseVector IndexedWeights::nonzeros() const {
  SparseVector out;
  for (Index j = 0; j < x_.features(); ++j)
    for (Index k = 0; k < labels_; ++k)
      if (at(j, k) != 0.0) out.push_back(static_cast<Coord>(j) * labels_ + k, at(j, k));
  return out;
}

LabelChoice LabelSearch::best(const IndexedWeights& w, Index position, Index gold, double cost,
                              const LabelMessages& message) {
  const auto features = w.x().row(position);
  std::size_t entries = 0;
  for (const Index j : features) entries += w.labels_of(j).size();
  const double dense = kDenseShare * static_cast<double>(features.size()) * w.labels();
  if (static_cast<double>(entries) > dense) return best_by_force(w, position, gold, cost, message);

  touched_.clear();
  const auto touch = [&](Index label) {
    if (seen_[label]) return;
    seen_[label] = true;
    touched_.push_back(label);
  };
  w.x().for_each_entry(position, [&](Index j, double value) {
    for (const Index label : w.labels_of(j)) {
      touch(label);
      score_[label] += w.at(j, label) * value;
    }
  });
  for (const Index label : message.touched()) touch(label);
  touch(gold);
  LabelChoice best = kNone;
  for (const Index label : touched_) {
    const double value = score_[label] + (label == gold ? 0.0 : cost) + message[label];
    if (value > best.value || (value == best.value && label < best.label)) best = {label, value};
  }
  // All untouched labels have the same value, so only the first of them matters.
  if (touched_.size() < w.labels() && cost >= best.value) {
    const auto other = static_cast<Index>(std::ranges::find(seen_, false) - seen_.begin());
    if (cost > best.value || other < best.label) best = {other, cost};
  }
  for (const Index label : touched_) {
    score_[label] = 0.0;
    seen_[label] = false;
  }
  return best;
}

LabelChoice LabelSearch::best_by_force(const IndexedWeights& w, Index position, Index gold, double cost,
                                       const LabelMessages& message) {
  w.add_scores(position, score_.data());
  LabelChoice best = kNone;
  for (Index label = 0; label < w.labels(); ++label) {
    const double value = score_[label] + (label == gold ? 0.0 : cost) + message[label];
    if (value > best.value) best = {label, value};
  }
  std::ranges::fill(score_, 0.0);
  return best;
}

}  // namespace proxbench
