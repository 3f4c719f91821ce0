#pragma once
/// The monitor is the only reader of the timed clock. A solver calls it once per iteration. The monitor
/// pauses the clock, takes a sample if one is due, and says whether to go on.
///
/// There are two kinds of samples. A full sample infers F at the iterate with an evaluator of the monitor's
/// own, and measures test accuracy. It costs about as much as an iteration. A light sample takes the loss
/// that the solver hands over and adds the penalty of the iterate. It costs a walk over the nonzeros, and a
/// decoding of the test set if an accuracy is due. The loss handed over comes from core's Objective, by the
/// same kernels, so inferring it again would double the work only to find the same number. Every full sample
/// at which the solver gave a loss is an audit: the two losses must agree, or the run fails. The first
/// iteration and the end of a run always have full samples, so each run of a solver that gives losses is
/// audited there.
/// core/monitor/schedule.h says when samples are taken, core/monitor/observers.h what they measure.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/certificates/certificate.h"
#include "core/monitor/evaluation_set.h"
#include "core/monitor/mean_iterate.h"
#include "core/monitor/monitor_options.h"
#include "core/monitor/observers.h"
#include "core/monitor/run_clock.h"
#include "core/monitor/sample.h"
#include "core/monitor/schedule.h"
#include "core/objective.h"

namespace proxbench {

/// How a run ended. A solver ends by one of those up to kDiverged.
enum class Status {
  kConverged,
  kTargetReached,
  kGapReached,
  kMaxIterations,
  kTimeLimit,
  kInterrupted,
  kStalled,
  kSmallChange,
  kDiverged,
  kFailed,
  kCrashed,
  kOutOfMemory,
  kSkipped
};
/// "converged", "target-reached" (F <= MonitorOptions::objective_target), "gap-reached"
/// (MonitorOptions::gap_target), "max-iterations", "time-limit", "interrupted", "stalled" (no further
/// decrease within rounding, or a gap target that rounding hides), "small-change" (a solver's
/// own rule on the change of F), "diverged", "failed", "crashed", "out-of-memory" or "skipped".
const char* status_name(Status status);

class Monitor {
 public:
  /// `evaluator` must be an objective of the monitor's own. `solver_objective` is only asked for its counts.
  /// All arguments are borrowed. Throws Error (kUsage) if the sampling budget or the gap target is negative,
  /// or if a target is not a number.
  Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
          const EvaluationSet* test = nullptr);

  /// Called after each sample, off the clock.
  std::function<void(const Sample&)> on_sample;
  /// For a solver that keeps a dual point. From now on, whenever it looks for bounds and at the end, the
  /// monitor computes a lower bound from that point. The gradient gives another one only if kkt is sampled.
  /// The point must be that of the iterate handed over (core/certificates/dual_points.h). Call it after
  /// start().
  void watch(std::shared_ptr<const DualPoint> point) { bound_.watch(std::move(point)); }

  /// Takes the sample of the starting point and starts the clock. The solver calls this once it is ready
  /// to iterate from w. Until then it only allocates buffers. All of its work on the problem comes later.
  /// Returns false if F(w) is not finite: then the solver must stop, as after a step().
  bool start(const SparseVector& w);

  /// Call after each iteration. `loss` is l(w) without penalties, if the solver's own objective computed it
  /// at exactly this w. A value that is not finite counts as not given. `working_set` is the number of
  /// weights that the solver works on, by default the nonzeros of w. Returns false if the solver must stop,
  /// for the reason in stop_status(). Throws Error if a full sample finds a loss different from the given
  /// one.
  bool step(const SparseVector& w, double loss = kNaN, std::optional<std::uint64_t> working_set = {});
  /// Does the same for solvers that store w in a form of their own. iterate() makes its nonzeros. It is
  /// called off the clock and only if they are needed. Its result must not depend on whether it was called
  /// before.
  bool step(const std::function<SparseVector()>& iterate, double loss, std::uint64_t working_set);

  /// Whether the clock has passed the time limit or an interrupt has arrived, for work within an iteration.
  /// Once true, always true: stop_status() holds the reason, and the next step() returns false. The solver
  /// then either gives up its iteration and returns the iterate of the last step() (no other step() is
  /// needed), or ends the iteration early. Takes no sample and does not stop the clock; costs no more than
  /// reading it. May be called between start() and finish() by the solver's thread and its worker threads,
  /// several at once, but not while step() runs. Programs that make a run together agree on the clock only
  /// between iterations: then this is always false.
  bool out_of_time();
  /// Gives out_of_time() to work that does not know the monitor. The token must not outlive the monitor.
  StopToken stop_token() {
    return StopToken([this] { return out_of_time(); });
  }

