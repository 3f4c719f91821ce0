#include "experiments/fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace proxbench {
namespace {

/// Does not throw proxbench::Error, which a fuzzer would take for bad input.
[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

MemoryFile::MemoryFile(std::string_view content) : descriptor_(memfd_create("proxbench", MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail("memfd_create");
  while (!content.empty()) {
    const ssize_t written = write(descriptor_, content.data(), content.size());
    if (written < 0) fail("write to a file in memory");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace proxbench
