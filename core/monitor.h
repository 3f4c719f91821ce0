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
///
/// When are samples taken? Between two samples the clock grows by at most a tenth, or by one iteration if
/// that takes longer. Between two test accuracies it grows by at most a quarter, or by two iterations. This
/// rule ignores the budget: if a solver hands over no loss, its full samples are taken off the clock even so.
/// Samples that are closer together are full, or have an accuracy, only if MonitorOptions::sampling_budget
/// pays for that.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/dual.h"
#include "core/end_rules.h"
#include "core/metric.h"
#include "core/objective.h"

namespace proxbench {

/// Seconds of wall time since some fixed moment, for everything that is not on the timed clock.
double wall_seconds();
/// Returns the CPU seconds of this process.
double process_cpu_seconds();

struct Sample;

/// The data set on which an iterate's predictions are measured, with its metrics.
class TestSet {
 public:
  /// All arguments are borrowed. The oracle must be that of the data. A Sample stores the first metric as
  /// test_accuracy.
  TestSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel,
          std::vector<const MetricInfo*> metrics, Decoding decoding = Decoding::kStructure);
  /// Returns data.prediction_size() outputs.
  std::vector<Index> decode(const SparseVector& w) const;
  /// Sets test_accuracy and test_metrics. Sets neither if there is no metric.
  void measure(const SparseVector& w, Sample& sample) const;

 private:
  const Dataset& data_;
  const Oracle& oracle_;
  Parallel parallel_;
  std::vector<const MetricInfo*> metrics_;
  Decoding decoding_;
};

/// One row of a trace. Whatever was not measured is NaN.
struct Sample {
  double seconds = 0.0;      ///< wall time on the clock since the start
  double cpu_seconds = 0.0;  ///< CPU time of the process on the clock
  std::int64_t iteration = 0;
  double passes = 0.0;
  /// Parameter updates by all training instances (Objective::count_updates()).
  double updates = kNaN;
  double objective = 0.0;  ///< F at the iterate
  double loss = 0.0;       ///< l at the iterate; in a light sample as the solver's own objective gave it
  std::uint64_t nnz = 0;
  std::uint64_t working_set = 0;
  double kkt = kNaN;
  /// F minus the best lower bound on min F known by then (dual.h). NaN before there is one.
  double gap = kNaN;
  /// For a solver that keeps a dual point (Monitor::watch()), in samples that look for bounds: F minus the
  /// value of that point, and the solver's own estimate of that gap.
  double dual_gap = kNaN;
  double estimated_gap = kNaN;
  /// For a solver whose own variables agree only in the limit (DualPoint::infeasibility()).
  double infeasibility = kNaN;
  double test_accuracy = kNaN;                      ///< measured in some samples only
  std::map<std::string, double> test_metrics = {};  ///< the other metrics of the same samples, by name
};

/// F and its optimality measures at one point.
struct Certificate {
  double objective = 0.0, loss = 0.0, l1 = 0.0;
  double kkt = 0.0;           ///< 0 or NaN for a hinge loss: one subgradient shows no more
  double dual = 0.0;          ///< a lower bound on min F, net of rounding (dual.h)
  double rounding = 0.0;      ///< a bound on the error of F (rounding.h)
  double kkt_rounding = 0.0;  ///< a bound on the error of kkt; 0 for a hinge loss
  std::uint64_t nnz = 0;

  /// That of a point at which nothing was computed.
  static Certificate unknown(std::uint64_t nnz) { return {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, nnz}; }
  /// Whether F, its rounding and the bound are finite. Otherwise nothing is proven.
  bool proves() const { return std::isfinite(objective) && std::isfinite(rounding) && std::isfinite(dual); }
  /// An upper bound on F - min F, never less than the rounding of F. NaN if nothing is proven.
  double gap() const { return proves() ? std::max(difference_up(objective, dual), rounding) : kNaN; }
  /// gap() divided by |F|; 0 if both are 0. NaN if nothing is proven, or if rounding hides F.
  double relative_gap() const {
    if (objective == 0.0 && gap() == 0.0) return 0.0;
    return rounding < std::abs(objective) ? quotient_up(gap(), std::abs(objective)) : kNaN;
  }
};
/// Costs about two full gradients and two inferences (one for a hinge loss). l1 is ||w||_1, without lambda.
Certificate certify(Objective& objective, const SparseVector& w);
/// kkt at w = 0, in one inference and one full gradient. NaN for a hinge loss, unless w = 0 is optimal.
double kkt_at_zero(Objective& objective);
/// Makes the certificate from what bound_at() found at w.
Certificate certificate_of(const Objective& objective, const SparseVector& w, const PointBound& found);

