#pragma once
/// The memory of this machine.

#include <unistd.h>

namespace proxbench {

inline constexpr double kGigabyte = 1e9;

/// Bytes of main memory.
inline double machine_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace proxbench
