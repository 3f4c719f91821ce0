#pragma once
/// For tests: small files, and the texts of errors.

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"

namespace proxbench {

/// A file with the given content. It is removed at the end.
class TempFile {
 public:
  explicit TempFile(const std::string& content, const std::string& name = "data.txt")
      : path_(unique_path(name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

  static std::string unique_path(const std::string& name) {
    static std::atomic<int> count{0};
    return testing::TempDir() + "proxbench_" + std::to_string(getpid()) + "_" + std::to_string(count++) +
           "_" + name;
  }

 private:
  std::string path_;
};

/// The content compressed as a gzip file.
inline std::string gzipped(const std::string& content) {
  const std::string path = TempFile::unique_path("gzipped");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  std::string out{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::filesystem::remove(path);
  return out;
}

/// The message of the Error that f throws, which must be of the given kind; "no error" if it throws none.
template <class F>
std::string error_of(F&& f, ErrorKind kind = ErrorKind::kInput) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  return "no error";
}

}  // namespace proxbench
