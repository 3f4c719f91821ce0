#include "experiments/results/scaling_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

using Json = nlohmann::ordered_json;

/// So many numbers of threads have a column in a table.
constexpr std::size_t kMostColumns = 6;

const TeamSpeed* find_speed(const std::vector<TeamSpeed>& speeds, int threads) {
  for (const TeamSpeed& speed : speeds)
    if (speed.threads == threads) return &speed;
  return nullptr;
}

/// A phase over the runs of a problem on one back end.
struct PhaseRuns {
  std::string phase;
  std::vector<std::vector<double>> seconds;  ///< [threads][repetition]
  PhaseCost first;                           ///< of a run with 1 thread, its seconds medians
};

std::vector<double> seconds_of(const ScalingProblem& problem, const std::string& backend, int threads,
                               std::size_t phase, double PhaseCost::*what) {
  std::vector<double> out;
  for (const ScalingRun& run : problem.runs)
    if (run.backend == backend && run.threads == threads) out.push_back(run.phases.at(phase).*what);
  return out;
}

const ScalingRun* first_run(const ScalingProblem& problem, const std::string& backend) {
  for (const ScalingRun& run : problem.runs)
    if (run.backend == backend && run.threads == 1) return &run;
  return nullptr;
}

std::vector<PhaseRuns> phases_of(const Scaling& scaling, const ScalingProblem& problem,
                                 const std::string& backend) {
  std::vector<PhaseRuns> out;
  const ScalingRun* run = first_run(problem, backend);
  if (run == nullptr) return out;
  for (std::size_t i = 0; i < run->phases.size(); ++i) {
    PhaseRuns phase{.phase = run->phases[i].phase, .seconds = {}, .first = run->phases[i]};
    for (const int threads : scaling.threads)
      phase.seconds.push_back(seconds_of(problem, backend, threads, i, &PhaseCost::seconds));
    phase.first.seconds = spread_of(phase.seconds.front()).median;
    phase.first.loop_seconds = spread_of(seconds_of(problem, backend, 1, i, &PhaseCost::loop_seconds)).median;
    out.push_back(std::move(phase));
  }
  return out;
}

/// All phases as one.
PhaseRuns total_of(const std::vector<PhaseRuns>& phases) {
  PhaseRuns total = phases.front();
  total.phase = kTotal;
  for (std::size_t i = 1; i < phases.size(); ++i) {
    const PhaseRuns& phase = phases[i];
    for (std::size_t t = 0; t < total.seconds.size(); ++t)
      for (std::size_t r = 0; r < total.seconds[t].size(); ++r) total.seconds[t][r] += phase.seconds[t].at(r);
    total.first.calls += phase.first.calls;
    total.first.flops += phase.first.flops;
    total.first.bytes += phase.first.bytes;
    total.first.loop_seconds += phase.first.loop_seconds;
    total.first.loops.insert(total.first.loops.end(), phase.first.loops.begin(), phase.first.loops.end());
  }
  total.first.seconds = spread_of(total.seconds.front()).median;
  return total;
}

std::int64_t loops_in(const PhaseCost& phase) {
  std::int64_t count = 0;
  for (const auto& [chunks, loops] : phase.loops) count += loops;
  return count;
}

/// T(p) = outside loops + max(loops at 1 thread * largest share, bytes / bandwidth) + loops * cost of one.
/// Where one thread already moves more bytes than memory gives it, caches serve the rest, and do so for p.
double predict(const PhaseCost& one, const std::vector<TeamSpeed>& speeds, const MachineModel& machine,
               const std::string& backend, int threads) {
  if (threads == 1 || one.seconds == 0.0) return one.seconds;
  double loops = one.loop_seconds * largest_share(one.loops, threads);
  if (one.loop_seconds > 0.0) {
    const double memory_seconds = one.bytes / bandwidth_of(speeds, machine, 1);
    const double from_memory = std::min(1.0, one.loop_seconds / memory_seconds);  // share; 1 without bytes
    loops = std::max(loops, one.bytes * from_memory / bandwidth_of(speeds, machine, threads));
  }
  const double synchronising = static_cast<double>(loops_in(one)) * loop_cost(speeds, backend, threads);
  return one.seconds - one.loop_seconds + loops + synchronising;
}

