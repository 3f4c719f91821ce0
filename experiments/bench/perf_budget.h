#pragma once
/// The number of instructions that each kernel may take: where it is kept, and what exceeds it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "experiments/base/json_members.h"

namespace proxbench {

/// Instructions by kernel, and what they were counted with: "compiler" -> "GCC 12.2.0", ... Another compiler
/// makes other instructions of the same source, so counts are compared only where all of it is the same.
struct PerfCounts {
  std::map<std::string, std::string> made_with;
  std::map<std::string, std::int64_t> instructions;

  static auto members() {
    return std::tuple(std::pair("made_with", &PerfCounts::made_with),
                      std::pair("instructions", &PerfCounts::instructions));
  }
};

/// A budget as JSON. Throws Error (kInput) where the file cannot be read or does not hold one.
PerfCounts read_perf_budget(const std::filesystem::path& file);
/// Lines "kernel TAB number", positive numbers. Throws Error (kInput) with the line otherwise.
std::map<std::string, std::int64_t> read_perf_numbers(const std::filesystem::path& file);

struct PerfJudgement {
  std::string text;  ///< a table for people
  /// A kernel is over its budget, has none or is gone, and the counts can be compared.
  bool failed = false;
};
PerfJudgement judge(const PerfCounts& budget, const PerfCounts& counts);

}  // namespace proxbench
