#include "experiments/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace proxbench {

std::shared_ptr<const MappedFile> MappedFile::open(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat status {};
  void* at = MAP_FAILED;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    at = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
  ::close(descriptor);
  if (at == MAP_FAILED) return nullptr;
  return std::shared_ptr<const MappedFile>(
      new MappedFile({static_cast<const char*>(at), static_cast<std::size_t>(status.st_size)}));
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace proxbench