std::vector<int> predicted_threads(const Scaling& scaling, const MachineModel& machine) {
  std::set<int> all(scaling.threads.begin(), scaling.threads.end());
  all.insert(machine.threads.begin(), machine.threads.end());
  return {all.begin(), all.end()};
}

PhaseScaling scaling_of(const Scaling& scaling, const ScalingProblem& problem, const std::string& backend,
                        const PhaseRuns& runs) {
  PhaseScaling out;
  out.problem = &problem;
  out.backend = backend;
  out.phase = runs.phase;
  out.calls = runs.first.calls;
  out.flops = runs.first.flops;
  out.bytes = runs.first.bytes;
  out.loops = loops_in(runs.first);
  double chunks = 0.0;
  for (const auto& [count, loops] : runs.first.loops)
    chunks += static_cast<double>(count) * static_cast<double>(loops);
  out.chunks_per_loop = out.loops == 0 ? kNaN : chunks / static_cast<double>(out.loops);
  out.threads = scaling.threads;
  std::vector<ScalingPoint> points;
  for (std::size_t t = 0; t < out.threads.size(); ++t) {
    out.seconds.push_back(spread_of(runs.seconds[t]));
    points.push_back({out.threads[t], out.seconds.back().median});
    out.speedup.push_back(points.front().seconds / points.back().seconds);
    out.efficiency.push_back(out.speedup.back() / out.threads[t]);
  }
  out.outside_loops = 1.0 - runs.first.loop_seconds / runs.first.seconds;
  out.serial_fraction = serial_fraction(points);
  return out;
}

/// The rows of one problem on one back end: the total first.
std::vector<PhaseScaling> rows_of(const Scaling& scaling, const MachineModel& machine,
                                  const ScalingProblem& problem, const std::string& backend) {
  std::vector<PhaseRuns> phases = phases_of(scaling, problem, backend);
  std::erase_if(phases,
                [](const PhaseRuns& one) { return one.first.calls == 0 && !(one.first.seconds > 0.0); });
  if (phases.empty()) return {};
  std::vector<PhaseScaling> out{scaling_of(scaling, problem, backend, total_of(phases))};
  for (const PhaseRuns& phase : phases) out.push_back(scaling_of(scaling, problem, backend, phase));
  for (const int threads : predicted_threads(scaling, machine)) {
    double total = 0.0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const double seconds = predict(phases[i].first, scaling.speeds, machine, backend, threads);
      out[i + 1].predicted.push_back({threads, seconds});
      total += seconds;
    }
    out.front().predicted.push_back({threads, total});
  }
  return out;
}

// ---- for people

/// At most kMostColumns: the powers of two and the last.
std::vector<std::size_t> columns_of(const std::vector<int>& threads) {
  std::vector<std::size_t> out;
  for (std::size_t t = 1; t < threads.size(); ++t)
    if (threads.size() <= kMostColumns + 1 || (threads[t] & (threads[t] - 1)) == 0 || t + 1 == threads.size())
      out.push_back(t);
  if (out.size() > kMostColumns)
    out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(kMostColumns));
  return out;
}

std::string rate_cell(double amount, double seconds) {
  return amount > 0.0 && seconds > 0.0 ? fixed_cell(amount / seconds / 1e9, 2) : "-";
}

std::string percent_cell(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100.0 * share);
}

std::string problem_text(const ScalingProblem& problem) {
  return fmt::format("{} ({}), lambda = {}, {}: {} iterations ({}), {} nonzeros", problem.dataset,
                     problem.description, problem.lambda, problem.label, problem.iterations, problem.status,
                     problem.nnz);
}

