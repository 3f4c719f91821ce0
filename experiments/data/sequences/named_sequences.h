#pragma once
/// Instances whose features and labels are names. All text formats except `ocr` use this. Documents are
/// sequences of one position.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "experiments/data/files.h"

namespace proxbench {

/// Numbers names in order of first appearance.
class NameIndex {
 public:
  NameIndex() = default;
  explicit NameIndex(const std::vector<std::string>& names) {
    for (const std::string& name : names) intern(name);
  }
  /// Returns the number of a name. A new name gets the next number.
  Index intern(std::string_view name) { return intern(name, hash_of(name)); }
  /// Does it for the entries of rows, in order. Begins all loads from memory before it waits for the first.
  void intern(const NamedRows& rows, std::vector<Index>& numbers);
  std::optional<Index> find(std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr Index kFree = static_cast<Index>(-1);
  /// One place of an open hash table. Memory accesses limit the speed of a lookup, and this layout usually
  /// needs one place and one name.
  struct Slot {
    std::uint32_t hash = 0;
    Index number = kFree;
  };
  static std::uint32_t hash_of(std::string_view name);
  Index intern(std::string_view name, std::uint32_t hash);
  /// The place where the name is or would be stored.
  std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  void grow();

  std::vector<Slot> slots_;  ///< a power of two, at least half of them free; none before the first name
  std::vector<std::string> names_;
};

/// Merges the names of all processes into `names`, in order of process and without repetitions, as if one
/// process had read all parts in order. Returns the merged number of each name that this process had.
std::vector<Index> merge_names(NameIndex& names, const Processes& processes);
/// Sorts the names by `before`, a strict weak order. Ties keep their order. Returns the new number of each
/// name.
std::vector<Index> sort_names(NameIndex& names,
                              const std::function<bool(const std::string&, const std::string&)>& before);

/// Groups labels that differ only in case and in characters that look like a blank or like nothing. `shown`
/// gives the text of label k.
std::map<std::string, std::vector<std::string>> alike_labels(
    const std::vector<std::string>& labels, const std::function<std::string(std::size_t)>& shown);
/// Returns a warning that names such groups, or "".
std::string alike_text(std::vector<std::string> groups);

/// The feature that is on at every position, for formats that have one.
inline constexpr const char* kBias = "bias";

/// Notes about documents: ignored entries of value zero, and documents without known features.
inline constexpr const char *kZeroValues = "zero values", *kFeatureless = "documents without features";

/// Collects one data set, position by position. A training set numbers the names it meets. A test set drops
/// unknown features and gives unknown labels kUnknownOutput. It counts both in Dataset::notes: "unknown
/// attributes" (occurrences), "distinct unknown attributes", "unknown labels" (positions). Notes of zero are
/// left out.
class NamedSequences {
 public:
  struct Names {
    NameIndex features, labels;
  };

  /// A training set. If `labels` are given, they come first, in their order.
  explicit NamedSequences(const std::vector<std::string>& labels = {}) : names{{}, NameIndex(labels)} {}
  /// A test set that uses the names of `train`, which must outlive it.
  static NamedSequences test_for(const NamedSequences& train, TestLabels labels = TestLabels::kRequired);
  bool is_test() const { return train_ != nullptr; }
  /// The names of the training set.
  const Names& known() const { return train_ != nullptr ? train_->names : names; }

  /// Gives each of several processes the sequences of its share (core/data/sharing.h), and sums the notes.
  /// Call this when each has read its part of the training files and names have the same numbers on all.
  void share_rows(const Processes& processes);

  /// Adds a feature to the current position. Returns false if the feature is unknown, and so not added. (Who
  /// takes streamed rows looks their features up.) Values of repeated features are added.
  bool add(std::string_view feature, double value);
  /// A test set may lack labels. Throws Error (kInput) for the line if values of a repeated feature have no
  /// finite sum, or if some lines have labels and others do not.
  void end_position(const LineReader& in, std::optional<std::string_view> label);
  /// Ends the row of `rows` only. Throws Error (kInput) for the line if a value is above `largest_value`, or
  /// values of a repeated feature have no finite sum.
  void end_row(const LineReader& in);
  TestLabels labels() const { return labels_; }
  /// Whether the lines of a test set have labels; none if no line has shown it yet.
  std::optional<bool> labelled() const { return labels_ == TestLabels::kNone ? false : labelled_; }
  /// Does nothing if no position was added since the last call.
  void end_sequence();

  /// Calls use_line for all lines of the part and then, if empty lines end records, for an empty line. It
  /// returns whether the line is a position. Throws Error (kInput) if a whole file adds no position; the
  /// message says that `record` was expected.
  using LineUser = std::function<bool(const LineReader& in, std::string_view line)>;
  void read(const FilePart& part, const char* record, const LineUser& use_line);

