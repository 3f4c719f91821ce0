#pragma once
/// The memory of this machine.

#include <unistd.h>

#include <string>

#include "core/base/error.h"

namespace proxbench {

inline constexpr double kGigabyte = 1e9;

/// Bytes of main memory.
inline double machine_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}
/// Bytes that this process can still get without swapping. That is what the system calls available, or what
/// the limit of the process's control group (a container, a job of a cluster) leaves if that is less.
double free_memory();

/// Something needs more memory than there is. Its message does not say what to do instead.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& message) : Error(message, ErrorKind::kUsage) {}
};

/// Throws MemoryError "WHAT take N GB, expected at most ..." if that is more than the limit. A limit of NaN
/// stands for free_memory().
void require_memory(double bytes, double limit_gigabytes, const std::string& what);

}  // namespace proxbench
