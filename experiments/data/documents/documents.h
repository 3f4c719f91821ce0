#pragma once
/// Lines `label feature:value feature:value ...`, and data sets of documents, each a line and one instance of
/// one position: what `lshtc`, `libsvm` and `crfsparse` have in common.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/processes.h"
#include "experiments/base/line_reader.h"
#include "experiments/config/data_format.h"

namespace proxbench {

/// One feature of a line, by the number it has in the file.
struct SparseEntry {
  std::int64_t feature;
  std::string_view name;  ///< the feature without sign and leading zeros, a part of the line
  double value;
};

/// What a format allows in a line beyond `feature:value`.
struct SparseLineRules {
  const char* line = "label feature:value feature:value ...";  ///< a whole line, for error messages
  std::int64_t first_feature = 0;
  const char* first_feature_hint = "";  ///< goes after "an integer of at least N" in error messages
  bool negative_values = true;
  bool document_id = false;  ///< feature 0 is no feature but the document's id, at most once a line
};

/// Reads `feature:value`. Throws through in.fail() where the feature is not an integer of at least
/// rules.first_feature, or the value not a finite number or one that the rules exclude.
SparseEntry parse_entry(const LineReader& in, std::string_view word, const SparseLineRules& rules = {});

class NamedSequences;
/// The label that a line begins with; empty where it has none, as test sets may (TestLabels).
std::string_view take_label(std::string_view& line, const NamedSequences& out);

/// How a format reads a document, which is a line, and what becomes of its features.
struct DocumentFormat {
  SparseLineRules rules = {};
  /// Each feature's values are divided by its largest absolute one in the training set.
  bool divide_by_max = false;
  /// With rules.document_id: the id becomes feature "0", moved and divided to [0, 1] over the training set
  /// (to 0 where all are equal).
  bool keep_id = false;
  double bias = 0.0;  ///< value of one more feature, "bias"; 0: none
  /// Without a hierarchy: the name of the output that a label stands for. Throws through in.fail() where it
  /// is none.
  std::function<std::string(const LineReader& in, std::string_view label)> output = nullptr;
};

/// Both sets, for the tree oracle. Outputs are the nodes of files.hierarchy, of which labels are leaves, or
/// else the labels of the training data: sorted where all of them are numbers, else in order of first
/// appearance. Features are the one of the id, or the bias, and then the others in ascending order, named by
/// their numbers. Notes as those of NamedSequences, kZeroValues and kFeatureless. Each of several processes
/// reads a part of the training files. Throws Error (kInput) with file and line where a line breaks the
/// rules, holds a feature twice or (keep_id) no id; where no training document has a feature, and for the
/// first test file that shares none with them.
DataPair read_documents(const DataFiles& files, const Options& options, const Processes* processes,
                        const DocumentFormat& format);

/// The option `scale` with the choices none and max, and whether it is max.
OptionSpec value_scale_option(const std::string& default_value);
bool divides_by_max(const Options& options);

}  // namespace proxbench
