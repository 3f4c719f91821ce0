#pragma once
/// Checks and texts that all data formats share.

#include <string>
#include <utility>
#include <vector>

#include "experiments/base/line_reader.h"
#include "experiments/config/data_format.h"

namespace proxbench {

enum class HierarchyUse { kNone, kRequired };

/// Throws Error (kUsage) where `files` has no training file, a hierarchy that the format cannot use, or lacks
/// one that it needs.
void require_training_files(const DataFiles& files, const std::string& format,
                            HierarchyUse hierarchy = HierarchyUse::kNone);

/// "a.txt, b.txt": names without folders, for texts that are shown far from this machine.
std::string file_names(const std::vector<std::string>& paths);

/// The lines of a file option (OptionSpec::file): of the file that it names, or of the text that it is.
LineReader option_lines(const Options& options, const std::string& name);

/// The options as a model keeps them: in place of each file its text, so that the model needs no other file.
/// Throws Error (kInput) where a file cannot be read.
std::vector<std::pair<std::string, std::string>> options_with_texts(const Options& options);

}  // namespace proxbench
