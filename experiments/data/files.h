#pragma once
/// Code that all data formats share: readers that check the given files, descriptions, and the last steps of
/// reading.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/line_reader.h"
#include "experiments/data/readers.h"

namespace proxbench {

enum class HierarchyUse { kNone, kOptional, kRequired };

/// Returns the format with a reader that checks the files. It throws Error (kUsage) if there is no training
/// file, if it gets a hierarchy that the format cannot use, or if a required hierarchy is missing. If
/// info.needs_files is false, it throws if there are files.
DataFormatInfo with_reader(DataFormatInfo info, DataPair (*read)(const DataFiles&, const Options&));
/// For a `read` that can read a share of the files. info.read calls it with processes = null. info.read_share
/// calls it with the processes, or with null if a training file is compressed, since each process then reads
/// everything. Sets info.streams to true, so `read` must call read_sequences().
DataFormatInfo with_reader(DataFormatInfo info,
                           DataPair (*read)(const DataFiles&, const Options&, const Processes*),
                           HierarchyUse hierarchy = HierarchyUse::kNone);

/// File names without folders, e.g. "a.txt, b.txt". For texts that are shown on other machines.
std::string file_names(const std::vector<std::string>& paths);

/// Gives the data their X (one row per position), their vocabulary and their digest. Everything else must be
/// set before. `processes` share the rows.
void set_rows(Dataset& data, DesignMatrix::Builder&& rows, std::shared_ptr<const Vocabulary> vocabulary,
              const Processes* processes = nullptr);

/// Returns the lines of a file option (OptionSpec::file): of the file that it names, or of its own text.
LineReader option_lines(const Options& options, const std::string& name);

/// Returns the options for a model. Each file is replaced by its text, so the model needs no other file.
/// Throws Error (kInput) if a file cannot be read.
std::vector<std::pair<std::string, std::string>> options_with_texts(const Options& options);

/// Returns 0, 1, ..., count - 1.
std::vector<Index> first_indices(std::size_t count);

}  // namespace proxbench