struct MonitorOptions {
  double time_limit = kInfinity;  ///< seconds on the clock
  std::int64_t max_iterations = std::numeric_limits<std::int64_t>::max();
  /// The samples that are taken in addition to those that the rule of a tenth demands: one in each of the
  /// first `dense_samples` iterations, then one whenever the clock has grown by the share `sample_growth`.
  /// For a solver that hands over no loss, they are taken only if the sampling budget pays for a full sample.
  double sample_growth = 0.01;
  std::int64_t dense_samples = 30;
  /// Whether each sample computes a full gradient, off the clock, for kkt and a lower bound on min F. All
  /// samples are then full, whatever they cost.
  bool sample_kkt = false;
  /// The share (>= 0) of the time on the clock so far that the monitor may spend, off the clock, on
  /// additional samples, which the rule of a tenth does not demand. Such a sample is full only if two
  /// conditions hold: all samples together, including those of the start and the end, stay within that share,
  /// and the time since the last full sample pays for it, so that full samples are spread out. A light sample
  /// has a test accuracy if half of the budget pays for it, spread out in the same way, or if the clock has
  /// grown by a quarter since the last accuracy. 0: no additional samples are full. Infinity: every sample is
  /// full.
  double sampling_budget = 0.01;
  /// Stop as soon as a sample shows F <= this. If the solver gives its losses, every iteration is checked.
  double objective_target = -kInfinity;
  /// Stop as soon as (F - the best lower bound seen)/|F| <= this (>= 0). 0: do not look for bounds. A bound
  /// costs two inferences and about two full gradients, off the clock and outside the sampling budget, since
  /// whoever sets a target wants it. Bounds for this are computed after counts of passes (GapRule), and
  /// no other bounds are compared with the target. So the end of a run does not depend on the clock.
  double gap_target = 0.0;
  /// Whether a run whose iterations change nothing ends as stalled (StallRule). Tests turn it off.
  bool stalls = true;
  /// The wall clock, in seconds. Tests replace it. It is called from several threads if out_of_time() is.
  std::function<double()> clock = wall_seconds;
};

/// Why a solver stopped.
enum class Status {
  kConverged,
  kTargetReached,
  kGapReached,
  kMaxIterations,
  kTimeLimit,
  kInterrupted,
  kStalled,
  kSmallChange,
  kDiverged
};
/// "converged", "target-reached" (F <= MonitorOptions::objective_target), "gap-reached"
/// (MonitorOptions::gap_target), "max-iterations", "time-limit", "interrupted", "stalled" (no further
/// decrease within rounding, or a gap target that rounding hides), "small-change" (a solver's
/// own rule on the change of F) or "diverged".
const char* status_name(Status status);

/// How the losses given by a solver compare with those that the monitor found at the same iterates.
struct Audits {
  std::int64_t count = 0;
  double largest = 0.0;  ///< |given - found| / max(1, |found|)
};

