#include "experiments/base/waiting_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "experiments/base/files.h"

namespace proxbench {
namespace {

/// Reads the bytes that wait in the pipe without removing them: tee() copies them to a second pipe. Returns
/// their number, or -1.
ssize_t copy_waiting(int pipe, char* to, std::size_t size) {
  int copy[2];
  if (::pipe2(copy, O_CLOEXEC) != 0) return -1;
  ssize_t copied = ::tee(pipe, copy[1], size, 0);
  if (copied > 0) copied = ::read(copy[0], to, static_cast<std::size_t>(copied));
  for (const int end : copy) ::close(end);
  return copied;
}

}  // namespace

WaitingText::WaitingText(const std::string& path)
    : descriptor_(path == kStandardStream ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  constexpr std::size_t kCapacity = 1 << 16;  // of a pipe
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return;
  const bool pipe = S_ISFIFO(status.st_mode);
  if (!pipe && !(path == kStandardStream && S_ISREG(status.st_mode))) return;
  text_.resize(kCapacity);
  const ssize_t size = pipe
                           ? copy_waiting(descriptor_, text_.data(), kCapacity)
                           : ::pread(descriptor_, text_.data(), kCapacity, ::lseek(descriptor_, 0, SEEK_CUR));
  text_.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  text_.erase(text_.rfind('\n') + 1);  // without a line end, this erases everything
}

WaitingText::~WaitingText() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace proxbench
