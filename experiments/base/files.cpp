#include "experiments/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <list>
#include <sstream>
#include <system_error>

#include "core/base/error.h"

namespace proxbench {
namespace {
bool writes = true;
}

void write_no_files() {
  writes = false;
}

bool writes_files() {
  return writes;
}

std::string shown_name(const std::string& path) {
  return path == kStandardStream ? "standard input" : path;
}

void finish_standard_output() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return;
  const std::string why = errno != 0 ? ": " + std::generic_category().message(errno) : "";
  throw Error("standard output: cannot be written" + why + "; what was printed is not complete");
}

FileWriter::FileWriter(const fs::path& file) : file_(file) {
  if (!writes) return;
  const bool standard = file == kStandardStream;
  std::error_code ignored;  // a file that does not exist is neither a device nor a link
  // A device or pipe (/dev/stdout) cannot be replaced by a rename. A link must keep its target.
  const bool special = standard || (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored));
  target_ = fs::is_symlink(file, ignored) ? fs::weakly_canonical(file, ignored) : file;
  if (!special) temporary_ = temporary_name(target_);
  descriptor_ = standard ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                         : ::open((special ? file_ : temporary_).c_str(),
                                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("open");
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileWriter::fail(const char* what) const {
  const std::string why = errno == ENOENT ? "there is no folder " + target_.parent_path().string()
                                          : std::string(what) + ": " + std::generic_category().message(errno);
  throw Error(file_.string() + ": cannot be written: " + why);
}

bool FileWriter::awaited() const {
  struct stat status {};
  return descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && !S_ISREG(status.st_mode);
}

void FileWriter::write(std::string_view text) {
  while (descriptor_ >= 0 && !text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail("write");
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileWriter::sync() {
  // Without fsync() a full disk may be noticed only after the rename.
  if (!direct() && ::fsync(descriptor_) != 0) fail("fsync");
}

void FileWriter::finish() {
  if (direct()) return;
  sync();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename");
  temporary_.clear();
}

void write_file_atomically(const fs::path& file, const std::string& text) {
  FileWriter out(file);
  out.write(text);
  out.finish();
}

void write_files_together(const NamedTexts& files) {
  std::list<FileWriter> writers;
  for (const auto& [file, text] : files) writers.emplace_back(file);
  for (const bool direct : {false, true}) {
    auto writer = writers.begin();
    for (const auto& [file, text] : files) {
      if (writer->direct() == direct) {
        writer->write(text);
        writer->sync();
      }
      ++writer;
    }
  }
  for (FileWriter& writer : writers) writer.finish();
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw Error(folder.string() + ": cannot be made: " + failure.message());
}

fs::path temporary_name(const fs::path& target) {
  return target.parent_path() / fmt::format(".{}.tmp-{}", target.filename().string(), getpid());
}

ScratchFolder::ScratchFolder(fs::path folder) : path(std::move(folder)) {
  make_folder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a leftover folder does no harm
  fs::remove_all(path, ignored);
}

std::string file_name_part(const std::string& text) {
  std::string out = text;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("-_.+").find(c) == std::string::npos)
      c = '_';
  return out;
}

std::string read_file(const fs::path& file, const std::string& expected) {
  if (file == kStandardStream) return read_file("/dev/stdin", expected);
  std::error_code ignored;  // a file that cannot be examined cannot be opened either
  const bool folder = fs::is_directory(file, ignored);
  if (folder || !std::ifstream(file))
    throw Error::in_file(file.string(), 0, folder ? "a directory" : "no readable file", expected);
  return text_of(file);
}

nlohmann::json read_json(const fs::path& file, const std::string& expected) {
  const std::string text = read_file(file, expected);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    throw Error::in_file(file.string(), static_cast<std::uint64_t>(line), "text that is no JSON", expected);
  }
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_json(const fs::path& file, const nlohmann::ordered_json& json) {
  write_file_atomically(file, json_text(json));
}

}  // namespace proxbench
