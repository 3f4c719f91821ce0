#include "experiments/run/training.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/memory.h"
#include "core/base/sum.h"
#include "core/data/reduction.h"
#include "experiments/config/config.h"
#include "experiments/data/files.h"
#include "experiments/data/model_weights.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// The peak memory of this process so far.
std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// Splits the `seconds` of a run on the clock into phases. The solver gets the seconds that no other phase
/// took.
std::vector<PhaseCost> phase_costs(const Profile& profile, double seconds) {
  std::vector<PhaseCost> out;
  for (std::size_t i = 0; i < kPhases; ++i) {
    const Phase name = static_cast<Phase>(i);
    const PhaseProfile& phase = profile.of(name);
    const bool rest = name == Phase::kSolver;
    out.push_back(PhaseCost{.phase = phase_name(name),
                            .calls = phase.calls,
                            .seconds = rest ? seconds - profile.accounted_seconds() : phase.seconds,
                            .loop_seconds = phase.loop_seconds,
                            .flops = phase.work.flops,
                            .bytes = phase.work.bytes,
                            .sums = phase.sums,
                            .sum_bytes = phase.sum_bytes});
  }
  return out;
}

}  // namespace

StopToken RunHooks::patient_stop() const {
  return StopToken([hooks = *this, patience = std::make_shared<Patience>()] {
    return hooks.stop() && patience->ended(wall_seconds(), Monitor::kPatience);
  });
}

void require_needs(const LoadedData& data, const SolverInfo& solver, const Penalty& penalty,
                   const Loss& loss) {
  const OracleInfo& oracle = oracle_registry().find(data.oracle_name());
  if (const std::string unmet = unmet_needs(solver, penalty, loss.kind, oracle); !unmet.empty()) {
    const std::vector<std::string> fitting = fitting_solvers(penalty, loss.kind, oracle);
    throw Error::usage(fitting.empty()
                           ? fmt::format("{}; {}", unmet, no_solver_text(penalty, loss.kind, oracle))
                           : fmt::format("{}; solvers that fit: {}", unmet, fmt::join(fitting, ", ")));
  }
  if (data.parallel().processes() != nullptr && !solver.shares_instances) {
    std::vector<std::string> others;
    for (const std::string& name : solver_registry().names())
      if (solver_registry().find(name).shares_instances) others.push_back(name);
    throw Error::usage(
        fmt::format("solver '{}' needs all instances in one process: found {} processes, expected one, or "
                    "a solver that can share instances: {}",
                    solver.name, data.parallel().processes()->count(), fmt::join(others, ", ")));
  }
}

namespace {

/// "; solvers that need less: ...", of those that can make this run; empty if there is none.
std::string smaller_solvers_text(const LoadedData& data, const Objective& objective) {
  const OracleInfo& oracle = oracle_registry().find(data.oracle_name());
  const auto d = static_cast<double>(objective.dimension());
  std::vector<std::string> names;
  for (const std::string& name : fitting_solvers(objective.penalty(), objective.loss().kind, oracle))
    if (const SolverInfo& info = solver_registry().find(name);
        !info.keeps_instances && info.bytes_per_weight * d <= free_memory())
      names.push_back(name);
  return names.empty() ? "" : fmt::format("; solvers that need less: {}", fmt::join(names, ", "));
}

/// Solves, unless the weights alone would need more memory than there is. Throws Error with the solvers that
/// need less.
SolveResult solve_in_memory(const LoadedData& data, const SolverInfo& info, Solver& solver,
                            const SolveProblem& problem) {
  const Objective& objective = problem.objective;
  try {
    require_memory(info.bytes_per_weight * static_cast<double>(objective.dimension()), kNaN,
                   fmt::format("solver '{}': {} weights ({} features, {} outputs) of {:.0f} bytes each",
                               info.name, objective.dimension(), objective.map().features(),
                               objective.outputs(), info.bytes_per_weight));
    return solve_within_limits(solver, problem);
  } catch (const MemoryError& error) {
    throw Error::usage(error.what(), smaller_solvers_text(data, objective));
  }
}

}  // namespace

