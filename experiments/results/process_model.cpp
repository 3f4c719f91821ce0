#include "experiments/results/process_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/profile.h"
#include "core/linear_map.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

/// Bytes of a full gradient that are summed at a time.
constexpr double kPiece = LinearMap::kGradientsInPiece * sizeof(double);
constexpr double kMoreData = 100.0;

double seconds_of(const ScalingRun& run, const NetworkModel& network, int processes) {
  double sum = 0.0;
  for (const PhaseCost& phase : run.phases) sum += predict_processes(phase, network, processes);
  return sum;
}

}  // namespace

double predict_processes(const PhaseCost& one, const NetworkModel& network, int processes) {
  if (one.phase == phase_name(Phase::kSolver)) return one.seconds;
  if (processes == 1) return one.seconds * network.data;
  double chunks = 1.0;
  for (const auto& [of_loop, count] : one.loops) chunks = std::max(chunks, static_cast<double>(of_loop));
  chunks *= network.data;
  const double p = processes, hops = std::ceil(std::log2(p)),
               largest_share = std::max(std::ceil(chunks / p) / chunks, 1.0 / p);
  double seconds = one.seconds * network.data * largest_share;
  // Sums over chunks: two exchanges among all, how many chunks each has and the nodes of the tree that it
  // has.
  const double nodes = std::max(1.0, 2.0 * std::log2(chunks / p));
  seconds += 2.0 * hops * network.latency * static_cast<double>(one.sums) +
             p * nodes * one.sum_bytes / network.bandwidth;
  // Sums over leaves, a node for each process: of a partial gradient all nodes go to all processes, of a full
  // one to the process that keeps the sum.
  const bool full = one.phase == phase_name(Phase::kFullGradient);
  const double pieces = full ? std::ceil(one.tree_bytes / kPiece) : static_cast<double>(one.tree_sums);
  seconds +=
      pieces * hops * network.latency + one.tree_bytes * (p - 1.0) / (full ? p : 1.0) / network.bandwidth;
  return seconds;
}

TextTable processes_table(const Scaling& scaling, const NetworkModel& network) {
  TextTable table{.caption = "Model of processes of one thread each", .notes = {}, .head = {}, .rows = {}};
  table.head = {"problem", "data", "s, 1 process"};
  table.text_columns = 2;
  for (const int processes : network.processes)
    table.head.push_back(fmt::format("speed-up at {}", processes));
  for (const ScalingProblem& problem : scaling.problems) {
    const auto run =
        std::ranges::find_if(problem.runs, [](const ScalingRun& one) { return one.threads == 1; });
    if (run == problem.runs.end()) continue;
    for (const double data : {1.0, kMoreData}) {
      NetworkModel of_data = network;
      of_data.data = data;
      const double one = seconds_of(*run, of_data, 1);
      std::vector<std::string> cells{problem.name(),
                                     data == 1.0 ? "as measured" : fmt::format("{:g} times", data),
                                     fmt::format("{:.4g}", one)};
      for (const int processes : network.processes)
        cells.push_back(fixed_cell(one / seconds_of(*run, of_data, processes), 1));
      table.rows.push_back(std::move(cells));
    }
  }
  table.footnotes = {fmt::format("Assumed: a message takes {:g} us and 1 s for {:g} GB.",
                                 1e6 * network.latency, network.bandwidth / 1e9)};
  return table;
}

}  // namespace proxbench
