#pragma once
/// Instances whose features and labels are names: what all formats of text have in common but `ocr`.
/// Documents are sequences of one position.

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
  NameIndex() = default;
  explicit NameIndex(const std::vector<std::string>& names) {
    for (const std::string& name : names) intern(name);
  }
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
/// Numbers the names in the order of `before`, a strict weak order, and those that it leaves open as they
/// were; the first `fixed` names stay. Returns the new number of each.
std::vector<Index> sort_names(NameIndex& names,
                              const std::function<bool(const std::string&, const std::string&)>& before,
                              std::size_t fixed = 0);

/// The feature that is on at every position, of formats that have one.
inline constexpr const char* kBias = "bias";

/// Notes of documents: entries of value zero, which are ignored, and documents without known features.
inline constexpr const char *kZeroValues = "zero values", *kFeatureless = "documents without features";

/// Collects one data set, position by position. A training set numbers the names it meets; a test set drops
/// unknown features, gives unknown labels kUnknownOutput, and counts both in Dataset::notes: "unknown
/// attributes" (occurrences), "distinct unknown attributes", "unknown labels" (positions). Notes of zero are
/// left out.
class NamedSequences {
 public:
  struct Names {
    NameIndex features, labels;
  };

  /// A training set. `labels` fixed beforehand are kept in their order, as the first ones.
  explicit NamedSequences(const std::vector<std::string>& labels = {}) : names{{}, NameIndex(labels)} {}
  /// A test set for the names of `train`, which must outlive it.
  static NamedSequences test_for(const NamedSequences& train, TestLabels labels = TestLabels::kRequired);
  bool is_test() const { return train_ != nullptr; }
  /// Those of the training set.
  const Names& known() const { return train_ != nullptr ? train_->names : names; }

  /// Once each of several processes has read its part of the training files: share_features() and
  /// share_labels() give names the numbers that reading all of them in order gives, and then share_rows()
  /// each process the sequences of its share (core/data/sharing.h), and the notes their sums.
  void share_features(const Processes& processes);
  void share_labels(const Processes& processes);
  void share_rows(const Processes& processes);

  /// Adds a feature to the current position, unless it is unknown (false); repeated features are summed.
  bool add(std::string_view feature, double value);
  /// Without a label: of a test set that may lack them. Throws Error (kInput) at the line where repeated
  /// features of the position sum to no finite value, or where some lines have labels and others do not.
  void end_position(const LineReader& in, std::optional<std::string_view> label);
  TestLabels labels() const { return labels_; }
  /// Does nothing where no position came since the last call.
  void end_sequence();

  /// Uses all lines of the part, and an empty one behind the last: it ends the sequence. Throws Error
  /// (kInput) where a whole file gave no position: `record` was expected.
  using LineUser = std::function<void(const LineReader& in, std::string_view line)>;
  void read(const FilePart& part, const char* record, const LineUser& use_line);

  /// From now on read() calls `use` with whole records alone, before it waits for the file and at its end;
  /// `use` takes data and rows.
  void hand_over_to(std::function<void()> use) { use_ = std::move(use); }
  bool streams() const { return use_ != nullptr; }

  /// Makes all rows again: add(rows, feature, value) gives the new ones what becomes of each entry.
  template <class Add>
  void remake_rows(const Add& add) {
    DesignMatrix::Builder out;
    for (std::size_t p = 0; p < data.positions(); ++p) {
      for (std::size_t e = 0; e < rows.row(p).size(); ++e) add(out, rows.row(p)[e], rows.value(p, e));
      out.end_position();
    }
    rows = std::move(out);
  }

  /// Counts what the vocabulary lacks in data.notes.
  void set_notes();
  /// The finished data set without description.
  Dataset build(std::shared_ptr<const Vocabulary> vocabulary) &&;

  Names names;  ///< of a training set
  Dataset data;
  DesignMatrix::Builder rows;  ///< of X, one for each position

 private:
  const Processes* processes_ = nullptr;   ///< that share it
  const NamedSequences* train_ = nullptr;  ///< of a test set
  TestLabels labels_ = TestLabels::kRequired;
  std::optional<bool> labelled_;  ///< whether lines so far have labels
  std::function<void()> use_;
  std::size_t handed_over_ = 0;  ///< positions
  std::uint64_t unknown_attributes_ = 0, unknown_labels_ = 0;
  std::unordered_set<std::string> unknown_features_;  ///< not where it streams
};

/// How a format makes data sets of its files.
struct SequenceFormat {
  /// Adds a file, or a part of one.
  std::function<void(const FilePart&, NamedSequences&)> read;
  /// Called once a set has been read: the training set before processes share its rows and before test files
  /// are opened. It may give names and rows other numbers.
  std::function<void(NamedSequences&)> complete = nullptr;
  /// Rows of the training set have numbers of the format's own until complete() gives features their names,
  /// the same on all processes.
  bool own_features = false;
  FileRecords records = FileRecords::kUpToBlankLine;
  const char* oracle = "chain";
  /// For descriptions: what instances are called, and what follows their number.
  const char* instances = "sequences";
  std::function<std::string(const Dataset&)> describe = [](const Dataset& set) {
    return std::to_string(set.x.whole_positions()) + " positions";
  };
};
/// Both sets, read into `train` (which may know labels) and a test set for it, with descriptions.
DataPair read_sequences(const DataFiles& files, const Options& options, const Processes* processes,
                        NamedSequences train, const SequenceFormat& format);

}  // namespace proxbench