std::string solver_or_best(const std::string& asked, const Penalty& penalty, const Loss& loss,
                           const OracleInfo& oracle, const Dataset& data) {
  if (!asked.empty()) return asked;
  if (fitting_solvers(penalty, loss.kind, oracle).empty())
    throw Error::usage(no_solver_text(penalty, loss.kind, oracle));
  return best_solver(penalty, loss.kind, &oracle, &data);
}

std::string unmet_start(const SolverInfo& solver, const std::string& start) {
  if (start.empty() || solver.starts_anywhere) return "";
  return fmt::format("solver '{}' has a start of its own: found the model {} to start from, expected none",
                     solver.name, start);
}

SparseVector start_of(const LoadedData& data, const RunParameters& settings) {
  if (settings.start.empty()) return {};
  const Model model = read_model(settings.start);
  for (const auto& [key, expected] :
       {std::pair<const char*, std::string>{"format", settings.format}, {"oracle", data.oracle_name()}})
    if (model.at(key) != expected)
      throw Error::in_file(
          model.source, 0, fmt::format("a model of {} '{}'", key, model.at(key)),
          fmt::format("{} '{}', as the data to train on have, for a model to start from", key, expected));
  return model_weights(model, data.train(), data.oracle().extra_weights(), data.extra_names(),
                       UnknownFeatures::kReject);
}

RunOutcome train(const LoadedData& data, const RunParameters& settings, const RunHooks& hooks) {
  const SolverInfo& info = solver_registry().find(settings.solver);
  if (const std::string unmet = unmet_start(info, settings.start); !unmet.empty()) throw Error::usage(unmet);
  return train_from(data, settings, start_of(data, settings), hooks);
}

RunOutcome train_from(const LoadedData& data, const RunParameters& settings, SparseVector start,
                      const RunHooks& hooks) {
  const double began = wall_seconds();
  const Penalty penalty = settings.penalty;
  penalty.check();
  const SolverInfo& info = solver_registry().find(settings.solver);
  const Options options = options_from(info.options, settings.solver_options);
  require_needs(data, info, penalty, settings.loss);
  const std::unique_ptr<Solver> solver = info.make(options);
  // Certifies on the features kept: there kkt equals kkt over all features. If the start has weights of other
  // features, all features are kept.
  const Index features = data.train().x.features(), outputs = data.train().outputs();
  const LoadedData::Reduced* reduced =
      &data.reduced(settings.drop_features ? std::optional(penalty) : std::nullopt);
  if (const auto within = reduce_features(start, reduced->kept, features, outputs))
    start = *within;
  else
    reduced = &data.reduced(std::nullopt);
  Objective objective = data.objective(*reduced, penalty, settings.loss);
  Objective evaluator = data.objective(*reduced, penalty, settings.loss);
  Profile profile;
  if (settings.profile) objective.time_phases(&profile);
  RunOutcome outcome;
  begin_counting(outcome);
  const Processes* const processes = data.parallel().processes();
  std::optional<StopScope> set_up(std::in_place, hooks.patient_stop(), "the run was set up",
                                  processes != nullptr);
  outcome.parameters = settings;
  outcome.parameters.solver_options = option_texts(options);
  outcome.kkt_at_zero = kkt_at_zero(evaluator);

  MonitorOptions watch = monitor_options(settings, hooks.stop, processes);
  watch.traced = hooks.traced;
  Monitor monitor(evaluator, objective, watch, hooks.with_test ? data.test_set(*reduced) : nullptr);
  monitor.on_sample = hooks.on_sample;
  outcome.setup_seconds = wall_seconds() - began;
  outcome.warm_up_seconds = warm_up(evaluator, start, settings.warm_up, hooks.stop);
  set_up.reset();

  SolveResult result = solve_in_memory(
      data, info, *solver, {objective, monitor, start, settings.tol, outcome.kkt_at_zero, settings.seed});
  const double ended = wall_seconds();
  outcome.status = result.status;
  try {
    const StopScope scope = monitor.evaluation("the result was certified");
    monitor.finish(result.w);
    outcome.certificate = certify(evaluator, result.w);
    outcome.certificate.dual = std::fmax(outcome.certificate.dual, monitor.lower_bound());
    outcome.status = checked_status(result.status, outcome.certificate, settings.tol * outcome.kkt_at_zero,
                                    settings.gap_target);
    if (!std::isfinite(outcome.certificate.objective)) outcome.status = Status::kDiverged;
  } catch (const Stopped&) {
    outcome.status = Status::kInterrupted;
    outcome.certificate = Certificate::unknown(result.w.nnz());
  }
  outcome.trace = monitor.trace();
  if (outcome.status == Status::kDiverged) outcome.certificate.kkt = outcome.certificate.dual = kNaN;
  outcome.certify_seconds = wall_seconds() - ended;
  outcome.w = expand_features(std::move(result.w), reduced->kept, features, outputs);
  outcome.features_kept = objective.map().features();
  count_solve(monitor, objective, result, outcome);
  if (settings.profile) outcome.phases = phase_costs(profile, monitor.seconds());
  set_facts(data, outcome);
  return outcome;
}

