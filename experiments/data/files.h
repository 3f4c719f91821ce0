#pragma once
/// What all data formats share: their readers with checks of the given files, descriptions, the end of
/// reading.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/data/dataset.h"
#include "experiments/base/line_reader.h"
#include "experiments/config/data_format.h"

namespace proxbench {

enum class HierarchyUse { kNone, kOptional, kRequired };

/// Sets info.read to a reader of the files. Throws Error (kUsage) where there is no training file, or a
/// hierarchy that the format cannot use, or none where it needs one; with info.needs_files = false where
/// there are files.
void set_reader(DataFormatInfo& info, DataPair (*read)(const DataFiles& files, const Options& options),
                HierarchyUse hierarchy = HierarchyUse::kNone);
/// The same with no processes, and info.read_share to the same function, which reads by read_sequences():
/// info.streams is true.
void set_reader(DataFormatInfo& info,
                DataPair (*read)(const DataFiles& files, const Options& options, const Processes* processes),
                HierarchyUse hierarchy = HierarchyUse::kNone);

/// "a.txt, b.txt": names without folders, for texts that are shown far from this machine.
std::string file_names(const std::vector<std::string>& paths);

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
