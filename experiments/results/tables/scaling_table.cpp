#include "experiments/results/tables/scaling_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace proxbench {
namespace {

/// The largest number of thread counts that a table has columns for.
constexpr std::size_t kMostColumns = 6;

/// Returns indices of `threads` behind the first: all, or the powers of two and the last if they are too
/// many.
std::vector<std::size_t> thread_columns(const std::vector<int>& threads) {
  std::vector<std::size_t> out;
  for (std::size_t t = 1; t < threads.size(); ++t)
    if (threads.size() <= kMostColumns + 1 || (threads[t] & (threads[t] - 1)) == 0 || t + 1 == threads.size())
      out.push_back(t);
  if (out.size() > kMostColumns)
    out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(kMostColumns));
  return out;
}

std::string rate_cell(const PhaseScaling& row, double amount) {
  if (row.phase == kTotal || !(amount > 0.0) || !(row.one.seconds > 0.0)) return "-";
  return fixed_cell(amount / row.one.seconds / 1e9, 2);
}

std::string percent_cell(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100.0 * share);
}

TextTable measured_table(const ScalingProblem& problem) {
  const Run& first = problem.first();
  const RunParameters& run = first.parameters;
  TextTable table{.caption = fmt::format("{} ({}), lambda = {}, {}: {} iterations ({}), {} nonzeros",
                                         run.dataset, first.result.description, run.lambda, run.label,
                                         first.result.iterations.value_or(0), first.status(),
                                         first.result.certificate.nnz),
                  .notes = {},
                  .head = {"back end", "phase", "calls", "s, 1 thread", "GB/s", "GFlop/s", "outside loops"},
                  .text_columns = 2,
                  .rows = {}};
  const std::vector<std::size_t> columns = thread_columns(problem.threads);
  for (const std::size_t t : columns) table.head.push_back(fmt::format("speed-up at {}", problem.threads[t]));
  if (!columns.empty()) table.head.push_back(fmt::format("efficiency at {}", problem.threads.back()));
  table.head.push_back("serial, Amdahl's fit");
  int repetitions = 0;
  for (const PhaseScaling& row : problem.rows) {
    repetitions = row.seconds.front().n;
    std::vector<std::string> cells{row.backend,
                                   row.phase,
                                   row.one.calls > 0 ? std::to_string(row.one.calls) : "-",
                                   fmt::format("{:.4g}", row.one.seconds),
                                   rate_cell(row, row.one.bytes),
                                   rate_cell(row, row.one.flops),
                                   percent_cell(row.outside_loops())};
    for (const std::size_t t : columns) cells.push_back(fixed_cell(row.speedup[t], 2));
    if (!columns.empty()) cells.push_back(percent_cell(row.efficiency.back()));
    cells.push_back(percent_cell(row.serial_fraction));
    table.rows.push_back(std::move(cells));
  }
  table.footnotes = {fmt::format(
      "{}; GB/s and GFlop/s at 1 thread, by definition of the work.",
      repetitions == 1 ? "One repetition" : fmt::format("Medians over {} repetitions", repetitions))};
  if (problem.oversubscribed())
    table.footnotes.push_back(
        fmt::format("Oversubscribed: more than {0} threads shared {0} CPUs; they say nothing of more cores.",
                    problem.cpus()));
  return table;
}

TextTable model_table(const ScalingProblem& problem, const std::vector<int>& predicted,
                      const Network& network) {
  TextTable table{.caption = "Model of " + problem.name(),
                  .notes = {},
                  .head = {"back end", "phase", "sums", "their MB"},
                  .text_columns = 2,
                  .rows = {}};
  for (const int p : predicted) table.head.push_back(fmt::format("speed-up at {}", p));
  const auto add = [&](const std::string& backend, const std::string& measured) {
    const auto seconds = [&](const PhaseScaling& row, int p) {
      return backend == kProcessesBackend ? predicted_by_processes(row, network, p)
                                          : predicted_by_threads(row, p);
    };
    for (const PhaseScaling& row : problem.rows) {
      if (row.backend != measured) continue;
      std::vector<std::string> cells{backend, row.phase, std::to_string(row.one.sums),
                                     fmt::format("{:.4g}", row.one.sum_bytes / 1e6)};
      for (const int p : predicted) {
        double sum = 0.0;
        for (const PhaseScaling& part : problem.rows)
          if (part.backend == measured && (row.phase == kTotal ? part.phase != kTotal : &part == &row))
            sum += seconds(part, p);
        cells.push_back(fixed_cell(row.one.seconds / sum, 1));
      }
      table.rows.push_back(std::move(cells));
    }
  };
  for (const std::string& backend : problem.backends) add(backend, backend);
  // One process of one thread is the same run on any back end.
  if (std::ranges::find(problem.backends, kProcessesBackend) == problem.backends.end())
    add(kProcessesBackend, problem.backends.front());
  table.footnotes = {fmt::format(
      "A model, no measurement: threads by Amdahl's law; processes of one thread share all but the solver, "
      "and a message between them takes {:g} us and 1 s for {:g} GB.",
      1e6 * network.latency, network.bandwidth / 1e9)};
  return table;
}

}  // namespace

std::vector<TextTable> scaling_tables(const std::vector<ScalingProblem>& problems,
                                      const std::vector<int>& predicted, const Network& network) {
  std::vector<TextTable> out;
  for (const ScalingProblem& problem : problems) {
    out.push_back(measured_table(problem));
    out.push_back(model_table(problem, predicted, network));
  }
  return out;
}

std::vector<nlohmann::ordered_json> scaling_records(const std::vector<ScalingProblem>& problems) {
  std::vector<nlohmann::ordered_json> out;
  for (const ScalingProblem& problem : problems)
    for (const PhaseScaling& row : problem.rows)
      for (std::size_t t = 0; t < problem.threads.size(); ++t)
        out.push_back({{"dataset", dataset_of(problem.first())},
                       {"lambda", problem.first().parameters.lambda},
                       {"label", label_of(problem.first())},
                       {"backend", row.backend},
                       {"phase", row.phase},
                       {"threads", problem.threads[t]},
                       {"repetitions", row.seconds[t].n},
                       {"seconds", row.seconds[t].median},
                       {"seconds_q25", row.seconds[t].q25},
                       {"seconds_q75", row.seconds[t].q75},
                       {"speedup", row.speedup[t]},
                       {"efficiency", row.efficiency[t]},
                       {"calls", row.one.calls},
                       {"flops", row.one.flops},
                       {"bytes", row.one.bytes},
                       {"sums", row.one.sums},
                       {"sum_bytes", row.one.sum_bytes},
                       {"outside_loops", row.outside_loops()},
                       {"serial_fraction", row.serial_fraction}});
  return out;
}

}  // namespace proxbench