  /// The scope of all work of the solver. The scope stops the solver if it does not end by itself within
  /// kPatience seconds of a limit or an interrupt. kept() then gives the last iterate. The monitor copies
  /// iterates if iterations take long, and only then stops the solver.
  StopScope within_solver() {
    return clock_.scope([this] { return overdue(); }, "the solver was iterating");
  }
  /// The last iterate, after within_solver() has stopped the solver. The reason is stop_status() then.
  SparseVector kept();

  /// The scope of work that evaluates iterates, off the clock. An interrupt stops it after kPatience seconds
  /// or the time of a full sample, whichever is longer.
  StopScope evaluation(std::string doing) {
    return clock_.scope([this] { return evaluated_too_long(); }, std::move(doing));
  }
  static constexpr double kPatience = 1.0;

  /// Stops the clock and makes sure that the last iterate, w, has a full sample. If the trace has only a
  /// light one of this iteration, it gets a second row for it. Called by the caller of the solver. Throws
  /// like step().
  void finish(const SparseVector& w);

  /// Adds work of the solver that the objective does not count, such as a dense Hessian, in units of a pass.
  /// The next bound for a gap target becomes due by the sum of the counted passes and this work.
  void add_work(double passes) { uncounted_ += passes; }

  Status stop_status() const { return stop_status_; }
  /// Calls of step() so far.
  std::int64_t iterations() const { return iterations_; }
  double seconds() const { return clock_.seconds(); }
  double cpu_seconds() const { return clock_.cpu_seconds(); }
  /// Wall time off the clock inside the monitor for all samples, including on_sample but not the cost of
  /// gap_target.
  double sampling_seconds() const { return schedule_.spent(); }
  /// Wall time off the clock for gap_target.
  double gap_seconds() const { return gap_seconds_; }
  /// The best lower bound on min F seen, or -infinity.
  double lower_bound() const { return bound_.best(); }
  const Audits& audits() const { return audit_.audits(); }
  const std::vector<Sample>& trace() const { return trace_; }

 private:
  /// A function that returns the nonzeros of w, by value or by reference.
  template <class Iterate>
  bool step_at(const Iterate& iterate, double loss, std::uint64_t working_set);
  template <class Iterate>
  void average(const Iterate& iterate);
  template <class Iterate>
  void take_due_samples(const Iterate& iterate);
  /// The sum of the solver's passes and all add_work().
  double work() const { return solver_objective_.counts().passes() + uncounted_; }
  PointBound evaluate(const SparseVector& w, bool mean, const Observed& at);
  Sample look(SampleKind kind, const SparseVector& w, bool with_accuracy);
  void take(SampleKind kind, const SparseVector& w);
  void record(Sample sample);
  bool proceed();
  std::optional<Status> reason_to_stop();
  void value_dual_point();
  void stop_clock();
  bool overdue();
  bool evaluated_too_long();
  template <class Iterate>
  void keep(const Iterate& iterate);

  Objective& evaluator_;
  const Objective& solver_objective_;
  MonitorOptions options_;
  RunClock clock_;
  Schedule schedule_;
  LightObserver light_;
  AuditObserver audit_;
  KktObserver kkt_;
  BoundObserver bound_;
  std::optional<AccuracyObserver> accuracy_;  ///< if there is a test set
  std::vector<Observer*> observers_;          ///< those above, in this order
  Scores scores_;
  Residual residual_;
  MeanIterate mean_;  ///< for the next bound
  Scores mean_scores_;
  std::vector<Sample> trace_;
  std::int64_t iterations_ = 0;
  double uncounted_ = 0.0;
  std::uint64_t working_set_ = 0;    ///< that of the last step()
  double given_loss_ = kNaN;         ///< also that of the last step()
  std::int64_t full_iteration_ = 0;  ///< that of the last full sample
  double gap_seconds_ = 0.0;
  std::atomic<Status> stop_status_ = Status::kMaxIterations;
  std::atomic<bool> out_of_time_ = false;
  SparseVector kept_;
  bool has_kept_ = false;
  Patience solver_patience_, evaluation_patience_;
};

}  // namespace proxbench
