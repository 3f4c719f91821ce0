#pragma once
/// What a data format is to a config: its name, its options and how it reads.

#include <functional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/base/options.h"
#include "core/base/registry.h"

namespace proxbench {

/// The files a reader is given. Empty test: no test set, unless the format splits `train` itself (ocr).
struct DataFiles {
  std::vector<std::string> train;
  std::vector<std::string> test;
  std::string hierarchy;
};

struct DataFormatInfo {
  std::string name;
  std::string help;
  std::string source;       ///< where the format or data come from
  bool needs_files = true;  ///< false: generated (synthetic)
  OptionTable options;
  std::function<DataPair(const DataFiles&, const Options&)> read;
  /// Whether values depend on the training set (scaling), so that no file can be read without it; null:
  /// never.
  std::function<bool(const Options&)> fitted = nullptr;
};

/// All formats. Declared here, where configs are checked against them, and defined beside the readers, in
/// experiments/data/readers.cpp.
const Registry<DataFormatInfo>& data_format_registry();

}  // namespace proxbench
