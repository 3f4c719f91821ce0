#pragma once
/// A data format: its name, its options and its reader.

#include <functional>
#include <memory>
#include <string>
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

/// A batch of instances to be labelled: a data set without its X, and the rows of X.
struct DataBatch {
  Dataset data;
  DesignMatrix::Builder rows;
  std::string oracle;
  std::vector<TextLine> lines = {};  ///< if DataStream::lines is set and each position has a line
};

/// Consumes test files: gets some whole instances at a time, as they arrive. The reader then returns no data
/// set.
struct DataStream {
  std::shared_ptr<const Vocabulary> names;  ///< the names of features and outputs
  std::function<void(DataBatch&&)> use;
  std::function<void(const std::string&)> doubt = nullptr;  ///< gets signs that files were read wrongly
  bool lines = false;                                       ///< whether batches need their lines
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
  bool streams = false;  ///< whether the format supports DataFiles::stream and DataFiles::labels
};

}  // namespace proxbench
