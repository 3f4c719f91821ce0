#pragma once
/// Files as whole texts and JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "experiments/base/paths.h"

namespace proxbench {

/// After this call, the functions here write nothing. For a process whose results another process writes.
void write_no_files();
bool writes_files();

/// The file name that stands for standard input or output.
inline constexpr const char* kStandardStream = "-";
/// The name of an input file in messages: "standard input" for "-", otherwise the path.
std::string shown_name(const std::string& path);

/// Writes a file piece by piece under a temporary name, and renames it at the end. A device, a pipe or
/// standard output gets each piece at once. All methods throw Error with the name of the file.
class FileWriter {
 public:
  explicit FileWriter(const fs::path& file);
  /// Removes the temporary file, unless finish() was called.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view text);
  /// Ensures that the disk has all of the text, as finish() does.
  void sync();
  void finish();
  /// Whether each piece goes to its place at once: there is no temporary file.
  bool direct() const { return temporary_.empty(); }
  /// Whether a reader may be waiting: the text goes to a pipe, a terminal or another device.
  bool awaited() const;

 private:
  [[noreturn]] void fail(const char* what) const;

  fs::path file_, target_, temporary_;
  int descriptor_ = -1;  ///< -1: nothing is written
};

/// Flushes standard output. Throws Error if any printed text could not be written, for example because the
/// disk is full.
void finish_standard_output();

/// Writes the whole text with a FileWriter.
void write_file_atomically(const fs::path& file, const std::string& text);
using NamedTexts = std::vector<std::pair<fs::path, std::string>>;
/// Writes several files, or none of them if one cannot be written. Devices, pipes and standard output, which
/// cannot be taken back, come last.
void write_files_together(const NamedTexts& files);
/// Makes the folder and its parents if they are missing. Throws Error with the name of the folder if this
/// fails.
void make_folder(const fs::path& folder);

/// Returns the name under which a file or folder is made before it is renamed: beside it, hidden, with the
/// number of this process.
fs::path temporary_name(const fs::path& target);
/// Makes the text fit for a file name: characters that may be special there become "_".
std::string file_name_part(const std::string& text);

/// Returns all bytes of the file, or of standard input. Throws Error (kInput) if it cannot be read; the
/// message says that `expected` was expected.
std::string read_file(const fs::path& file, const std::string& expected);

/// Throws Error (kInput) with the line if the file cannot be read or is not JSON.
nlohmann::json read_json(const fs::path& file, const std::string& expected);

/// Makes a folder if it is missing, and removes it with its contents at the end. Throws Error if it cannot be
/// made.
struct ScratchFolder {
  explicit ScratchFolder(fs::path folder);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path path;
};

/// Returns an empty text if the file cannot be read.
std::string text_of(const fs::path& file);

/// Indented JSON with a line break at the end. Bytes that are not UTF-8 become replacement characters.
std::string json_text(const nlohmann::ordered_json& json);
/// Writes json_text() with write_file_atomically(). Throws Error if it cannot be written.
void write_json(const fs::path& file, const nlohmann::ordered_json& json);

}  // namespace proxbench