TextTable measured_table(const Scaling& scaling, const ScalingProblem& problem,
                         const std::vector<PhaseScaling>& rows) {
  TextTable table{.caption = problem_text(problem), .notes = {}, .head = {}, .rows = {}};
  const std::vector<std::size_t> columns = columns_of(scaling.threads);
  table.head = {"back end", "phase", "calls", "s, 1 thread", "GB/s", "GFlop/s", "outside loops"};
  table.text_columns = 2;
  for (const std::size_t t : columns) table.head.push_back(fmt::format("speed-up at {}", scaling.threads[t]));
  if (!columns.empty()) table.head.push_back(fmt::format("efficiency at {}", scaling.threads.back()));
  table.head.push_back("serial, Amdahl's fit");
  for (const PhaseScaling& row : rows) {
    if (row.problem != &problem) continue;
    const double seconds = row.seconds.front().median;
    std::vector<std::string> cells{row.backend,
                                   row.phase,
                                   row.calls > 0 ? std::to_string(row.calls) : "-",
                                   fmt::format("{:.4g}", seconds),
                                   row.phase == kTotal ? "-" : rate_cell(row.bytes, seconds),
                                   row.phase == kTotal ? "-" : rate_cell(row.flops, seconds),
                                   percent_cell(row.outside_loops)};
    for (const std::size_t t : columns) cells.push_back(fixed_cell(row.speedup[t], 2));
    if (!columns.empty()) cells.push_back(percent_cell(row.efficiency.back()));
    cells.push_back(percent_cell(row.serial_fraction));
    table.rows.push_back(std::move(cells));
  }
  const int repetitions = rows.empty() ? 0 : rows.front().seconds.front().n;
  table.footnotes = {fmt::format(
      "{}; GB/s and GFlop/s at 1 thread, by definition of the work.",
      repetitions == 1 ? "One repetition" : fmt::format("Medians over {} repetitions", repetitions))};
  if (scaling.oversubscribed())
    table.footnotes.push_back(
        fmt::format("Oversubscribed: more than {} threads shared {} CPUs; they say nothing of more cores.",
                    scaling.cpus, scaling.cpus));
  return table;
}

TextTable predicted_table(const Scaling& scaling, const MachineModel& machine, const ScalingProblem& problem,
                          const std::vector<PhaseScaling>& rows) {
  TextTable table{.caption = "Model of " + problem.name(), .notes = {}, .head = {}, .rows = {}};
  const std::vector<std::size_t> columns = columns_of(scaling.threads);
  table.head = {"back end", "phase", "loops", "chunks a loop"};
  table.text_columns = 2;
  for (const std::size_t t : columns)
    table.head.push_back(fmt::format("predicted / measured s at {}", scaling.threads[t]));
  for (const int threads : machine.threads) table.head.push_back(fmt::format("speed-up at {}", threads));
  for (const PhaseScaling& row : rows) {
    if (row.problem != &problem) continue;
    std::vector<std::string> cells{row.backend, row.phase, row.loops > 0 ? std::to_string(row.loops) : "-",
                                   fixed_cell(row.chunks_per_loop, 1)};
    const auto predicted = [&](int threads) {
      for (const ScalingPoint& point : row.predicted)
        if (point.threads == threads) return point.seconds;
      return kNaN;
    };
    for (const std::size_t t : columns)
      cells.push_back(fixed_cell(predicted(scaling.threads[t]) / row.seconds[t].median, 2));
    for (const int threads : machine.threads)
      cells.push_back(fixed_cell(row.seconds.front().median / predicted(threads), 1));
    table.rows.push_back(std::move(cells));
  }
  table.footnotes = {fmt::format(
      "Assumed: sockets of {} cores that read {:g} GB/s each; the memory and the loops of one thread as "
      "measured here ({:.1f} GB/s), a loop's cost growing with p - 1.",
      machine.socket_cores, machine.socket_bandwidth / 1e9, bandwidth_of(scaling.speeds, machine, 1) / 1e9)};
  return table;
}

}  // namespace

double serial_fraction(const std::vector<ScalingPoint>& points) {
  const auto one = std::find_if(points.begin(), points.end(), [](const auto& p) { return p.threads == 1; });
  if (one == points.end()) return kNaN;
  double xy = 0.0, xx = 0.0;  // y = s*x with x = 1 - 1/p
  for (const ScalingPoint& point : points) {
    const double x = 1.0 - 1.0 / point.threads;
    xy += x * (point.seconds / one->seconds - 1.0 / point.threads);
    xx += x * x;
  }
  return xx > 0.0 ? xy / xx : kNaN;
}

double largest_share(const std::vector<std::pair<std::uint64_t, std::int64_t>>& loops, int threads) {
  const auto p = static_cast<std::uint64_t>(threads);
  double most = 0.0, all = 0.0;
  for (const auto& [chunks, count] : loops) {
    most += static_cast<double>(count) * static_cast<double>((chunks + p - 1) / p);
    all += static_cast<double>(count) * static_cast<double>(chunks);
  }
  return all > 0.0 ? most / all : 0.0;
}

