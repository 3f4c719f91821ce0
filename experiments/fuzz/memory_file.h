#pragma once
/// Files in memory, for readers that take file names.

#include <string>
#include <string_view>

namespace proxbench {

/// A file with the given content, at a path in /proc/self/fd. It disappears with the object.
class MemoryFile {
 public:
  /// Throws std::system_error if the system cannot make such a file.
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace proxbench
