#pragma once
/// The monitor is the only reader of the timed clock. A solver calls it once an iteration; it pauses the
/// clock, takes a sample where one is due, and says whether to go on.
///
/// There are two kinds of samples. A full one infers F at the iterate with an evaluator of the monitor's own,
/// and measures test accuracy: it costs about as much as an iteration. A light one takes the loss that the
/// solver hands over and adds the penalty of the iterate: it costs a walk over the nonzeros, and a decoding
/// of the test set where an accuracy is due. The loss handed over comes from core's Objective, by the same
/// kernels, so that inferring it again would double the work to find the same number. Every full sample at
/// which the solver gave a loss is an audit: the two must agree, or the run fails. The first iteration and
/// the end of a run always have full samples, so each run of a solver that gives losses is audited there.
///
/// When samples are taken: between two samples the clock grows by at most a tenth, or by one iteration where
/// that takes longer. The same holds between two test accuracies. The rule asks for no budget: a solver that
/// hands over no loss then pays for a full sample off the clock. Samples that are closer together than that
/// are full, or have an accuracy, where MonitorOptions::sampling_budget pays for them.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/dual.h"
#include "core/metric.h"
#include "core/objective.h"

namespace proxbench {

/// Seconds of wall time, from some fixed moment on. For what is not on the timed clock.
double wall_seconds();

struct Sample;

/// What w predicts on a data set, and what that is worth.
class TestSet {
 public:
  /// All are borrowed. The oracle is that of the data. Of the metrics the first is what a Sample calls
  /// test_accuracy.
  TestSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel,
          std::vector<const MetricInfo*> metrics, Decoding decoding = Decoding::kStructure);
  /// data.prediction_size() numbers.
  std::vector<Index> decode(const SparseVector& w) const;
  /// Sets test_accuracy and test_metrics; neither where there is no metric.
  void measure(const SparseVector& w, Sample& sample) const;

 private:
  const Dataset& data_;
  const Oracle& oracle_;
  Parallel parallel_;
  std::vector<const MetricInfo*> metrics_;
  Decoding decoding_;
};

/// One row of a trace. What was not measured is NaN.
struct Sample {
  double seconds = 0.0;      ///< wall time on the clock since the start
  double cpu_seconds = 0.0;  ///< CPU time of the process on the clock
  std::int64_t iteration = 0;
  double passes = 0.0;
  /// Parameter updates by all training instances (Objective::count_updates()).
  double updates = std::numeric_limits<double>::quiet_NaN();
  double objective = 0.0;  ///< F at the iterate
  double loss = 0.0;       ///< l at the iterate; in a light sample as the solver's own objective gave it
  std::uint64_t nnz = 0;
  std::uint64_t working_set = 0;
  double kkt = std::numeric_limits<double>::quiet_NaN();
  /// F minus the best lower bound on min F that was known by then; NaN before there is one (dual.h).
  double gap = std::numeric_limits<double>::quiet_NaN();
  /// Of a solver that keeps a dual point (Monitor::watch()), where bounds are looked for: F minus that
  /// point's value, and what the solver takes that gap for.
  double dual_gap = std::numeric_limits<double>::quiet_NaN();
  double estimated_gap = std::numeric_limits<double>::quiet_NaN();
  /// Of a solver whose own variables agree in the limit only (DualPoint::infeasibility()).
  double infeasibility = std::numeric_limits<double>::quiet_NaN();
  double test_accuracy = std::numeric_limits<double>::quiet_NaN();  ///< of some samples
  std::map<std::string, double> test_metrics = {};  ///< the other metrics of the same samples, by name
};

/// F and its optimality measures at one point.
struct Certificate {
  double objective = 0.0, loss = 0.0, l1 = 0.0;
  double kkt = 0.0;       ///< of a hinge loss 0 or NaN: one subgradient tells no more
  double dual = 0.0;      ///< a lower bound on min F, rounding taken off (dual.h)
  double rounding = 0.0;  ///< by how much F may be off (rounding.h)
  std::uint64_t nnz = 0;

  /// Whether F, its rounding and the bound are numbers. Nothing is proven otherwise.
  bool finite() const { return std::isfinite(objective) && std::isfinite(rounding) && std::isfinite(dual); }
  /// F - min F is at most this, and it is never less than F's own rounding. NaN where nothing is proven.
  double gap() const {
    return finite() ? std::max(objective - dual, rounding) : std::numeric_limits<double>::quiet_NaN();
  }
  /// The same over F; 0 where F is 0, since no F is smaller.
  double relative_gap() const { return objective == 0.0 ? 0.0 : gap() / std::abs(objective); }
};
/// From two full gradients and two inferences, of a hinge loss one; l1 is ||w||_1 (without lambda).
Certificate certify(Objective& objective, const SparseVector& w);
/// From what was found at w.
Certificate certificate_of(const Objective& objective, const SparseVector& w, const PointBound& found);

