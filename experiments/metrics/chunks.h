#pragma once
/// Chunks in label sequences: B-X begins one of type X, I-X goes on with it, O is outside; B and I alone are
/// of one type.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"

namespace proxbench {

/// Whether the names are labels of chunks: each is O, B, I, B-X or I-X, and not all are O.
bool are_chunk_labels(const std::vector<std::string>& names);

/// "B-NP" has the tag "B" and the type "NP", "O" has no type.
struct ChunkLabel {
  std::string_view tag = "O", type = {};
};

/// Counts the chunks of sequences as conlleval of the CoNLL shared tasks does: in IOB1 as in IOB2, right
/// where start, end and type are. A gold label that training data lack counts under its own name where the
/// reader tells it; else it is a chunk that no prediction has.
class ChunkGrader {
 public:
  /// Borrows the data.
  explicit ChunkGrader(const Dataset& data);
  /// By the type of the chunks, which are views into the names of the data.
  using ByType = std::map<std::string_view, MatchCounts>;
  /// Adds those of an instance; `outputs`: what is predicted for its positions.
  void add(std::size_t instance, std::span<const Index> outputs, ByType& counts) const;
  /// Of one instance, all types together.
  MatchCounts count(std::size_t instance, std::span<const Index> outputs) const;

 private:
  ChunkLabel gold_at(Index position) const;

  const Dataset& data_;
  std::vector<ChunkLabel> labels_;  ///< by output
};

/// Of all instances.
ChunkGrader::ByType count_chunks(const Dataset& data, std::span<const Index> prediction);

}  // namespace proxbench
