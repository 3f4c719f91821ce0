#pragma once
/// Measures how well each label, and each type of chunks, is predicted.

#include <cstdint>
#include <utility>

#include "experiments/metrics/chunks.h"

namespace proxbench {

/// A ratio with denominator 0 is 0, as in conlleval and scikit-learn.
struct Quality {
  double precision = 0.0, recall = 0.0, f1 = 0.0;
};
Quality quality_of(const MatchCounts& counts);

/// Returns the sum of the counts of all names.
MatchCounts sum_of(const CountsByName& counts);
/// The micro average is the quality of the summed counts, and the macro average is the mean of the qualities.
Quality micro_of(const CountsByName& counts);
Quality macro_of(const CountsByName& counts);

/// An evaluation of predictions. Names are views into the vocabulary and unknown_gold of the data.
struct Evaluation {
  CountsByName labels;  ///< labels that are gold or predicted somewhere
  CountsByName chunks;  ///< by type; empty if the labels are not chunk labels
  std::string scheme;   ///< the notation of the chunks (ChunkScheme); empty: they are not counted
  std::string warning;  ///< if most labels are chunk labels, the label that is not
  /// How often a gold label (first) was predicted as another label (second). Only for data with one label per
  /// position.
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> confusions;
};
/// Evaluates labels or sets of labels. `scheme` is the notation of chunks; if empty, it is found from the
/// labels. Throws Error (kUsage) if the data are groups of candidates, or if a label does not fit the scheme.
Evaluation evaluate(const Dataset& data, std::span<const Index> prediction, const std::string& scheme = "");

/// Returns the name of the gold output of a position, even if it is missing in the training data; "?" if it
/// has no name.
std::string_view gold_name(const Dataset& data, Index position);

}  // namespace proxbench