Status checked_status(Status said, const Certificate& found, double kkt_target, double gap_target) {
  // The solver's kkt and this one each have their rounding.
  const bool small = found.kkt == 0.0 ||
                     (found.kkt <= kkt_target + 2.0 * found.kkt_rounding && found.kkt_rounding <= kkt_target);
  if (said == Status::kConverged && !std::isnan(found.kkt) && !small) said = Status::kStalled;
  const bool proven = gap_target > 0.0 && found.relative_gap() <= gap_target;
  return said == Status::kStalled && proven ? Status::kGapReached : said;
}

std::string missing_loss_text(const RunOutcome& outcome) {
  if (outcome.audits != 0 || outcome.iterations.value_or(0) == 0) return "";
  return fmt::format(
      "solver {} hands no loss to Monitor::step(): each sample of its trace costs an inference off the "
      "clock, "
      "so samples are few",
      outcome.parameters.solver);
}

void set_facts(const LoadedData& data, RunOutcome& outcome) {
  const Dataset& train = data.train();
  outcome.d = static_cast<Coord>(train.x.features()) * train.outputs() + data.oracle().extra_weights();
  outcome.instances = whole_count(data.parallel(), train.instances());
  outcome.positions = train.x.whole_positions();
  outcome.outputs = train.outputs();
  outcome.features = train.x.features();
  outcome.nonzeros = train.x.whole_nonzeros();
  outcome.matrix_bytes = train.x.memory_bytes();
  outcome.data_digest = digest_text(train.digest);
  outcome.description = train.description;
  outcome.oracle = data.oracle_name();
  outcome.peak_rss_bytes = peak_rss_bytes();
  if (const Processes* processes = data.parallel().processes(); processes != nullptr)
    outcome.peak_rss_bytes = static_cast<std::uint64_t>(
        std::ranges::max(processes->gather(static_cast<double>(*outcome.peak_rss_bytes))));
  outcome.parameters.threads = data.parallel().threads();
  outcome.parameters.processes =
      data.parallel().processes() != nullptr ? data.parallel().processes()->count() : 1;
  outcome.parameters.backend = backend_name(data.parallel().backend());
}

void begin_counting(RunFigures& figures) {
  figures.iterations = 0;
  figures.passes = figures.updates = figures.seconds = figures.cpu_seconds = 0.0;
  figures.sampling_seconds = figures.gap_seconds = figures.certify_seconds = 0.0;
  figures.audits = 0;
}

