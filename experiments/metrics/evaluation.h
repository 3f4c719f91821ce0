#pragma once
/// How well each label, and each type of chunks, is predicted.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/data/dataset.h"

namespace proxbench {

/// Shares of nothing are 0, as conlleval and scikit-learn have it.
struct Quality {
  double precision = 0.0, recall = 0.0, f1 = 0.0;
};
Quality quality_of(const MatchCounts& counts);

/// Counts of each name: of both the sum.
template <class Counts>
MatchCounts sum_of(const Counts& counts) {
  MatchCounts sum;
  for (const auto& [name, one] : counts) {
    sum.correct += one.correct;
    sum.gold += one.gold;
    sum.guessed += one.guessed;
  }
  return sum;
}
/// The micro average is the quality of the sum, and the macro average the mean of the qualities.
template <class Counts>
Quality micro_of(const Counts& counts) {
  return quality_of(sum_of(counts));
}
Quality macro_of(const std::map<std::string_view, MatchCounts>& counts);

/// What there is to say of predictions. Names are views into the vocabulary and unknown_gold of the data.
struct Evaluation {
  std::map<std::string_view, MatchCounts> labels;  ///< that are gold or predicted somewhere
  std::map<std::string_view, MatchCounts> chunks;  ///< by type; empty where labels are not those of chunks
  /// How often a gold label (first) got another label (second); of one label a position alone.
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> confusions;
};
/// Of labels, or sets of labels. Throws Error (kUsage) where the data are groups of candidates.
Evaluation evaluate(const Dataset& data, std::span<const Index> prediction);

/// The gold output of a position, also where training data lack it; "?" where it has no name.
std::string_view gold_name(const Dataset& data, Index position);

}  // namespace proxbench
