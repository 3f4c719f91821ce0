#pragma once
/// A data format: its name, its options and its reader.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/processes.h"
#include "core/data/dataset.h"

namespace proxbench {

/// A line of a test file.
struct TextLine {
  std::string text;
  bool position;  ///< false: an empty line or a comment, for example
};

/// Rows of features that are names, which no vocabulary has numbered yet.
struct NamedRows {
  std::string text;                   ///< the names of all entries, one behind the other
  std::vector<std::size_t> text_end;  ///< by entry, where its name ends
  std::vector<double> value;          ///< by entry
  std::vector<std::size_t> begin{0};  ///< position p has the entries [begin[p], begin[p+1])

  void add(std::string_view feature, double number) {
    text += feature;
    text_end.push_back(text.size());
    value.push_back(number);
  }
  void end_position() { begin.push_back(value.size()); }
  std::string_view name(std::size_t entry) const {
    const std::size_t first = entry == 0 ? 0 : text_end[entry - 1];
    return std::string_view(text).substr(first, text_end[entry] - first);
  }
};

/// A batch of instances to be labelled: a data set without its X, and the rows of X. A reader that streams
/// gives `named` rows and a vocabulary without features.
struct DataBatch {
  Dataset data;
  DesignMatrix::Builder rows;
  NamedRows named;
  std::string oracle;
  std::vector<TextLine> lines = {};  ///< if DataStream::lines is set and each position has a line
};

/// Consumes test files: gets some whole instances at a time, as they arrive. The reader then returns no data
/// set.
struct DataStream {
  std::shared_ptr<const Vocabulary> names;  ///< the names of outputs
  std::function<void(DataBatch&&)> use;
  std::function<void(const std::string&)> warning = nullptr;  ///< gets signs that files were read wrongly
  bool lines = false;                                         ///< whether batches need their lines
};

/// Whether the lines of test files have labels. The gold output of a line without a label is kUnknownOutput,
/// and Dataset::notes counts it as kUnlabelled. Either all lines have a label, or none has one.
enum class TestLabels {
  kRequired,
  kIfAny,  ///< the first line that shows it decides
  kNone
};
inline constexpr const char* kUnlabelled = "positions without a label";

/// The files that a reader gets, by role. If `test` is empty, there is no test set, unless the format splits
/// `train` (ocr).
struct DataFiles {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string hierarchy;
  TestLabels labels = TestLabels::kRequired;
  const DataStream* stream = nullptr;  ///< in place of a training set, where the format streams
};

/// A registered data format.
struct DataFormatInfo {
  std::string name;
  std::string help;
  std::string source;       ///< where the format or the data come from
  bool needs_files = true;  ///< false: the data are generated (synthetic)
  OptionTable options = {};
  /// Reads the files. Training and test set have the same vocabulary (or equal ones), and X has a column for
  /// each of its features.
  std::function<DataPair(const DataFiles&, const Options&)> read = nullptr;
  /// Does the same for several processes: each reads a part of the training files and gets its share of the
  /// training set (core/data/sharing.h). Each process has the whole test set. Null: each process reads
  /// everything and keeps its share.
  std::function<DataPair(const DataFiles&, const Options&, const Processes&)> read_share = nullptr;
  /// Whether values depend on the training set (scaling), so that no file can be read without it. Null:
  /// never.
  std::function<bool(const Options&)> fitted = nullptr;
  std::string oracle = {};  ///< the oracle of all data in the format; "": DataPair::oracle alone says it
  bool streams = false;     ///< whether the format supports DataFiles::stream and DataFiles::labels
};

}  // namespace proxbench
