#pragma once
/// Chunks in label sequences: B-X begins a chunk of type X, I-X continues it, and O is outside. Plain B and I
/// form chunks of a single type.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"

namespace proxbench {

/// Whether the names are labels of chunks: each is O, B, I, B-X or I-X, and not all are O.
bool are_chunk_labels(const std::vector<std::string>& names);

/// "B-NP" has the tag "B" and the type "NP". "O" has no type.
struct ChunkLabel {
  std::string_view tag = "O", type = {};
};

/// The names are views into those of the data.
using CountsByName = std::map<std::string_view, MatchCounts>;

/// Counts the chunks of sequences like conlleval of the CoNLL shared tasks, in IOB1 and in IOB2. A predicted
/// chunk is right if start, end and type are. A gold label that is missing in the training data counts under
/// its own name if the reader reports it. Otherwise it counts as a chunk that no prediction has.
class ChunkGrader {
 public:
  /// Keeps a reference to the data.
  explicit ChunkGrader(const Dataset& data);
  /// Adds the counts of an instance, by type of chunk; `outputs` are the predictions for its positions.
  void add(std::size_t instance, std::span<const Index> outputs, CountsByName& counts) const;
  /// Returns the counts of one instance over all types.
  MatchCounts count(std::size_t instance, std::span<const Index> outputs) const;

 private:
  ChunkLabel gold_at(Index position) const;

  const Dataset& data_;
  std::vector<ChunkLabel> labels_;  ///< by output
};

/// Returns the counts of all instances.
CountsByName count_chunks(const Dataset& data, std::span<const Index> prediction);

}  // namespace proxbench
