#include "experiments/bench/perf_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/line_reader.h"

namespace proxbench {
namespace {

/// Calls take(kernel, text) for the lines "kernel TAB text"; take() returns false where the text is no
/// number.
template <class Take>
void read_lines(const std::filesystem::path& file, const Take& take) {
  LineReader in(file.string());
  std::string_view line;
  while (in.next(line)) {
    const std::size_t tab = line.find('\t');
    if (tab == line.npos || !take(std::string(line.substr(0, tab)), line.substr(tab + 1)))
      in.fail(in_quotes(line), "kernel TAB number");
  }
}

const char* verdict_text(PerfVerdict verdict) {
  switch (verdict) {
    case PerfVerdict::kWithin:
      return "within";
    case PerfVerdict::kOver:
      return "OVER";
    case PerfVerdict::kUnder:
      return "under: the budget can be lowered";
    case PerfVerdict::kNotBudgeted:
      return "NO BUDGET";
    case PerfVerdict::kNotCounted:
      return "GONE";
  }
  return "";
}

bool is_failure(PerfVerdict verdict) {
  return verdict != PerfVerdict::kWithin && verdict != PerfVerdict::kUnder;
}

PerfVerdict verdict_of(std::uint64_t budget, std::uint64_t counted, double tolerance) {
  const double change = static_cast<double>(counted) - static_cast<double>(budget);
  const double allowed = tolerance * static_cast<double>(budget);
  if (change > allowed) return PerfVerdict::kOver;
  return change < -allowed ? PerfVerdict::kUnder : PerfVerdict::kWithin;
}

}  // namespace

PerfBudget read_perf_budget(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw Error::in_file(file.string(), 0, "no readable file", "a budget");
  try {
    const nlohmann::json json = nlohmann::json::parse(in);
    PerfBudget budget;
    json.at("tolerance").get_to(budget.tolerance);
    json.at("made_with").get_to(budget.counts.made_with);
    json.at("instructions").get_to(budget.counts.instructions);
    return budget;
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, std::string("no budget (") + error.what() + ")",
                         "JSON with tolerance, made_with and instructions");
  }
}

std::map<std::string, std::uint64_t> read_perf_counts(const std::filesystem::path& file) {
  std::map<std::string, std::uint64_t> out;
  read_lines(file, [&](const std::string& kernel, std::string_view text) {
    std::int64_t count = 0;
    if (!parse_integer(text, count) || count <= 0) return false;
    out[kernel] = static_cast<std::uint64_t>(count);
    return true;
  });
  return out;
}

std::map<std::string, double> read_perf_times(const std::filesystem::path& file) {
  std::map<std::string, double> out;
  read_lines(file,
             [&](const std::string& kernel, std::string_view text) { return parse_real(text, out[kernel]); });
  return out;
}

std::string perf_budget_text(const PerfBudget& budget) {
  const nlohmann::ordered_json json = {{"tolerance", budget.tolerance},
                                       {"made_with", budget.counts.made_with},
                                       {"instructions", budget.counts.instructions}};
  return json.dump(2) + "\n";
}

bool PerfJudgement::failed() const {
  return differences.empty() &&
         std::any_of(rows.begin(), rows.end(), [](const PerfRow& row) { return is_failure(row.verdict); });
}

PerfJudgement judge(const PerfBudget& budget, const PerfCounts& counts) {
  PerfJudgement out;
  std::set<std::string> keys, kernels;
  for (const PerfCounts* one : {&budget.counts, &counts}) {
    for (const auto& [key, value] : one->made_with) keys.insert(key);
    for (const auto& [kernel, count] : one->instructions) kernels.insert(kernel);
  }
  const auto text = [](const PerfCounts& of, const std::string& key) {
    const auto at = of.made_with.find(key);
    return at == of.made_with.end() ? std::string("nothing") : at->second;
  };
  for (const std::string& key : keys)
    if (text(budget.counts, key) != text(counts, key))
      out.differences.push_back(
          fmt::format("{}: found {}, the budget has {}", key, text(counts, key), text(budget.counts, key)));

  const auto count = [](const PerfCounts& of, const std::string& kernel) {
    const auto at = of.instructions.find(kernel);
    return at == of.instructions.end() ? 0 : at->second;
  };
  for (const std::string& kernel : kernels) {
    const std::uint64_t allowed = count(budget.counts, kernel), counted = count(counts, kernel);
    PerfVerdict verdict = verdict_of(allowed, counted, budget.tolerance);
    if (allowed == 0) verdict = PerfVerdict::kNotBudgeted;
    if (counted == 0) verdict = PerfVerdict::kNotCounted;
    out.rows.push_back({kernel, allowed, counted, verdict});
  }
  return out;
}

std::string judgement_text(const PerfJudgement& judgement, double tolerance,
                           const std::map<std::string, double>& milliseconds) {
  std::string out = fmt::format("{:<28} {:>13} {:>13} {:>8} {:>11}  {}\n", "kernel", "budget", "counted",
                                "change", "native, ms", "verdict");
  for (const PerfRow& row : judgement.rows) {
    const auto at = milliseconds.find(row.kernel);
    const bool both = row.budget > 0 && row.counted > 0;
    out += fmt::format("{:<28} {:>13} {:>13} {:>8} {:>11}  {}\n", row.kernel, row.budget, row.counted,
                       both ? fmt::format("{:+.2f} %", 100.0 * row.change()) : "",
                       at == milliseconds.end() ? "" : fmt::format("{:.3f}", at->second),
                       verdict_text(row.verdict));
  }
  out += fmt::format("instructions may differ by {} %; times are this machine's and are not judged\n",
                     100.0 * tolerance);
  for (const std::string& difference : judgement.differences)
    out += fmt::format("not judged, since the counts cannot be compared: {}\n", difference);
  return out;
}

}  // namespace proxbench