  /// Makes read() call `use` with whole records, each time before it waits for the file, and at the end.
  /// `use` takes data and rows.
  void hand_over_to(std::function<void()> use) { use_ = std::move(use); }
  bool streams() const { return use_ != nullptr; }
  /// Makes read() keep the lines of files whose records end at empty lines. take_lines() returns and removes
  /// them.
  void keep_lines() { keeps_lines_ = true; }
  std::vector<TextLine> take_lines() { return std::exchange(lines_, {}); }

  /// Counts a sign that data are read wrongly. `text` is the sentence, in which {count}, {example} and
  /// {where} stand for the number of calls, and for the example and the line of the first one.
  void warn(const char* text, const LineReader& in, std::string_view example = {});
  /// Does the same for several lines, of which `where` is the first.
  void warn(const char* text, const std::string& where, std::string_view example, std::uint64_t count);
  /// Returns one sentence for each sign, including those of the names of labels.
  std::vector<std::string> warnings() const;
  /// Numbers of instances and positions so far, including those handed over.
  std::uint64_t all_instances() const { return handed_instances_ + data.instances(); }
  std::uint64_t all_positions() const { return handed_over_ + data.positions(); }

  /// Rebuilds all rows. For each old entry, add(rows, feature, value) adds new entries to the new rows.
  template <class Add>
  void remake_rows(const Add& add) {
    DesignMatrix::Builder out;
    for (std::size_t p = 0; p < data.positions(); ++p) {
      for (std::size_t e = 0; e < rows.row(p).size(); ++e) add(out, rows.row(p)[e], rows.value(p, e));
      out.end_position();
    }
    rows = std::move(out);
  }

  /// Counts in data.notes the names that the vocabulary lacks.
  void set_notes();
  /// Returns the finished data set, without description.
  Dataset build(std::shared_ptr<const Vocabulary> vocabulary) &&;

  Names names;  ///< empty for a test set
  Dataset data;
  DesignMatrix::Builder rows;  ///< the rows of X, one for each position
  /// In place of them, if it streams. Otherwise, the current position of a training set.
  NamedRows named;
  /// Squares of values up to here have finite sums over positions.
  double largest_value = 1e150;

 private:
  std::string label_warning_text() const;

  std::vector<Index> numbers_;             ///< of the features of the position that ends
  const Processes* processes_ = nullptr;   ///< the processes that share the set
  const NamedSequences* train_ = nullptr;  ///< the training set of a test set
  TestLabels labels_ = TestLabels::kRequired;
  std::optional<bool> labelled_;  ///< whether the lines so far have labels
  std::function<void()> use_;
  std::size_t handed_over_ = 0, handed_instances_ = 0;  ///< positions and instances
  bool keeps_lines_ = false;
  std::vector<TextLine> lines_;
  struct Warning {
    std::uint64_t count = 0;
    std::string example, where;
  };
  std::map<std::string_view, Warning> warnings_;  ///< by text
  std::uint64_t unknown_attributes_ = 0, unknown_labels_ = 0;
  std::unordered_set<std::string> unknown_features_;                 ///< not filled if it streams
  std::map<std::string, std::uint64_t, std::less<>> unknown_names_;  ///< unknown labels and their positions
};

/// Adds the attributes of a line in CRFsuite's notation to the current position: fields "attribute[:value]",
/// each after a TAB.
void add_attributes(const LineReader& in, std::string_view fields, NamedSequences& out);

/// Returns the labels of a template file of `crfsparse`, in its order. Throws Error (kInput) if there are
/// none or if one occurs twice.
std::vector<std::string> read_label_template(LineReader&& in);

/// How a format makes data sets from its files.
struct SequenceFormat {
  /// Adds the positions of a file, or of a part of one.
  std::function<void(const FilePart&, NamedSequences&)> read;
  /// Called after a set has been read; for the training set, before processes share its rows and before test
  /// files are opened. It may renumber names and rows.
  std::function<void(NamedSequences&)> complete = nullptr;
  FileRecords records = FileRecords::kUpToBlankLine;
  const char* oracle = "chain";
  /// For descriptions: the word for instances, and the text after their number.
  const char* instances = "sequences";
  std::function<std::string(const Dataset&)> describe = [](const Dataset& set) {
    return std::to_string(set.x.whole_positions()) + " positions";
  };
};
/// Reads both sets, with descriptions: the training set into `train`, which may already have labels, and a
/// test set with its names.
DataPair read_sequences(const DataFiles& files, const Options& options, const Processes* processes,
                        NamedSequences train, const SequenceFormat& format);

}  // namespace proxbench
