#include "experiments/results/scaling_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/profile.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

/// The runs of a problem on one back end with so many threads, by repetition.
std::vector<const ScalingRun*> runs_of(const ScalingProblem& problem, const std::string& backend,
                                       int threads) {
  std::vector<const ScalingRun*> out;
  for (const ScalingRun& run : problem.runs)
    if (run.backend == backend && run.threads == threads) out.push_back(&run);
  return out;
}

double median_of(const std::vector<const ScalingRun*>& runs, std::size_t phase, double PhaseCost::*what) {
  std::vector<double> values;
  for (const ScalingRun* run : runs) values.push_back(run->phases.at(phase).*what);
  return spread_of(values).median;
}

PhaseCost sum_of(const std::vector<PhaseCost>& phases) {
  PhaseCost total{.phase = kTotal};
  for (const PhaseCost& phase : phases) {
    total.calls += phase.calls;
    total.seconds += phase.seconds;
    total.loop_seconds += phase.loop_seconds;
    total.flops += phase.flops;
    total.bytes += phase.bytes;
    total.sums += phase.sums;
    total.sum_bytes += phase.sum_bytes;
  }
  return total;
}

/// Of each repetition the seconds of these phases together.
Spread seconds_of(const std::vector<const ScalingRun*>& runs, const std::vector<std::size_t>& phases) {
  std::vector<double> values(runs.size(), 0.0);
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (const std::size_t phase : phases) values[r] += runs[r]->phases.at(phase).seconds;
  return spread_of(values);
}

/// The row of these phases, `one` at 1 thread.
PhaseScaling row_of(const Scaling& scaling, const ScalingProblem& problem, const std::string& backend,
                    const PhaseCost& one, const std::vector<std::size_t>& phases) {
  PhaseScaling out{.problem = &problem,
                   .backend = backend,
                   .phase = one.phase,
                   .one = one,
                   .threads = scaling.threads,
                   .seconds = {},
                   .speedup = {},
                   .efficiency = {}};
  std::vector<double> medians;
  for (const int threads : scaling.threads) {
    out.seconds.push_back(seconds_of(runs_of(problem, backend, threads), phases));
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
  const std::vector<const ScalingRun*> runs = runs_of(problem, backend, 1);
  if (runs.empty()) return {};
  std::vector<PhaseCost> phases;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < runs.front()->phases.size(); ++i) {
    PhaseCost phase = runs.front()->phases[i];
    phase.seconds = median_of(runs, i, &PhaseCost::seconds);
    phase.loop_seconds = median_of(runs, i, &PhaseCost::loop_seconds);
    if (phase.calls == 0 && !(phase.seconds > 0.0)) continue;
    phases.push_back(phase);
    numbers.push_back(i);
  }
  if (phases.empty()) return {};
  std::vector<PhaseScaling> out{row_of(scaling, problem, backend, sum_of(phases), numbers)};
  for (std::size_t i = 0; i < phases.size(); ++i)
    out.push_back(row_of(scaling, problem, backend, phases[i], {numbers[i]}));
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
