#pragma once
/// Sequences whose features and labels are names: what the text formats `crfsuite`, `conll` and `crfsparse`
/// have in common.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/processes.h"
#include "core/data/dataset.h"
#include "experiments/base/line_reader.h"
#include "experiments/data/readers.h"

namespace proxbench {

/// Numbers names in the order in which they first appear.
class NameIndex {
 public:
  /// The name's number; a new one where it is not yet known.
  Index intern(std::string_view name);
  std::optional<Index> find(std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr Index kFree = static_cast<Index>(-1);
  /// One place of an open hash table: a lookup is bound by memory, and this way it mostly touches one place
  /// and one name.
  struct Slot {
    std::uint32_t hash = 0;
    Index number = kFree;
  };
  static std::uint32_t hash_of(std::string_view name);
  /// Where the name stands, or would.
  std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  void grow();

  std::vector<Slot> slots_;  ///< a power of two of them, half of them free; none before the first name
  std::vector<std::string> names_;
};

/// Makes `names` those of all processes, those of the first before the others, each once: what reading all
/// parts in order gives. Returns the numbers that this process's own have there.
std::vector<Index> merge_names(NameIndex& names, const Processes& processes);

/// Collects one data set, position by position. A training set numbers the names it meets; a test set drops
/// unknown features, gives unknown labels kUnknownOutput, and counts both in Dataset::notes: "unknown
/// attributes" (occurrences), "distinct unknown attributes", "unknown labels" (positions). Notes of zero are
/// left out.
class NamedSequences {
 public:
  /// A training set. `labels` fixed beforehand are kept in their order, as the first ones.
  explicit NamedSequences(const std::vector<std::string>& labels = {});
  /// A test set for the names of `train`, which must outlive it.
  static NamedSequences test_for(const NamedSequences& train);

  /// Once each of several processes has read its part of the training files: gives names the numbers that
  /// reading all of them in order gives, and each process the sequences of its share (core/data/sharing.h).
  /// Nothing without processes.
  void share(const Processes* processes);

  /// Adds a feature to the current position; repeated features are summed.
  void add(std::string_view feature, double value);
  /// Throws Error (kInput) at the line where repeated features of the position sum to no finite value.
  void end_position(const LineReader& in, std::string_view label);
  /// Does nothing where no position came since the last call.
  void end_sequence();

  /// Uses all lines of the part, and an empty one behind the last: it ends the sequence. Throws Error
  /// (kInput) where a whole file gave no position: `record` was expected.
  using LineUser = std::function<void(const LineReader& in, std::string_view line)>;
  void read(const FilePart& part, const char* record, const LineUser& use_line);

  /// True where the label has a number already.
  bool knows_label(std::string_view label) const { return names().labels.find(label).has_value(); }
  bool is_test() const { return train_ != nullptr; }
  std::size_t positions() const { return data_.gold.size(); }

  /// The finished data set without description. Its vocabulary is `vocabulary`, for a training set as made by
  /// make_vocabulary().
  Dataset build(std::shared_ptr<const Vocabulary> vocabulary) &&;
  std::shared_ptr<const Vocabulary> make_vocabulary() const;

 private:
  struct Names {
    NameIndex features, labels;
  };
  const Names& names() const { return train_ != nullptr ? train_->own_ : own_; }

  Names own_;                              ///< of a training set
  const Processes* processes_ = nullptr;   ///< that share it
  const NamedSequences* train_ = nullptr;  ///< of a test set
  Dataset data_;
  DesignMatrix::Builder builder_;
  std::unordered_set<std::string> unknown_features_;
};

/// Adds a file, or a part of one, to a data set.
using SequenceReader = std::function<void(const FilePart&, NamedSequences&)>;
/// Both sets, read into `train` (which may know labels) and a test set for it, with descriptions, for the
/// chain oracle. Features at fewer than `min_count` positions of the
/// training set are dropped from both: they are unknown to the test set, and the training set's notes count
/// them as "rare attributes". Throws Error (kUsage) where none is left.
DataPair read_sequences(const DataFiles& files, const Options& options, const Processes* processes,
                        NamedSequences train, const SequenceReader& read, std::size_t min_count = 1);

}  // namespace proxbench
