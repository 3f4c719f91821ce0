#pragma once
/// One run of one solver on loaded data, and its summary.

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/solver.h"
#include "experiments/run/loaded_data.h"

namespace proxbench {

/// Callbacks during a run.
struct RunHooks {
  std::function<void(const Sample&)> on_sample;  ///< off the clock
  Interrupt stop = {};                           ///< at the next iteration
  bool with_test = true;                         ///< whether samples measure the test set
  bool traced = true;                            ///< MonitorOptions::traced
  /// Called off the clock after each point of a path; w is in the coordinates of all features.
  std::function<void(const PathPoint&, const SparseVector& w)> on_point = {};

  /// Returns a token for a StopScope. It requests a stop once stop() has been true for Monitor::kPatience
  /// seconds, so that short work still ends by itself.
  StopToken patient_stop() const;
};

struct RunOutcome : RunFigures {
  RunParameters parameters;  ///< as used: all options, threads and back end of the data
  SparseVector w;
  std::vector<Sample> trace;
  std::vector<PathPoint> points;  ///< of a path, those that were completed

  nlohmann::ordered_json summary() const { return summary_json(parameters, *this); }
};

/// Throws Error (kUsage), with the solvers that fit, if this solver cannot run on the data with this penalty
/// and this loss (unmet_needs()), or if it cannot share instances and there are several processes.
void require_needs(const LoadedData& data, const SolverInfo& solver, const Penalty& penalty,
                   const Loss& loss);

/// Returns the solver that was asked for or, if that is empty, the best one known for this objective on these
/// data. Throws Error (kUsage) if no solver fits.
std::string solver_or_best(const std::string& asked, const Penalty& penalty, const Loss& loss,
                           const OracleInfo& oracle, const Dataset& data);

/// Why the solver cannot start from this model file; empty if it can, or if `start` is empty.
std::string unmet_start(const SolverInfo& solver, const std::string& start);

/// Returns the weights of the model file settings.start, or zero if that is empty. Throws Error if the file
/// is no model, or if its format, oracle, features or labels differ from the data's.
SparseVector start_of(const LoadedData& data, const RunParameters& settings);

/// Runs the solver from start_of() and certifies its final point. A run whose final F is not finite has
/// status kDiverged, whatever the solver reports. A diverged run has neither kkt nor bound. Throws Error
/// - if the solver is unknown or fails,
/// - if it has a start of its own and settings.start is given,
/// - if its needs are not met (require_needs()),
/// - if a loss that it passed to its monitor differs from the loss at its iterate (core/monitor/monitor.h).
RunOutcome train(const LoadedData& data, const RunParameters& settings, const RunHooks& hooks = {});
/// Does the same from `start`, and ignores settings.start.
RunOutcome train_from(const LoadedData& data, const RunParameters& settings, SparseVector start,
                      const RunHooks& hooks = {});

/// Explains that the solver of a run passed no loss to Monitor::step(), and the consequences; empty if it
/// did.
std::string missing_loss_text(const RunOutcome& outcome);

/// Sets what train(), train_path() and `certify` all report: the facts of the data, its threads and back end,
/// and the peak memory (the largest of all processes).
void set_facts(const LoadedData& data, RunOutcome& outcome);
/// count_solve() adds a solve to the totals, which begin_counting() sets to 0. If several solves have the
/// same note, the last one is kept.
void begin_counting(RunFigures& figures);
void count_solve(const Monitor& monitor, const Objective& seen, const SolveResult& result,
                 RunFigures& figures);
/// Copies the test results of a sample.
void set_test_figures(const Sample& measured, RunFigures& figures);

/// Returns kStalled if a solver says that it converged, but the certified kkt is above `kkt_target` by more
/// than rounding, or its rounding alone may be above it. Returns kGapReached if a solve that stalled has
/// reached a gap target.
Status checked_status(Status said, const Certificate& found, double kkt_target, double gap_target);

/// The monitor options that train() and train_path() derive from settings. Null: a single process. Several
/// processes use the clock of the first.
MonitorOptions monitor_options(const RunParameters& settings, Interrupt interrupt,
                               const Processes* processes);
/// Runs inference and full gradients at w for this many wall seconds. Returns the seconds that passed.
double warm_up(Objective& objective, const SparseVector& w, double seconds, Interrupt interrupt);

/// The share of the entries of X whose feature has a weight.
double share_with_weight(const Dataset& data, const SparseVector& w);
/// A model's header stores share_with_weight() of the training data under this key.
inline constexpr const char* kKnownShare = "known_share";
/// Returns the model w as text. Its header stores the data format, its options and the penalties, so
/// `predict` and `certify` need no flags for them.
std::string model_of(const LoadedData& data, const std::string& format, const Options& data_options,
                     const RunParameters& settings, const SparseVector& w);

/// Returns the number of cores if `threads` is 0.
int resolved_threads(int threads);

}  // namespace proxbench
