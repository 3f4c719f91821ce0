#pragma once
/// What a data format is: its name, its options and how it reads.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/processes.h"
#include "core/data/dataset.h"

namespace proxbench {

/// Instances to be labelled, as they were read: the data set without its X, whose entries are the rows.
struct DataBatch {
  Dataset data;
  DesignMatrix::Builder rows;
  std::string oracle;
};

/// Test files that are handed to `use` as they come, some whole instances at a time: no data set is returned.
struct DataStream {
  std::shared_ptr<const Vocabulary> names;  ///< that features and outputs have
  std::function<void(DataBatch&&)> use;
};

/// Whether lines of test files have labels. Gold outputs of lines without one are kUnknownOutput, and
/// Dataset::notes counts them as kUnlabelled. Either all lines have one, or none has.
enum class TestLabels {
  kRequired,
  kIfAny,  ///< none where a line shows that it has none
  kNone
};
inline constexpr const char* kUnlabelled = "positions without a label";

/// The files a reader is given, by role. Empty test: no test set, unless the format splits `train` (ocr).
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
  std::string source;       ///< where the format or data come from
  bool needs_files = true;  ///< false: generated (synthetic)
  OptionTable options = {};
  /// Training and test set have one vocabulary (or equal ones), and X has a column for each of its features.
  std::function<DataPair(const DataFiles&, const Options&)> read;
  /// The same where each of several processes reads a part of the training files and gets its share of the
  /// training set (core/data/sharing.h); test sets are whole on all. Null: each process reads all, and keeps
  /// its share.
  std::function<DataPair(const DataFiles&, const Options&, const Processes&)> read_share = nullptr;
  /// Whether values depend on the training set (scaling), so that no file can be read without it; null:
  /// never.
  std::function<bool(const Options&)> fitted = nullptr;
  bool streams = false;  ///< whether it knows DataFiles::stream and DataFiles::labels
};

}  // namespace proxbench
