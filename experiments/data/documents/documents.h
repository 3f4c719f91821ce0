#pragma once
/// The common part of `lshtc`, `libsvm` and `crfsparse`: lines `label feature:value feature:value ...`, and
/// data sets in which each document is a line and an instance of one position. `#` begins a comment. Empty
/// lines are skipped, unless they are documents without features in text without labels.

#include "experiments/data/documents/hierarchy_file.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {

/// One feature of a line, with the number that it has in the file.
struct SparseEntry {
  std::int64_t feature;
  std::string_view name;  ///< the feature without sign and leading zeros; a part of the line
  double value;
};

/// The rules of a format for its lines.
struct SparseLineRules {
  const char* line = "label feature:value feature:value ...";  ///< a whole line, for error messages
  std::int64_t first_feature = 0;
  const char* first_feature_hint = "";  ///< follows "an integer of at least N" in error messages
  bool negative_values = true;
  bool document_id = false;  ///< feature 0 is the document's id, at most once per line
};

/// Reads `feature:value`. Throws with in.fail() if the feature is not an integer of at least
/// rules.first_feature, or if the value is not finite or excluded by the rules.
SparseEntry parse_entry(const LineReader& in, std::string_view word, const SparseLineRules& rules = {});

/// Takes the label from the start of a line. Returns an empty text if the line has no label, as lines of test
/// sets may (TestLabels).
std::string_view take_label(std::string_view& line, const NamedSequences& out);

/// How a format reads a document (a line), and how it transforms the features.
struct DocumentFormat {
  SparseLineRules rules = {};
  /// The values of each feature are divided by its largest absolute value in the training set.
  bool divide_by_max = false;
  /// With rules.document_id, the id becomes feature "0". It is shifted and scaled to [0, 1] over the training
  /// set, or set to 0 if all ids are equal.
  bool keep_id = false;
  double bias = 0.0;  ///< value of an additional feature "bias"; 0: none
  /// Without a hierarchy, returns the name of the output for a label. Throws with in.fail() if the text is no
  /// label.
  std::function<std::string(const LineReader& in, std::string_view label)> output = nullptr;
};

/// Reads both sets, for the tree oracle. With files.hierarchy, the outputs are its nodes and labels are
/// leaves. Otherwise the outputs are the labels of the training data: sorted if all are numbers, else in
/// order of first appearance. The first feature is the id or the bias if there is one; the others follow in
/// ascending order, named by their numbers. Dataset::notes has the counts of NamedSequences, kZeroValues and
/// kFeatureless. If there are several processes, each reads a part of the training files. Throws Error
/// (kInput) with file and line if a line breaks the rules, holds a feature twice, or lacks the id (keep_id).
/// Also throws if no training document has a feature, and for the first test file that shares no feature with
/// them.
DataPair read_documents(const DataFiles& files, const Options& options, const Processes* processes,
                        const DocumentFormat& format);

/// Returns the shortest text of the number `label`, or `label` itself if it is not a number.
std::string canonical_label(std::string_view label);

/// The option `scale` with the choices none and max. divides_by_max() returns whether the choice is max.
OptionSpec value_scale_option(const std::string& default_value);
bool divides_by_max(const Options& options);

/// Returns the names of the `<label name="...">` elements of a file for `arff`, in its order, including
/// nested ones. Throws Error (kInput) if a label has no name, if a name occurs twice, or if there is no
/// label.
std::vector<std::string> read_label_names(LineReader in);

}  // namespace proxbench
