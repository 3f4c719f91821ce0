#include "core/base/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "core/base/numbers.h"

namespace proxbench {

namespace {

/// The number after `key` in a file of the system, or infinity.
double number_in(const char* file, const std::string& key) {
  std::ifstream in(file);
  std::string word;
  while (in >> word) {
    if (!key.empty() && word != key) continue;
    if (!key.empty()) in >> word;
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    return end == word.c_str() ? kInfinity : number;  // "max" means that there is no limit
  }
  return kInfinity;
}

}  // namespace

double free_memory() {
  constexpr double kKilobyte = 1024.0;
  const double available = kKilobyte * number_in("/proc/meminfo", "MemAvailable:");
  const double limit = number_in("/sys/fs/cgroup/memory.max", "");
  const double used = number_in("/sys/fs/cgroup/memory.current", "");
  const double left = std::isfinite(limit) && std::isfinite(used) ? std::max(limit - used, 0.0) : kInfinity;
  return std::min({machine_memory(), available, left});
}

void require_memory(double bytes, double limit_gigabytes, const std::string& what) {
  const bool free = std::isnan(limit_gigabytes);
  const double limit = free ? free_memory() : limit_gigabytes * kGigabyte;
  if (bytes <= limit) return;
  char text[120];
  if (free)
    std::snprintf(text, sizeof text,
                  " take %.3g GB, expected at most the %.3g GB free of this machine's %.3g",
                  bytes / kGigabyte, limit / kGigabyte, machine_memory() / kGigabyte);
  else
    std::snprintf(text, sizeof text, " take %.3g GB, expected at most memory_limit = %.3g GB",
                  bytes / kGigabyte, limit_gigabytes);
  throw MemoryError(what + text);
}

}  // namespace proxbench