void count_solve(const Monitor& monitor, const Objective& seen, const SolveResult& result,
                 RunFigures& figures) {
  const std::int64_t iterations = monitor.iterations();
  *figures.iterations += iterations;
  figures.passes += seen.counts().passes();
  figures.updates += seen.counts().updates().value_or(static_cast<double>(iterations));
  figures.seconds += monitor.seconds();
  figures.cpu_seconds += monitor.cpu_seconds();
  figures.sampling_seconds += monitor.sampling_seconds();
  figures.gap_seconds += monitor.gap_seconds();
  *figures.audits += monitor.audits().count;
  if (monitor.audits().count > 0)
    figures.audit_max_difference = std::fmax(figures.audit_max_difference, monitor.audits().largest);
  set_test_figures(monitor.trace().back(), figures);
  for (const auto& [name, value] : result.notes) figures.notes[name] = value;
}

void set_test_figures(const Sample& measured, RunFigures& figures) {
  figures.test_accuracy = measured.test_accuracy;
  figures.test_metrics = measured.test_metrics;
  if (!std::isnan(measured.test_accuracy)) figures.test_metrics[trace_metric().name] = measured.test_accuracy;
}

double share_with_weight(const Dataset& data, const SparseVector& w) {
  double entries = 0.0;
  Coord last = data.x.features();
  for (const Coord c : w.index) {
    const Coord feature = c / data.outputs();
    if (feature >= data.x.features()) break;
    if (feature != last)
      entries += static_cast<double>(data.x.whole_column_size(static_cast<Index>(feature)));
    last = feature;
  }
  return entries / static_cast<double>(std::max<std::uint64_t>(data.x.whole_nonzeros(), 1));
}

std::string model_of(const LoadedData& data, const std::string& format, const Options& data_options,
                     const RunParameters& settings, const SparseVector& w) {
  const Penalty penalty = settings.penalty;
  std::map<std::string, std::string> header{
      {"format", format},
      {"oracle", data.oracle_name()},
      {"lambda", fmt::format("{}", penalty.lambda)},
      {"mu", fmt::format("{}", penalty.mu)},
      {"loss", loss_name(settings.loss.kind)},
      {"solver", settings.solver},
      {"seed", std::to_string(settings.seed)},
      {"data_digest", digest_text(data.train().digest)},
      {"description", data.train().description},
      {kKnownShare, fmt::format("{:.4g}", share_with_weight(data.train(), w))}};
  if (settings.loss.hinge()) header["cost"] = cost_name(settings.loss.cost);
  for (const auto& [key, value] : options_with_texts(data_options)) header["data-option." + key] = value;
  return model_text(header, data.train(), w, data.oracle().extra_weights(), data.extra_names());
}

double warm_up(Objective& objective, const SparseVector& w, double seconds, Interrupt interrupt) {
  const double began = wall_seconds();
  double passed = 0.0;
  while (passed < seconds && !agree(objective.parallel().processes(), interrupt())) {
    certify(objective, w);
    passed = agree(objective.parallel().processes(), wall_seconds() - began);
  }
  return passed;
}

MonitorOptions monitor_options(const RunParameters& settings, Interrupt interrupt,
                               const Processes* processes) {
  MonitorOptions options;
  options.interrupt = interrupt;
  if (processes != nullptr) options.agree = [processes](double own) { return agree(processes, own); };
  if (settings.time_limit > 0) options.time_limit = settings.time_limit;
  if (settings.max_iterations > 0) options.max_iterations = settings.max_iterations;
  options.sample_kkt = settings.sample_kkt;
  options.sampling_budget =
      settings.sampling_budget < kNoSamplingBudget ? settings.sampling_budget : kInfinity;
  options.objective_target = settings.objective_target;
  options.gap_target = settings.gap_target;
  return options;
}

int resolved_threads(int threads) {
  if (threads > 0) return threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores > 0 ? static_cast<int>(cores) : 1;
}

}  // namespace proxbench