struct MonitorOptions {
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds on the clock
  std::int64_t max_iterations = std::numeric_limits<std::int64_t>::max();
  /// Samples on top of those that a tenth of the clock asks for: in each of the first `dense_samples`
  /// iterations, then whenever the clock has grown by the share `sample_growth`. A solver that hands over no
  /// loss has them where the sampling budget pays for a full sample.
  double sample_growth = 0.01;
  std::int64_t dense_samples = 30;
  /// A full gradient for each sample, off the clock: kkt and a lower bound on min F. Then all samples are
  /// full, whatever they cost.
  bool sample_kkt = false;
  /// The time that the monitor may take off the clock for samples that no tenth of the clock asks for, as a
  /// share of the time on the clock so far (>= 0). Such a sample is full only if all samples stay within that
  /// share, those of the start and the end included, and if the time since the last full one pays for it, so
  /// that they are spread out. A light one has a test accuracy if half of the budget pays for it, spread out
  /// in the same way, or if the clock has grown by a quarter since the last accuracy. 0: nothing on top.
  /// Infinity: every sample is full.
  double sampling_budget = 0.01;
  /// Stop as soon as a sample shows F <= this. Where the solver gives its losses every iteration is looked
  /// at.
  double objective_target = -std::numeric_limits<double>::infinity();
  /// Stop as soon as (F - the best lower bound seen)/|F| <= this; >= 0, 0: do not look for bounds. One costs
  /// two inferences and a full gradient, off the clock and outside the sampling budget: whoever sets a target
  /// asks for that. It is taken after each of the first iterations, then when the clock has grown by a
  /// tenth since the last one, so at which iteration a run stops depends on the clock.
  double gap_target = 0.0;
  /// Bounds are looked for after each of the first iterations, then when the number of iterations has grown
  /// by a tenth, so that the end of a run does not depend on the clock. Not together with sample_kkt, which
  /// finds bounds when the clock says so.
  bool gap_by_count = false;
  /// What the wall clock shows, in seconds; tests bring one of their own. Called from several threads where
  /// out_of_time() is.
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
/// decrease within rounding), "small-change" (a solver's own rule on the change of F) or "diverged".
const char* status_name(Status status);

/// How the losses that a solver gave compare with those that the monitor found at the same iterates.
struct Audits {
  std::int64_t count = 0;
  double largest = 0.0;  ///< |given - found| / max(1, |found|)
};

class Monitor {
 public:
  /// What a solver gives that has not computed the loss at exactly the iterate that it hands over.
  static constexpr double kNoLoss = std::numeric_limits<double>::quiet_NaN();

  /// `evaluator` is an objective of the monitor's own; `solver_objective` is asked for its counts only. All
  /// borrowed. Throws Error (kUsage) where the sampling budget or the gap target is negative, a target is no
  /// number, or gap_by_count meets sample_kkt.
  Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
          const TestSet* test = nullptr);

  /// Called after each sample, off the clock.
  std::function<void(const Sample&)> on_sample;
  /// Set from outside (Ctrl-C) to stop at the next iteration, or within one that asks out_of_time().
  const std::atomic<bool>* interrupt = nullptr;

  /// For a solver that keeps a dual point: from now on, wherever the monitor looks for a lower bound, and at
  /// the end, it reads that point as well, as it is at the iterate handed over (core/dual.h). After start().
  void watch(std::shared_ptr<const DualPoint> point) { dual_point_ = std::move(point); }

  /// Takes the sample of the starting point and starts the clock. Called by the solver once it is ready to
  /// iterate from w (allocation of its buffers comes before, all of its work on the problem after).
  void start(const SparseVector& w);

  /// Once an iteration, with the number of iterations done. `loss`: l(w) without penalties, where the
  /// solver's own objective computed it at exactly this w; what is not finite counts as not given. False:
  /// stop, for the reason in stop_status(). Throws Error where a full sample finds another loss than the one
  /// given.
  bool step(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set, double loss = kNoLoss);
  /// The same for solvers that keep w in a form of their own: iterate() makes its nonzeros, off the clock and
  /// only where they are needed. What it returns must not depend on whether it was called before.
  bool step(std::int64_t iteration, const std::function<SparseVector()>& iterate, std::uint64_t working_set,
            double loss = kNoLoss);

