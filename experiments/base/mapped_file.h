#pragma once
/// A file as read-only memory.

#include <memory>
#include <string_view>

#include "experiments/base/paths.h"

namespace proxbench {

class MappedFile {
 public:
  /// Null if the path is no regular file, or an empty or unreadable one.
  static std::shared_ptr<const MappedFile> open(const fs::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Begin at a multiple of 4096 in memory. The file must not be changed in place as long as this lives.
  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace proxbench
