#include "experiments/results/scaling_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/profile.h"

namespace proxbench {
namespace {

int threads_of(const Run& run) {
  return run.parameters.threads * run.parameters.processes;
}

/// Sums these phases in each run of a problem with this back end and number of threads, and returns the
/// spread.
Spread phase_spread(const ScalingProblem& problem, const std::string& backend, int threads,
                    const std::vector<std::size_t>& phases, double PhaseCost::*what) {
  std::vector<double> values;
  for (const Run* run : problem.runs) {
    if (run->parameters.backend != backend || threads_of(*run) != threads) continue;
    double& sum = values.emplace_back(0.0);
    for (const std::size_t phase : phases) sum += run->result.phases.at(phase).*what;
  }
  return spread_of(values);
}

void add_phase(PhaseCost& total, const PhaseCost& phase) {
  total.calls += phase.calls;
  total.loop_seconds += phase.loop_seconds;
  total.flops += phase.flops;
  total.bytes += phase.bytes;
  total.sums += phase.sums;
  total.sum_bytes += phase.sum_bytes;
}

/// Returns the row of these phases; `one` is their cost at 1 thread.
PhaseScaling row_of(const ScalingProblem& problem, const std::string& backend, const PhaseCost& one,
                    const std::vector<std::size_t>& phases) {
  PhaseScaling out;
  out.backend = backend;
  out.phase = one.phase;
  out.one = one;
  std::vector<double> medians;
  for (const int threads : problem.threads) {
    out.seconds.push_back(phase_spread(problem, backend, threads, phases, &PhaseCost::seconds));
    medians.push_back(out.seconds.back().median);
    out.speedup.push_back(medians.front() / medians.back());
    out.efficiency.push_back(out.speedup.back() / threads);
  }
  out.one.seconds = medians.front();
  out.serial_fraction = serial_fraction(problem.threads, medians);
  return out;
}

/// Returns the rows of one back end.
std::vector<PhaseScaling> rows_of(const ScalingProblem& problem, const std::string& backend) {
  const auto first = std::ranges::find_if(problem.runs, [&](const Run* run) {
    return run->parameters.backend == backend && threads_of(*run) == 1;
  });
  if (first == problem.runs.end()) return {};
  PhaseCost total{.phase = kTotal};
  std::vector<std::size_t> numbers;
  std::vector<PhaseScaling> out(1);
  for (std::size_t i = 0; i < (*first)->result.phases.size(); ++i) {
    PhaseCost phase = (*first)->result.phases[i];
    phase.loop_seconds = phase_spread(problem, backend, 1, {i}, &PhaseCost::loop_seconds).median;
    const PhaseScaling row = row_of(problem, backend, phase, {i});
    if (phase.calls == 0 && !(row.one.seconds > 0.0)) continue;
    add_phase(total, phase);
    numbers.push_back(i);
    out.push_back(row);
  }
  if (numbers.empty()) return {};
  out.front() = row_of(problem, backend, total, numbers);
  return out;
}

}  // namespace

nlohmann::ordered_json scaling_json(const Scaling& scaling) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const Run& run : scaling.runs) runs.push_back(run_json(run));
  return {{"title", scaling.title}, {"runs", runs}};
}

Scaling read_scaling(const std::filesystem::path& file) {
  constexpr const char* kExpected = "what `proxbench scale` stores";
  const nlohmann::json json = read_json(file, kExpected);
  if (!json.contains("title") || !json.contains("runs") || !json["runs"].is_array() || json["runs"].empty())
    throw Error::in_file(file.string(), 0, "no title or no runs", kExpected);
  Scaling out{json["title"], {}};
  for (const nlohmann::json& run : json["runs"]) out.runs.push_back(run_from(run, file.string()));
  return out;
}

std::string ScalingProblem::name() const {
  const RunParameters& p = first().parameters;
  return fmt::format("{}-lambda{}-{}", p.dataset, p.lambda, p.label);
}

std::vector<ScalingProblem> scaling_problems(const std::vector<Run>& runs) {
  const auto key_of = [](const Run& run) { return std::pair(problem_of(run), label_of(run)); };
  std::vector<ScalingProblem> out;
  for (auto& [key, of_problem] : grouped(runs, key_of)) {
    ScalingProblem& problem = out.emplace_back();
    problem.threads = distinct(of_problem, threads_of);
    std::ranges::sort(problem.threads);
    problem.backends = distinct(of_problem, [](const Run& run) { return run.parameters.backend; });
    problem.runs = std::move(of_problem);
    for (const std::string& backend : problem.backends)
      std::ranges::move(rows_of(problem, backend), std::back_inserter(problem.rows));
  }
  return out;
}

double serial_fraction(const std::vector<int>& threads, const std::vector<double>& seconds) {
  const auto one = std::find(threads.begin(), threads.end(), 1);
  if (one == threads.end()) return kNaN;
  const double at_one = seconds[static_cast<std::size_t>(one - threads.begin())];
  double xy = 0.0, xx = 0.0;  // y = s*x with x = 1 - 1/p
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const double x = 1.0 - 1.0 / threads[t];
    xy += x * (seconds[t] / at_one - 1.0 / threads[t]);
    xx += x * x;
  }
  return xx > 0.0 ? xy / xx : kNaN;
}

double predicted_by_threads(const PhaseScaling& phase, int p) {
  const double fit = phase.serial_fraction;
  const double serial = std::clamp(std::isnan(fit) ? phase.outside_loops() : fit, 0.0, 1.0);
  return phase.one.seconds * (serial + (1.0 - serial) / p);
}

double predicted_by_processes(const PhaseScaling& phase, const Network& network, int p) {
  if (phase.phase == phase_name(Phase::kSolver)) return phase.one.seconds;
  const double messages = 2.0 * std::ceil(std::log2(p)) * static_cast<double>(phase.one.sums);
  const double bytes = 2.0 * (p - 1.0) / p * phase.one.sum_bytes;
  return phase.one.seconds / p + messages * network.latency + bytes / network.bandwidth;
}

// ---- tables

namespace {

/// The largest number of thread counts that a table has columns for.
constexpr std::size_t kMostColumns = 6;

/// Returns indices of `threads` after the first. If there are too many, returns those of powers of two and of
/// the last, and of these at most kMostColumns from the end.
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
  return formatted_cell(100.0 * share, "{:.1f} %");
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
  if (!contains(problem.backends, kProcessesBackend))
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
