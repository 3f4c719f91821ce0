#include "experiments/results/scaling_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/profile.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

/// Of each run of a problem on one back end with so many threads the sum of these phases.
Spread phase_spread(const ScalingProblem& problem, const std::string& backend, int threads,
                    const std::vector<std::size_t>& phases, double PhaseCost::*what) {
  std::vector<double> values;
  for (const ScalingRun& run : problem.runs) {
    if (run.backend != backend || run.threads != threads) continue;
    double& sum = values.emplace_back(0.0);
    for (const std::size_t phase : phases) sum += run.phases.at(phase).*what;
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

/// The row of these phases, `one` at 1 thread.
PhaseScaling row_of(const Scaling& scaling, const ScalingProblem& problem, const std::string& backend,
                    const PhaseCost& one, const std::vector<std::size_t>& phases) {
  PhaseScaling out;
  out.problem = &problem;
  out.backend = backend;
  out.phase = one.phase;
  out.one = one;
  out.threads = scaling.threads;
  std::vector<double> medians;
  for (const int threads : scaling.threads) {
    out.seconds.push_back(phase_spread(problem, backend, threads, phases, &PhaseCost::seconds));
    medians.push_back(out.seconds.back().median);
    out.speedup.push_back(medians.front() / medians.back());
    out.efficiency.push_back(out.speedup.back() / threads);
  }
  out.one.seconds = medians.front();
  out.serial_fraction = serial_fraction(scaling.threads, medians);
  return out;
}

/// The rows of one problem on one back end: the total first.
std::vector<PhaseScaling> rows_of(const Scaling& scaling, const ScalingProblem& problem,
                                  const std::string& backend) {
  const auto first = std::ranges::find_if(
      problem.runs, [&](const ScalingRun& run) { return run.backend == backend && run.threads == 1; });
  if (first == problem.runs.end()) return {};
  PhaseCost total{.phase = kTotal};
  std::vector<std::size_t> numbers;
  std::vector<PhaseScaling> out(1);
  for (std::size_t i = 0; i < first->phases.size(); ++i) {
    PhaseCost phase = first->phases[i];
    phase.loop_seconds = phase_spread(problem, backend, 1, {i}, &PhaseCost::loop_seconds).median;
    const PhaseScaling row = row_of(scaling, problem, backend, phase, {i});
    if (phase.calls == 0 && !(row.one.seconds > 0.0)) continue;
    add_phase(total, phase);
    numbers.push_back(i);
    out.push_back(row);
  }
  if (numbers.empty()) return {};
  out.front() = row_of(scaling, problem, backend, total, numbers);
  return out;
}

}  // namespace

std::vector<PhaseScaling> phase_scalings(const Scaling& scaling) {
  std::vector<PhaseScaling> out;
  for (const ScalingProblem& problem : scaling.problems)
    for (const std::string& backend : scaling.backends)
      for (PhaseScaling& row : rows_of(scaling, problem, backend)) out.push_back(std::move(row));
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
