#pragma once
/// Chunks in label sequences, in the notations IOB (IOB1 and IOB2), BIOES (also called IOBES), BILOU and
/// BMES. In all of them B-X begins a chunk of type X, I-X (in BMES M-X) continues it, and O is outside. E-X
/// (in BILOU L-X) ends a chunk, and S-X (in BILOU U-X) is a chunk of one position. Tags may be in lower case.
/// Plain tags without a type form chunks of a single type.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"

namespace proxbench {

/// A notation of chunks. A tag is a single letter.
struct ChunkScheme {
  const char* name;
  std::string_view tags;  ///< e.g. "BILU": begin, inside, end, single; IOB lacks the last two
};

/// The names of all notations.
std::vector<std::string> chunk_scheme_names();

/// The notation of a set of labels.
struct ChunkScheming {
  const ChunkScheme* scheme = nullptr;  ///< null: these are no labels of chunks
  /// Names a label that does not fit, if at least half of the labels begin like labels of chunks.
  std::string warning;
};
/// Finds the first notation that has the tags of all labels. One label must be B, I, or begin with such a
/// tag, or be a typed chunk of one position.
ChunkScheming chunk_scheme_of(const std::vector<std::string>& labels);
/// Does the same for one notation only. Throws Error (kUsage) with the label that does not fit, or for an
/// unknown name.
const ChunkScheme& chunk_scheme_named(const std::string& name, const std::vector<std::string>& labels);

/// Returns the notation of the data's labels, or null.
const ChunkScheme* chunk_scheme(const Dataset& data);

/// "B-NP" has the tag 'B' and the type "NP". "O" has no type. Tags are the tags of BIOES, or '?' for any
/// other. Types are compared by number: 0 for no type, kOther for all types that no output has. The names of
/// the latter are compared, too.
struct ChunkLabel {
  static constexpr std::size_t kOther = static_cast<std::size_t>(-1);
  char tag = 'O';
  std::string_view type = {};
  std::size_t number = 0;

  bool has_type_of(const ChunkLabel& other) const {
    return number == other.number && (number != kOther || type == other.type);
  }
};

/// The names are views into names of the data.
using CountsByName = std::map<std::string_view, MatchCounts>;

/// Counts the chunks of sequences like conlleval of the CoNLL shared tasks, and for E and S like its
/// extension conlleval.pl of CRF++ and seqeval: a chunk ends after E and S, and starts at S. A predicted
/// chunk is right if start, end and type are. A gold label that is missing in the training data counts under
/// its own name if the reader reports it. Otherwise it counts as a chunk that no prediction has.
class ChunkGrader {
 public:
  /// Keeps a reference to the data.
  ChunkGrader(const Dataset& data, const ChunkScheme& scheme);
  /// Adds the counts of an instance, by type of chunk; `outputs` are the predictions for its positions.
  void add(std::size_t instance, std::span<const Index> outputs, CountsByName& counts) const;
  /// Returns the counts of one instance over all types.
  MatchCounts count(std::size_t instance, std::span<const Index> outputs) const;

 private:
  ChunkLabel gold_at(Index position) const;
  void set_number(ChunkLabel& label) const;
  template <class Count>
  void grade(std::size_t instance, std::span<const Index> outputs, const Count& count) const;

  const Dataset& data_;
  const ChunkScheme& scheme_;
  std::vector<ChunkLabel> labels_;  ///< by output
};

/// Returns the counts of all instances.
CountsByName count_chunks(const Dataset& data, std::span<const Index> prediction, const ChunkScheme& scheme);

}  // namespace proxbench
