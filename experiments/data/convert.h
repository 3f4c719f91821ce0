#pragma once
/// Converts data sets to the input files of other trainers.

#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "experiments/base/paths.h"

namespace proxbench {

/// A format that data can be converted to.
struct TargetFormat {
  std::string name, help;
  bool numbered;  ///< features (for libsvm also labels) are numbers, and a file gives their names
};
/// crfsuite, wapiti, crf++, crfsparse, libsvm.
const std::vector<TargetFormat>& target_formats();

/// The files of a converted data set. A path is empty if the format has no such file.
struct ConvertedFiles {
  fs::path data;
  fs::path names;          ///< FILE.names: lines `feature|label TAB number TAB name`, escaped as in models
  fs::path template_file;  ///< FILE.template of crf++ and crfsparse
};

/// Returns the names of the files that convert() writes.
ConvertedFiles converted_files(const std::string& target, const fs::path& file);
/// Writes the training set to `file`, and the format's other files beside it. The features of a position are
/// in ascending order, so reading crfsuite data back gives every name the same number. Names of features (or
/// labels) that are already numbers are kept. Throws Error (kInput) if the format cannot express the data,
/// and then leaves no file.
ConvertedFiles convert(const Dataset& data, const std::string& target, const fs::path& file);

}  // namespace proxbench
