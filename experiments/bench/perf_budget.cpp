#include "experiments/bench/perf_budget.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "experiments/base/files.h"

namespace proxbench {
namespace {

/// The relative tolerance of a kernel's count.
constexpr double kTolerance = 0.02;

}  // namespace

PerfCounts read_perf_budget(const fs::path& file) {
  constexpr const char* kExpected = "JSON with made_with and instructions";
  try {
    return read_json(file, kExpected).get<PerfCounts>();
  } catch (const std::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), kExpected);
  }
}

PerfJudgement judge(const PerfCounts& budget, const PerfCounts& counts) {
  constexpr const char* kRow = "{:<28} {:>13} {:>13} {:>8}  {}\n";
  PerfJudgement out;
  out.text = fmt::format(kRow, "kernel", "budget", "counted", "change", "verdict");
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> kernels;  // allowed and counted; 0: missing
  for (const auto& [kernel, count] : budget.instructions) kernels[kernel].first = count;
  for (const auto& [kernel, count] : counts.instructions) kernels[kernel].second = count;
  for (const auto& [kernel, both] : kernels) {
    const auto [allowed, counted] = both;
    const double change = static_cast<double>(counted - allowed) / static_cast<double>(allowed);
    const char* verdict = counted == 0           ? "GONE"
                          : allowed == 0         ? "NO BUDGET"
                          : change > kTolerance  ? "OVER"
                          : change < -kTolerance ? "under: the budget can be lowered"
                                                 : "within";
    out.failed = out.failed || counted == 0 || allowed == 0 || change > kTolerance;
    out.text +=
        fmt::format(kRow, kernel, allowed, counted,
                    allowed > 0 && counted > 0 ? fmt::format("{:+.2f} %", 100.0 * change) : "", verdict);
  }
  out.text += fmt::format("instructions may differ by {} %\n", 100.0 * kTolerance);
  for (const auto& [what, found] : counts.made_with)
    if (const auto known = budget.made_with.find(what);
        known == budget.made_with.end() || known->second != found) {
      out.failed = false;
      out.text +=
          fmt::format("not judged, since the counts cannot be compared: {}: found {}, the budget has {}\n",
                      what, found, known == budget.made_with.end() ? "none" : known->second);
    }
  return out;
}

}  // namespace proxbench
