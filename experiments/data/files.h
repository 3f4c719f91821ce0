#pragma once
/// Code that all data formats share: readers that check the given files, the parts of files that several
/// processes read, descriptions, the last steps of reading, and checks of the data.

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
/// Does the same for a `read` that takes processes: info.read passes null, and info.read_share passes the
/// processes that share the files. If a training file is compressed, info.read_share passes null too, and
/// each process reads everything. Sets info.streams to true, so `read` must call read_sequences().
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

/// Throws Error with the format, the set and the fault. Checks the boundaries of instances, gold outputs, X,
/// vocabulary and hierarchy of each set, and that the test set fits the training set. A test set without
/// positions counts as none.
void check_data(const DataPair& data, const std::string& format);

/// Returns why the labels of a checked training set may be wrong: the set has only one label, or more than
/// half as many labels as positions. Empty if neither is the case.
std::string label_doubt(const Dataset& train);

/// If the file lacks a mark of `format` in its first lines and looks like another format, says which, e.g.
/// "`--format conll`"; otherwise "". `waiting` are the first lines of a file that can be read only once, such
/// as a pipe. Throws Error (kInput) if the file lacks something that its format needs, even though its reader
/// would accept it: a crfsuite file needs a TAB, unless its lines are only labels without blanks. Also throws
/// what LineReader throws.
std::string other_format(const std::string& format, const std::string& file, const std::string& waiting = "");

/// Returns the format that the first lines of the file look like. `waiting` are those of a file that can be
/// read only once. Throws Error (kUsage) if no format fits, or if the file is packed.
std::string guessed_format(const std::string& file, const std::string& waiting = "");

/// Throws Error (kInput) if the contents of training files, test files, the hierarchy, or files that options
/// name differ between processes.
void require_same_files(const DataFiles& files, const Options& options, const Processes& processes);

/// Returns the parts of the training files that this process reads, after require_same_files(). All processes
/// read about the same number of bytes, in order. No file may be compressed. Without processes, returns all
/// files.
std::vector<FilePart> own_parts(const DataFiles& files, const Options& options, const Processes* processes,
                                FileRecords records = FileRecords::kUpToBlankLine);

/// Returns 0, 1, ..., count - 1.
std::vector<Index> first_indices(std::size_t count);

}  // namespace proxbench
