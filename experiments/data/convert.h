#pragma once
/// Data sets as the input files of other trainers.

#include <filesystem>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace proxbench {

/// A format that data can be converted to.
struct TargetFormat {
  std::string name, help;
  bool numbered;  ///< its features are numbers, and libsvm's labels too: a file says what they stand for
};
/// crfsuite, wapiti, crf++, crfsparse, libsvm.
const std::vector<TargetFormat>& target_formats();

/// The files of a converted data set; empty: the format has none.
struct ConvertedFiles {
  std::filesystem::path data;
  std::filesystem::path
      names;  ///< FILE.names: lines `feature|label TAB number TAB name`, escaped as in models
  std::filesystem::path template_file;  ///< FILE.template of crf++ and crfsparse
};

/// Writes the training set to `file`, and beside it what else the format needs. Features of a position are in
/// ascending order, so that reading crfsuite data back gives every name its number again. Numbers that are
/// the names of features (or labels) already are kept. Throws Error (kInput), which says what the format
/// cannot hold, and leaves no file then.
ConvertedFiles convert(const Dataset& data, const std::string& target, const std::filesystem::path& file);

}  // namespace proxbench