double bandwidth_of(const std::vector<TeamSpeed>& speeds, const MachineModel& machine, int threads) {
  if (const TeamSpeed* measured = find_speed(speeds, threads)) return measured->bandwidth;
  const TeamSpeed* one = find_speed(speeds, 1);
  if (one == nullptr) return kNaN;
  const int sockets = (threads + machine.socket_cores - 1) / machine.socket_cores;
  return std::min(threads * one->bandwidth, sockets * machine.socket_bandwidth);
}

double loop_cost(const std::vector<TeamSpeed>& speeds, const std::string& backend, int threads) {
  double xy = 0.0, xx = 0.0;
  for (const TeamSpeed& speed : speeds) {
    const auto found = speed.loop_seconds.find(backend);
    if (found == speed.loop_seconds.end()) continue;
    const double x = speed.threads - 1;
    xy += x * found->second;
    xx += x * x;
  }
  return xx > 0.0 ? (threads - 1) * xy / xx : kNaN;
}

std::vector<PhaseScaling> phase_scalings(const Scaling& scaling, const MachineModel& machine) {
  std::vector<PhaseScaling> out;
  for (const ScalingProblem& problem : scaling.problems)
    for (const std::string& backend : scaling.backends)
      for (PhaseScaling& row : rows_of(scaling, machine, problem, backend)) out.push_back(std::move(row));
  return out;
}

std::vector<TextTable> scaling_tables(const Scaling& scaling, const MachineModel& machine,
                                      const std::vector<PhaseScaling>& rows) {
  std::vector<TextTable> out;
  for (const ScalingProblem& problem : scaling.problems) {
    out.push_back(measured_table(scaling, problem, rows));
    out.push_back(predicted_table(scaling, machine, problem, rows));
  }
  return out;
}

std::string scaling_csv(const std::vector<PhaseScaling>& rows) {
  std::string out =
      "dataset,lambda,label,backend,phase,threads,repetitions,seconds,seconds_q25,seconds_q75,speedup,"
      "efficiency,predicted_seconds,calls,loops,chunks_per_loop,flops,bytes,outside_loops,serial_fraction\n";
  for (const PhaseScaling& row : rows)
    for (const ScalingPoint& predicted : row.predicted) {
      const auto at = static_cast<std::size_t>(
          std::find(row.threads.begin(), row.threads.end(), predicted.threads) - row.threads.begin());
      const bool measured = at < row.threads.size();
      const Spread spread = measured ? row.seconds[at] : spread_of({});
      out += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.problem->dataset),
          row.problem->lambda, csv_field(row.problem->label), row.backend, row.phase, predicted.threads,
          measured ? spread.n : 0, number_text(spread.median), number_text(spread.q25),
          number_text(spread.q75), number_text(measured ? row.speedup[at] : kNaN),
          number_text(measured ? row.efficiency[at] : kNaN), number_text(predicted.seconds), row.calls,
          row.loops, number_text(row.chunks_per_loop), number_text(row.flops), number_text(row.bytes),
          number_text(row.outside_loops), number_text(row.serial_fraction));
    }
  return out;
}

Json scaling_report(const Scaling& scaling, const MachineModel& machine,
                    const std::vector<PhaseScaling>& rows) {
  Json out = scaling_to_json(scaling);
  out["model"] = {{"threads", machine.threads},
                  {"socket_cores", machine.socket_cores},
                  {"socket_bandwidth", machine.socket_bandwidth}};
  Json phases = Json::array();
  for (const PhaseScaling& row : rows) {
    Json measured = Json::array(), predicted = Json::array();
    for (std::size_t t = 0; t < row.threads.size(); ++t)
      measured.push_back({{"threads", row.threads[t]},
                          {"seconds", row.seconds[t].median},
                          {"speedup", row.speedup[t]},
                          {"efficiency", row.efficiency[t]}});
    for (const ScalingPoint& point : row.predicted)
      predicted.push_back({{"threads", point.threads}, {"seconds", point.seconds}});
    phases.push_back({{"problem", row.problem->name()},
                      {"backend", row.backend},
                      {"phase", row.phase},
                      {"calls", row.calls},
                      {"loops", row.loops},
                      {"chunks_per_loop", row.chunks_per_loop},
                      {"flops", row.flops},
                      {"bytes", row.bytes},
                      {"outside_loops", row.outside_loops},
                      {"serial_fraction", row.serial_fraction},
                      {"measured", measured},
                      {"predicted", predicted}});
  }
  out["phases"] = phases;
  return out;
}

}  // namespace proxbench
