#pragma once
/// The budget of instructions of each kernel: reads it, and finds kernels that exceed it.

#include <cstdint>
#include <map>
#include <string>

#include "experiments/base/json_values.h"
#include "experiments/base/paths.h"

namespace proxbench {

/// Instructions by kernel, and the tools that they were counted with: "compiler" -> "GCC 12.2.0", ... Another
/// compiler generates other instructions from the same source, so counts are compared only if all tools are
/// the same.
struct PerfCounts {
  std::map<std::string, std::string> made_with;
  std::map<std::string, std::int64_t> instructions;

  static const Schema<PerfCounts>& schema() {
    static const Schema<PerfCounts> rows(
        {row(&PerfCounts::made_with, "made_with"), row(&PerfCounts::instructions, "instructions")});
    return rows;
  }
};

/// Reads a budget from JSON. Throws Error (kInput) if the file cannot be read or is no budget.
PerfCounts read_perf_budget(const fs::path& file);

struct PerfJudgement {
  std::string text;  ///< a table for the user
  /// True if the counts can be compared, and a kernel exceeds its budget, has none, or is missing.
  bool failed = false;
};
PerfJudgement judge(const PerfCounts& budget, const PerfCounts& counts);

}  // namespace proxbench
