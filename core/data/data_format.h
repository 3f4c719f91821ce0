#pragma once
/// A data format: its name, its options and its reader.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/processes.h"
#include "core/data/dataset.h"

namespace proxbench {

/// The files that a reader gets, by role. If `test` is empty, there is no test set, unless the format splits
/// `train` (ocr).
struct DataFiles {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string hierarchy;
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
  std::function<DataPair(const DataFiles&, const Options&)> read;
  /// Does the same if each of several processes reads a part of the training files and gets its share of the
  /// training set (core/data/sharing.h). Test sets are whole on all of them. Null: each process reads
  /// everything and keeps its share.
  std::function<DataPair(const DataFiles&, const Options&, const Processes&)> read_share = nullptr;
  /// Whether values depend on the training set (scaling), so that no file can be read without it. Null:
  /// never.
  std::function<bool(const Options&)> fitted = nullptr;
  /// Option values that keep every feature, for options that drop features by their counts in the training
  /// set. They apply when data are read with the names of a model, which lists the features.
  std::map<std::string, std::string> every_feature = {};
};

}  // namespace proxbench
