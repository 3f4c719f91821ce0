#pragma once
/// What a data format is: its name, its options and how it reads.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/processes.h"
#include "core/data/dataset.h"

namespace proxbench {

/// The files a reader is given, by role. Empty test: no test set, unless the format splits `train` (ocr).
struct DataFiles {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string hierarchy;
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
  /// Values of options that keep every feature, for options that drop features by what the training set
  /// holds: for data that are read by the names of a model, which says what features there are.
  std::map<std::string, std::string> every_feature = {};
};

}  // namespace proxbench
