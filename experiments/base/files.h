#pragma once
/// Files as whole texts and JSON.

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace proxbench {

/// From now on nothing here writes: of a process that others speak for.
void write_no_files();
bool writes_files();

/// What stands for standard input or output in the place of a file's name.
inline constexpr const char* kStandardStream = "-";

/// A file that is written piece by piece under a temporary name, and takes its own at the end. What goes to a
/// device, a pipe or standard output is there at once. All methods throw Error naming the file.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& file);
  /// Without finish() nothing is left behind.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view text);
  void finish();
  /// Whether somebody may be waiting for what is written: it goes to a pipe, a terminal or another device.
  bool awaited() const;

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path file_, target_, temporary_;
  int descriptor_ = -1;  ///< -1: nothing is written
};

/// The whole text by way of a FileWriter.
void write_file_atomically(const std::filesystem::path& file, const std::string& text);
/// Makes the folder and those above it where they are missing; throws Error naming it when it cannot.
void make_folder(const std::filesystem::path& folder);

/// The text as part of a file name: what may be special in one becomes "_".
std::string file_name_part(const std::string& text);

/// All bytes of it, or of standard input. Throws Error (kInput), which says that `expected` was expected,
/// where it cannot be read.
std::string read_file(const std::filesystem::path& file, const std::string& expected);

/// Throws Error (kInput), with the line, where it cannot be read or is no JSON.
nlohmann::json read_json(const std::filesystem::path& file, const std::string& expected);

/// A folder that is made where it is missing, and goes away with its contents. Throws Error where it cannot
/// be made.
struct ScratchFolder {
  explicit ScratchFolder(std::filesystem::path folder);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path path;
};

/// Empty where the file cannot be read.
std::string text_of(const std::filesystem::path& file);

/// Indented, with a line break at the end; bytes that are no UTF-8 become replacement characters.
std::string json_text(const nlohmann::ordered_json& json);
/// The same by way of write_file_atomically(). Throws Error where it cannot be written.
void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json);

/// The number at a JSON pointer, e.g. "/timing/wall_seconds"; NaN where there is none.
template <class Json>
double number_at(const Json& json, const char* pointer) {
  const nlohmann::json::json_pointer at(pointer);
  const bool known = json.contains(at) && json.at(at).is_number();
  return known ? json.at(at).template get<double>() : std::numeric_limits<double>::quiet_NaN();
}
/// The reverse: null for what is not finite, which JSON does not have.
nlohmann::ordered_json number_json(double value);

}  // namespace proxbench