  /// Whether the clock has passed the time limit or an interrupt has arrived, for work within an iteration.
  /// Once true, always true: stop_status() says why, and the next step() is false. A solver then either gives
  /// up its iteration and returns the iterate of the last step() (no other step() is needed), or ends the
  /// iteration early. Takes no sample and does not stop the clock; costs no more than reading it. Between
  /// start() and finish(), on the solver's thread and on those that work for it, several at once; not while
  /// step() runs. Where processes share the instances they agree on the clock between iterations only: always
  /// false.
  bool out_of_time();
  /// The same, for work that knows no monitor; it must not outlive this one.
  StopToken stop_token() {
    return StopToken([this] { return out_of_time(); });
  }

  /// Stops the clock and makes sure that the last iterate has a full sample: where its iteration has a light
  /// one only, it gets a second row. `w` is that of the last step() where `iteration` is. Called by whoever
  /// called the solver. Throws like step().
  void finish(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set);

  Status stop_status() const { return stop_status_; }
  double seconds() const { return seconds_; }
  double cpu_seconds() const { return cpu_seconds_; }
  /// What all samples have cost: wall time off the clock inside the monitor, on_sample included, but not what
  /// gap_target costs.
  double sampling_seconds() const { return sampling_seconds_; }
  /// Wall time off the clock that gap_target has cost.
  double gap_seconds() const { return gap_seconds_; }
  /// The best lower bound on min F seen; -infinity: none.
  double lower_bound() const { return lower_bound_; }
  const Audits& audits() const { return audits_; }
  const std::vector<Sample>& trace() const { return trace_; }

 private:
  bool interrupted() const;
  void pause();
  void resume();
  void leave();
  void expect_started() const;
  bool must_sample() const;
  bool fine_sample_due(std::int64_t iteration) const;
  bool gap_due(std::int64_t iteration) const;
  bool gap_reached() const;
  bool full_sample_fits() const;
  bool accuracy_overdue() const;
  bool accuracy_fits() const;
  void measure_accuracy(const SparseVector& w, Sample& sample);
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
  void audit(const Sample& found, const SparseVector& w);
  void raise_bound(double bound, const char* from);
  void check_bound() const;
  void record(Sample sample);

  Objective& evaluator_;
  const Processes* processes_;  ///< those of the evaluator, which all go by the clock of the first
  const Objective& solver_objective_;
  MonitorOptions options_;
  const TestSet* test_;
  std::shared_ptr<const DualPoint> dual_point_;
  Scores scores_;
  Residual residual_;
  std::vector<Sample> trace_;
  std::atomic<Status> stop_status_ = Status::kMaxIterations;
  std::atomic<bool> out_of_time_ = false;
  Audits audits_;
  bool running_ = false;
  /// Of the last step().
  std::int64_t given_iteration_ = 0;
  double given_loss_ = kNoLoss;
  double step_seconds_ = 0.0;       ///< on the clock at the last step()
  double iteration_seconds_ = 0.0;  ///< that the last iteration took
  /// Of the last full sample.
  std::int64_t full_iteration_ = 0;
  double full_seconds_ = 0.0;
  /// The seconds that the next full sample is expected to take: those of the last one. The start's own sample
  /// may have met cold caches, so an iteration's time stands in for it where that is less.
  double full_cost_ = 0.0;
  /// Of the test accuracies since the start: when the last one was taken, what the next one may take, what
  /// all have taken.
  double accuracy_seconds_ = 0.0, accuracy_cost_ = 0.0, accuracy_total_ = 0.0;
  double seconds_ = 0.0, cpu_seconds_ = 0.0, wall_mark_ = 0.0, cpu_mark_ = 0.0;
  double sampling_seconds_ = 0.0, off_mark_ = 0.0;
  double start_cost_ = 0.0;  ///< of sampling_seconds_, what the sample of the start took
  double lower_bound_ = -std::numeric_limits<double>::infinity();
  const char* bound_from_ = "";
  double rounding_ = 0.0;  ///< of F, at the last bound
  /// The smallest F of full samples, and where it was found.
  double smallest_ = std::numeric_limits<double>::infinity();
  std::int64_t smallest_iteration_ = 0;
  SparseVector smallest_at_;
  /// The seconds that all gap samples took, and the last one; the clock and the iteration at the last one.
  double gap_seconds_ = 0.0, gap_cost_ = 0.0, gap_mark_ = 0.0;
  std::int64_t gap_iteration_ = 0;
};

}  // namespace proxbench
