#pragma once
/// Chunks in label sequences: B-X begins one of type X, I-X goes on with it, O is outside; B and I alone are
/// of one type.

#include <span>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace proxbench {

/// Whether the names are labels of chunks: each is O, B, I, B-X or I-X, and not all are O.
bool are_chunk_labels(const std::vector<std::string>& names);

/// Chunks of one sequence as CoNLL-2000's conlleval counts them: I-X begins a chunk where none of type X is
/// open; a chunk is correct where begin, end and type agree. An unknown gold output is a chunk of its own
/// that nobody finds.
MatchCounts count_chunks(const std::vector<std::string>& names, std::span<const Index> gold,
                         std::span<const Index> guessed);

}  // namespace proxbench
