#pragma once
/// What all data formats share: checks of the given files, descriptions, the end of reading.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/data/dataset.h"
#include "experiments/base/line_reader.h"
#include "experiments/config/data_format.h"

namespace proxbench {

enum class HierarchyUse { kNone, kRequired };

/// Throws Error (kUsage) where `files` has no training file, a hierarchy that the format cannot use, or lacks
/// one that it needs.
void require_training_files(const DataFiles& files, const std::string& format,
                            HierarchyUse hierarchy = HierarchyUse::kNone);

/// Throws Error (kUsage) where files are given to a format that generates its data.
void require_no_files(const DataFiles& files, const std::string& format);

/// "a.txt, b.txt": names without folders, for texts that are shown far from this machine.
std::string file_names(const std::vector<std::string>& paths);

/// Describes each set by the names of its files and its text: "a.txt, b.txt: TEXT".
void describe(const DataFiles& files, DataPair& data, const std::function<std::string(const Dataset&)>& text);

/// Gives the data their X, one row for each position, their vocabulary and their digest. What else they hold
/// is there already. `processes`: those that share the rows.
void set_rows(Dataset& data, DesignMatrix::Builder&& rows, std::shared_ptr<const Vocabulary> vocabulary,
              const Processes* processes = nullptr);

/// The lines of a file option (OptionSpec::file): of the file that it names, or of the text that it is.
LineReader option_lines(const Options& options, const std::string& name);

/// The options as a model keeps them: in place of each file its text, so that the model needs no other file.
/// Throws Error (kInput) where a file cannot be read.
std::vector<std::pair<std::string, std::string>> options_with_texts(const Options& options);

}  // namespace proxbench
