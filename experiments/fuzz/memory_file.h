#pragma once
/// Files that live in memory, for readers that take names.

#include <string>
#include <string_view>

namespace proxbench {

/// A file with the given content, below /proc/self/fd; gone with the object.
class MemoryFile {
 public:
  /// Throws std::system_error where the system gives no such file.
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace proxbench
