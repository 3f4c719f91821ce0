#pragma once
/// The number of instructions that each kernel may take: where it is kept, and what exceeds it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace proxbench {

/// Instructions by kernel, and what they were counted with: "compiler" -> "GCC 12.2.0", ... Another compiler
/// makes other instructions of the same source, so counts are compared only where all of it is the same.
struct PerfCounts {
  std::map<std::string, std::string> made_with;
  std::map<std::string, std::uint64_t> instructions;
};

struct PerfBudget {
  PerfCounts counts;
  double tolerance = 0.02;  ///< the share of a kernel's instructions by which it may differ
};

/// Throw Error (kInput) where the file cannot be read or does not hold a budget, or counts.
PerfBudget read_perf_budget(const std::filesystem::path& file);
/// Lines "kernel TAB instructions".
std::map<std::string, std::uint64_t> read_perf_counts(const std::filesystem::path& file);
/// Lines "kernel TAB milliseconds".
std::map<std::string, double> read_perf_times(const std::filesystem::path& file);

/// JSON that read_perf_budget() reads.
std::string perf_budget_text(const PerfBudget& budget);

enum class PerfVerdict {
  kWithin,
  kOver,   ///< by more than the tolerance
  kUnder,  ///< by more than the tolerance: the budget can be lowered
  kNotBudgeted,
  kNotCounted  ///< in the budget, but there is no such kernel any more
};

struct PerfRow {
  std::string kernel;
  std::uint64_t budget, counted;  ///< 0 where there is none
  PerfVerdict verdict;
  /// counted / budget - 1; only where there are both.
  double change() const { return static_cast<double>(counted) / static_cast<double>(budget) - 1.0; }
};

struct PerfJudgement {
  std::vector<PerfRow> rows;  ///< by name
  /// "compiler: found GCC 13.1.0, the budget has GCC 12.2.0", ...; where there is one, nothing can fail.
  std::vector<std::string> differences;
  /// A kernel is over its budget, has none or is gone, and the counts can be compared.
  bool failed() const;
};

PerfJudgement judge(const PerfBudget& budget, const PerfCounts& counts);

/// The table for people. `milliseconds`: wall times beside the counts, for information; may be empty.
std::string judgement_text(const PerfJudgement& judgement, double tolerance,
                           const std::map<std::string, double>& milliseconds);

}  // namespace proxbench
