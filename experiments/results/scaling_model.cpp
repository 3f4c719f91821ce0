#include "experiments/results/scaling_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "core/base/profile.h"
#include "experiments/base/numbers.h"

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
  if (!json.contains(nlohmann::json::json_pointer("/runs/0")) || !json.contains("title"))
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

}  // namespace proxbench