class Monitor {
 public:
  /// `evaluator` must be an objective of the monitor's own. `solver_objective` is only asked for its counts.
  /// All arguments are borrowed. Throws Error (kUsage) if the sampling budget or the gap target is negative,
  /// or if a target is not a number.
  Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
          const TestSet* test = nullptr);

  /// Called after each sample, off the clock.
  std::function<void(const Sample&)> on_sample;
  /// If set from outside (Ctrl-C), the solver stops at the next iteration, or within one: see out_of_time()
  /// and within_solver(). Samples are then cut short as well, see evaluation().
  const std::atomic<bool>* interrupt = nullptr;

  /// For a solver that keeps a dual point. From now on, the monitor also computes a lower bound from that
  /// point, whenever it looks for bounds and at the end. The point must be that of the iterate handed over
  /// (core/dual.h). Call it after start().
  void watch(std::shared_ptr<const DualPoint> point) { dual_point_ = std::move(point); }

  /// Takes the sample of the starting point and starts the clock. The solver calls this once it is ready
  /// to iterate from w. Until then it only allocates buffers. All of its work on the problem comes later.
  void start(const SparseVector& w);

  /// Call once per iteration, with the number of iterations done. `loss` is l(w) without penalties, if the
  /// solver's own objective computed it at exactly this w. A value that is not finite counts as not given.
  /// Returns false if the solver must stop, for the reason in stop_status(). Throws Error if a full sample
  /// finds a loss different from the given one.
  bool step(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set, double loss = kNaN);
  /// Does the same for solvers that store w in a form of their own. iterate() makes its nonzeros. It is
  /// called off the clock and only if they are needed. Its result must not depend on whether it was called
  /// before.
  bool step(std::int64_t iteration, const std::function<SparseVector()>& iterate, std::uint64_t working_set,
            double loss = kNaN);

  /// Whether the clock has passed the time limit or an interrupt has arrived, for work within an iteration.
  /// Once true, always true: stop_status() holds the reason, and the next step() returns false. The solver
  /// then either gives up its iteration and returns the iterate of the last step() (no other step() is
  /// needed), or ends the iteration early. Takes no sample and does not stop the clock; costs no more than
  /// reading it. May be called between start() and finish() by the solver's thread and its worker threads,
  /// several at once, but not while step() runs. If processes share the instances, they agree on the clock
  /// only between iterations, and this is always false.
  bool out_of_time();
  /// Gives out_of_time() to work that does not know the monitor. The token must not outlive the monitor.
  StopToken stop_token() {
    return StopToken([this] { return out_of_time(); });
  }

  /// The scope of all work of the solver. The scope stops the solver if it does not end by itself within
  /// kPatience seconds of a limit or an interrupt. kept() then gives the last iterate. The monitor copies
  /// iterates if iterations take long, and only then stops the solver. Several processes stop together.
  StopScope within_solver() {
    return {StopToken([this] { return overdue(); }), "the solver was iterating", processes_};
  }
  /// An iterate as given to start() or step().
  struct Kept {
    SparseVector w;
    std::int64_t iteration = 0;
    std::uint64_t working_set = 0;
  };
  /// The last iterate, after within_solver() has stopped the solver. The reason is stop_status() then.
  Kept kept();

  /// The scope of work that evaluates iterates, off the clock. An interrupt stops it after kPatience seconds
  /// or the time of a full sample, whichever is longer.
  StopScope evaluation(std::string doing) {
    return {StopToken([this] { return evaluated_too_long(); }), std::move(doing), processes_};
  }
  static constexpr double kPatience = 1.0;

  /// Stops the clock and makes sure that the last iterate has a full sample. If the trace has only a light
  /// one of this iteration, it gets a second row for it. If `iteration` is the last one given to step(), `w`
  /// must be the same as there. Called by the caller of the solver. Throws like step().
  void finish(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);

  Status stop_status() const { return stop_status_; }
  double seconds() const { return seconds_; }
  double cpu_seconds() const { return cpu_seconds_; }
  /// Wall time off the clock inside the monitor for all samples, including on_sample but not the cost of
  /// gap_target.
  double sampling_seconds() const { return sampling_seconds_; }
  /// Wall time off the clock for gap_target.
  double gap_seconds() const { return gap_seconds_; }
  /// The best lower bound on min F seen, or -infinity.
  double lower_bound() const { return lower_bound_; }
  const Audits& audits() const { return audits_; }
  const std::vector<Sample>& trace() const { return trace_; }

 private:
  bool own_interrupt() const;
  bool interrupted() const;
  bool overdue();
  bool evaluated_too_long();
  template <class Iterate>
  void keep(std::int64_t iteration, const Iterate& iterate, std::uint64_t working_set);
  void pause();
  void resume();
  void leave();
  void expect_started() const;
  bool must_sample() const;
  bool fine_sample_due(std::int64_t iteration) const;
  bool gap_due() const;
  bool full_sample_fits() const;
  bool accuracy_overdue() const;
  bool accuracy_fits() const;
  void measure_accuracy(const SparseVector& w, Sample& sample);
  template <class Iterate>
  void sample_at(std::int64_t iteration, const Iterate& iterate, std::uint64_t working_set, double loss);
  template <class Iterate>
  bool step_at(std::int64_t iteration, const Iterate& iterate, std::uint64_t working_set, double loss);
  bool proceed(std::int64_t iteration);
  Sample light_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set,
                      double loss) const;
  void take_light_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set,
                         double loss);
  void take_full_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);
  void take_gap_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);
  Sample full_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set,
                     bool with_gradient);
  void judge_gap(const Sample& sample);
  void audit(const Sample& found, const SparseVector& w);
  void raise_bound(double bound, const char* from);
  void raise_bound_of_dual_point();
  void check_bound() const;
  void record(Sample sample);

  Objective& evaluator_;
  const Processes* processes_;  ///< those of the evaluator; all of them use the clock of the first
  const Objective& solver_objective_;
  MonitorOptions options_;
  std::function<double()> own_clock_;  ///< not agreed on by processes
  const TestSet* test_;
  std::shared_ptr<const DualPoint> dual_point_;
  Scores scores_;
  Residual residual_;
  std::vector<Sample> trace_;
  std::atomic<Status> stop_status_ = Status::kMaxIterations;
  std::atomic<bool> out_of_time_ = false;
  Kept kept_;
  bool has_kept_ = false;
  Patience solver_patience_, evaluation_patience_;
  Audits audits_;
  bool running_ = false;
  /// These two are from the last step().
  std::int64_t given_iteration_ = 0;
  double given_loss_ = kNaN;
  double step_seconds_ = 0.0;       ///< on the clock at the last step()
  double iteration_seconds_ = 0.0;  ///< the time that the last iteration took
  /// These two are from the last full sample.
  std::int64_t full_iteration_ = 0;
  double full_seconds_ = 0.0;
  /// The expected time of the next full sample in seconds: that of the last one. The sample of the start may
  /// have met cold caches, so the time of an iteration replaces it if that is less.
  double full_cost_ = 0.0;
  /// Test accuracies since the start: the time on the clock of the last one, the expected cost of the next
  /// one, and the cost of all.
  double accuracy_seconds_ = 0.0, accuracy_cost_ = 0.0, accuracy_total_ = 0.0;
  double seconds_ = 0.0, cpu_seconds_ = 0.0, wall_mark_ = 0.0, cpu_mark_ = 0.0;
  double sampling_seconds_ = 0.0, off_mark_ = 0.0;
  double start_cost_ = 0.0;  ///< the part of sampling_seconds_ that the sample of the start took
  double lower_bound_ = -kInfinity;
  const char* bound_from_ = "";
  double rounding_ = 0.0;  ///< rounding of F at the last bound
  /// The smallest F of all full samples, and where it was found.
  double smallest_ = kInfinity, smallest_loss_ = 0.0;
  std::int64_t smallest_iteration_ = 0;
  SparseVector smallest_at_;
  double gap_seconds_ = 0.0;  ///< of all gap samples
  GapRule gap_rule_;
  /// The best bound that gap samples found, and the relative gap that it proves at the last of them.
  double counted_bound_ = -kInfinity, counted_gap_ = kInfinity;
  double found_bound_ = -kInfinity;  ///< of the last sample with bounds
  bool gap_hidden_ = false;          ///< rounding forbids the gap target
  StallRule stall_rule_;
};

}  // namespace proxbench
