#include "core/monitor.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/processes.h"
#include "core/dual.h"
#include "core/rounding.h"

namespace proxbench {

namespace {

/// A solver's loss and the one found at its iterate come from the same kernels, so they may differ by the
/// rounding of both. For solvers that advance scores in ways of their own, this many times that is accepted.
/// The loss of another iterate, or one that includes penalties, is off by far more.
constexpr double kAuditRoundings = 100.0;

/// Between two samples, the clock should grow by at most the share kLargestGrowth. So a sample is taken if
/// the next iteration could exceed this limit. That iteration may take kNextIteration times as long as the
/// last one, because other programs on the machine can slow it down.
constexpr double kLargestGrowth = 0.1, kNextIteration = 4.0;
/// Between two test accuracies the clock grows by at most this share, if the next iteration takes no longer
/// than the last one.
constexpr double kAccuracyGrowth = 0.25;
/// A full sample is taken only if the budget has room for this many: the sample itself and those at the start
/// and the end.
constexpr double kFullSamples = 3.0;

/// The monitor keeps a copy of an iterate if the iteration took at least this many seconds. Shorter ones end
/// soon enough by themselves.
constexpr double kLongIteration = 0.1;

/// Rounding hides a gap target if it exceeds the target, and the gap is at most this many times the rounding:
/// then more iterations prove nothing more.
constexpr double kHiddenGap = 2.0;

/// kkt, which a hinge loss has only where w is optimal.
double kkt_of(const Objective& objective, const Objective::Selection& found) {
  return objective.loss().hinge() && found.kkt_max != 0.0 ? kNaN : found.kkt_max;
}

double read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

double wall_seconds() {
  return read_clock(CLOCK_MONOTONIC);
}

double process_cpu_seconds() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

TestSet::TestSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel,
                 std::vector<const MetricInfo*> metrics, Decoding decoding)
    : data_(data), oracle_(oracle), parallel_(parallel), metrics_(std::move(metrics)), decoding_(decoding) {}

std::vector<Index> TestSet::decode(const SparseVector& w) const {
  const LinearMap map(data_.x, oracle_, parallel_);
  Scores scores = map.make_scores();
  map.apply(w, scores);
  std::vector<Index> outputs(data_.prediction_size());
  oracle_.decode(scores, decoding_, outputs, parallel_);
  return outputs;
}

void TestSet::measure(const SparseVector& w, Sample& sample) const {
  if (metrics_.empty()) return;
  const std::vector<Index> prediction = decode(w);
  for (const MetricInfo* metric : metrics_) {
    const bool main = metric == metrics_.front();
    (main ? sample.test_accuracy : sample.test_metrics[metric->name]) = metric->measure(data_, prediction);
  }
}

Certificate certify(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  return certificate_of(objective, w, bound_at(objective, w, scores, residual));
}

double kkt_at_zero(Objective& objective) {
  Residual residual = objective.make_residual();
  objective.infer({objective.make_scores()}, &residual);
  Objective::Selection found;
  objective.select_gradient(residual, {}, kInfinity, found);
  return kkt_of(objective, found);
}

Certificate certificate_of(const Objective& objective, const SparseVector& w, const PointBound& found) {
  Certificate c;
  c.loss = found.loss;
  c.objective = found.objective;
  c.l1 = l1_norm(w.value);
  c.nnz = w.nnz();
  c.kkt = kkt_of(objective, found.selection);
  c.dual = found.bound.value;
  c.rounding = found.rounding;
  c.kkt_rounding = found.kkt_rounding;
  return c;
}

const char* status_name(Status status) {
  constexpr const char* kNames[] = {"converged",      "target-reached", "gap-reached",
                                    "max-iterations", "time-limit",     "interrupted",
                                    "stalled",        "small-change",   "diverged"};
  return kNames[static_cast<std::size_t>(status)];
}

Monitor::Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
                 const TestSet* test)
    : evaluator_(evaluator),
      processes_(evaluator.parallel().processes()),
      solver_objective_(solver_objective),
      options_(options),
      own_clock_(options.clock),
      test_(test),
      scores_(evaluator.make_scores()),
      stall_rule_(evaluator.x().whole_positions()) {
  if (processes_ != nullptr)
    options_.clock = [processes = processes_, own = options.clock] { return agree(processes, own()); };
  for (const auto& [name, value] :
       {std::pair{"sampling_budget", options.sampling_budget}, {"gap_target", options.gap_target}})
    if (!(value >= 0.0))
      throw Error::usage(name, " = ", shortest_text(value), ": violated constraint ", name, " >= 0");
  if (std::isnan(options.objective_target)) throw Error::usage("objective_target = nan: expected a number");
  if (options.sample_kkt || options.gap_target > 0.0) residual_ = evaluator.make_residual();
}

void Monitor::pause() {
  off_mark_ = options_.clock();
  seconds_ += off_mark_ - wall_mark_;
  cpu_seconds_ += process_cpu_seconds() - cpu_mark_;
  running_ = false;
}

void Monitor::resume() {
  running_ = true;
  cpu_mark_ = process_cpu_seconds();
  leave();
  wall_mark_ = off_mark_;
}

/// Counts the time since off_mark_ as time of the monitor itself.
void Monitor::leave() {
  const double now = options_.clock();
  sampling_seconds_ += now - off_mark_;
  off_mark_ = now;
}

void Monitor::start(const SparseVector& w) {
  off_mark_ = options_.clock();
  const StopScope scope = evaluation("F at the start was computed");
  take_full_sample(0, w, w.nnz());
  keep(
      0, [&]() -> const SparseVector& { return w; }, w.nnz());
  accuracy_total_ = 0.0;
  resume();
  start_cost_ = sampling_seconds_;
}

void Monitor::expect_started() const {
  if (trace_.empty()) throw Error("the solver did not call start() of its monitor, expected before step()");
}

/// Whether one more iteration could carry the clock too far from the last sample.
bool Monitor::must_sample() const {
  return seconds_ + kNextIteration * iteration_seconds_ > (1.0 + kLargestGrowth) * trace_.back().seconds;
}

bool Monitor::fine_sample_due(std::int64_t iteration) const {
  return iteration <= options_.dense_samples ||
         seconds_ >= trace_.back().seconds * (1.0 + options_.sample_growth);
}

bool Monitor::gap_due() const {
  return options_.gap_target > 0.0 && gap_rule_.due(solver_objective_.passes());
}

bool Monitor::full_sample_fits() const {
  if (options_.sample_kkt || std::isinf(options_.sampling_budget)) return true;
  const double budget = options_.sampling_budget;
  return sampling_seconds_ - start_cost_ + kFullSamples * full_cost_ <= budget * seconds_ &&
         full_cost_ <= budget * (seconds_ - full_seconds_);
}

bool Monitor::accuracy_overdue() const {
  return test_ != nullptr && seconds_ + iteration_seconds_ > (1.0 + kAccuracyGrowth) * accuracy_seconds_;
}

bool Monitor::accuracy_fits() const {
  const double budget = 0.5 * options_.sampling_budget;
  return test_ != nullptr && budget > 0.0 && accuracy_total_ + accuracy_cost_ <= budget * seconds_ &&
         accuracy_cost_ <= budget * (seconds_ - accuracy_seconds_);
}

void Monitor::measure_accuracy(const SparseVector& w, Sample& sample) {
  const double began = options_.clock();
  test_->measure(w, sample);
  accuracy_cost_ = options_.clock() - began;
  accuracy_total_ += accuracy_cost_;
  accuracy_seconds_ = seconds_;
}

/// Whether an interrupt has reached this process.
bool Monitor::own_interrupt() const {
  return interrupt != nullptr && interrupt->load();
}

bool Monitor::interrupted() const {
  return agree(processes_, own_interrupt());
}

bool Monitor::out_of_time() {
  if (out_of_time_) return true;
  if (processes_ != nullptr) return false;
  const bool interrupted = this->interrupted();
  const bool passed = running_ && std::isfinite(options_.time_limit) &&
                      seconds_ + (options_.clock() - wall_mark_) >= options_.time_limit;
  if (!interrupted && !passed) return false;
  // The first thread that notices sets the reason.
  if (!out_of_time_.exchange(true)) stop_status_ = interrupted ? Status::kInterrupted : Status::kTimeLimit;
  return true;
}

/// Whether the solver has had kPatience seconds since a limit or an interrupt, and the last iterate is kept.
bool Monitor::overdue() {
  if (!has_kept_) return false;
  const double now = own_clock_();
  const bool passed = running_ && seconds_ + (now - wall_mark_) >= options_.time_limit;
  return (own_interrupt() || passed) && solver_patience_.ended(now, kPatience);
}

bool Monitor::evaluated_too_long() {
  return own_interrupt() && evaluation_patience_.ended(own_clock_(), std::max(kPatience, full_cost_));
}

template <class Iterate>
void Monitor::keep(std::int64_t iteration, const Iterate& iterate, std::uint64_t working_set) {
  has_kept_ = iteration == 0 || iteration_seconds_ >= kLongIteration;
  if (!has_kept_) return;
  kept_.w = iterate();  // reuses its memory
  kept_.iteration = iteration;
  kept_.working_set = working_set;
}

Monitor::Kept Monitor::kept() {
  stop_status_ = agree(processes_, own_interrupt() ? Status::kInterrupted : Status::kTimeLimit);
  dual_point_ = nullptr;  // it may be incomplete
  return std::move(kept_);
}

/// Decides, with the clock stopped, whether to go on. If so, starts the clock again.
bool Monitor::proceed(std::int64_t iteration) {
  if (out_of_time_) {
    leave();
    return false;
  }
  if (interrupted())
    stop_status_ = Status::kInterrupted;
  else if (!std::isfinite(trace_.back().objective))
    stop_status_ = Status::kDiverged;
  else if (trace_.back().objective <= options_.objective_target)
    stop_status_ = Status::kTargetReached;
  else if (options_.gap_target > 0.0 && counted_gap_ <= options_.gap_target)
    stop_status_ = Status::kGapReached;
  else if (gap_hidden_ || stall_rule_.stalled())
    stop_status_ = Status::kStalled;
  else if (seconds_ >= options_.time_limit)
    stop_status_ = Status::kTimeLimit;
  else if (iteration >= options_.max_iterations)
    stop_status_ = Status::kMaxIterations;
  else {
    resume();
    return true;
  }
  leave();
  return false;
}

/// Takes the samples of this iteration that are due. iterate() returns the nonzeros of w, by value or by
/// reference.
template <class Iterate>
void Monitor::sample_at(std::int64_t iteration, const Iterate& iterate, std::uint64_t working_set,
                        double loss) {
  const bool given = std::isfinite(loss);
  const bool must = must_sample() || accuracy_overdue();
  const bool due = must || fine_sample_due(iteration);
  if (gap_due()) {
    take_gap_sample(iteration, iterate(), working_set);
  } else if (due) {
    if (full_sample_fits() || (must && !given))
      take_full_sample(iteration, iterate(), working_set);
    else if (given)
      take_light_sample(iteration, iterate(), working_set, loss);
  } else if (given && loss <= options_.objective_target) {  // F is at least the loss
    const Sample sample = light_sample(iteration, iterate(), working_set, loss);
    if (sample.objective <= options_.objective_target) record(sample);
  }
  if (options_.stalls && stall_rule_.due(iteration)) {
    if (trace_.back().iteration != iteration) {
      if (given)
        take_light_sample(iteration, iterate(), working_set, loss);
      else
        take_full_sample(iteration, iterate(), working_set);
    }
    stall_rule_.checked(iteration, trace_.back().objective);
  }
}

template <class Iterate>
bool Monitor::step_at(std::int64_t iteration, const Iterate& iterate, std::uint64_t working_set,
                      double loss) {
  pause();
  expect_started();
  given_iteration_ = iteration;
  given_loss_ = loss;
  iteration_seconds_ = seconds_ - step_seconds_;
  step_seconds_ = seconds_;
  if (full_iteration_ == 0) full_cost_ = std::min(full_cost_, iteration_seconds_);
  try {
    const StopScope scope = evaluation("a sample was taken");
    sample_at(iteration, iterate, working_set, loss);
    keep(iteration, iterate, working_set);
  } catch (const Stopped&) {  // there is no sample, and proceed() sees the interrupt
  }
  return proceed(iteration);
}

bool Monitor::step(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set, double loss) {
  return step_at(
      iteration, [&]() -> const SparseVector& { return w; }, working_set, loss);
}

bool Monitor::step(std::int64_t iteration, const std::function<SparseVector()>& iterate,
                   std::uint64_t working_set, double loss) {
  return step_at(iteration, iterate, working_set, loss);
}

void Monitor::finish(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set) {
  expect_started();
  if (running_)
    pause();
  else
    off_mark_ = options_.clock();
  raise_bound_of_dual_point();
  if (full_iteration_ != iteration) take_full_sample(iteration, w, working_set);
  check_bound();
  leave();
}

/// Once a limit or an interrupt has ended the run, the value of the dual point may take kPatience seconds or
/// the time of a full sample, whichever is longer.
void Monitor::raise_bound_of_dual_point() {
  if (dual_point_ == nullptr) return;
  const Status status = stop_status_;
  const bool hurry = status == Status::kTimeLimit || status == Status::kInterrupted;
  const double end = own_clock_() + std::max(kPatience, full_cost_);
  try {
    const StopScope scope(StopToken([&] { return hurry && own_clock_() > end; }), "the dual point was valued",
                          processes_);
    raise_bound(dual_point_->value(evaluator_), "the solver's dual point");
  } catch (const Stopped&) {  // the gradient gives a bound as well
  }
}

Sample Monitor::light_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set,
                             double loss) const {
  Sample sample;
  sample.seconds = seconds_;
  sample.cpu_seconds = cpu_seconds_;
  sample.iteration = iteration;
  sample.passes = solver_objective_.passes();
  sample.updates = solver_objective_.updates().value_or(static_cast<double>(iteration));
  sample.nnz = w.nnz();
  sample.working_set = working_set;
  sample.loss = loss;
  sample.objective = loss + evaluator_.l1(w.value) + evaluator_.l2(w.value);
  return sample;
}

void Monitor::take_light_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set,
                                double loss) {
  Sample sample = light_sample(iteration, w, working_set, loss);
  if (accuracy_overdue() || accuracy_fits()) measure_accuracy(w, sample);
  record(sample);
}

/// Computes F at w by inference. If `with_gradient` is true, also measures kkt and a lower bound from a full
/// gradient. Audits the given loss.
Sample Monitor::full_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set,
                            bool with_gradient) {
  evaluator_.scores(w, scores_);
  PointBound found;
  if (with_gradient)
    found = bound_at(evaluator_, w, scores_, residual_);
  else
    found.loss = evaluator_.infer({scores_}, nullptr);
  Sample sample = light_sample(iteration, w, working_set, found.loss);
  if (given_iteration_ == iteration && std::isfinite(given_loss_)) audit(sample, w);
  if (sample.objective < smallest_) {
    smallest_ = sample.objective;
    smallest_loss_ = sample.loss;
    smallest_iteration_ = iteration;
    smallest_at_ = w;
  }
  if (!with_gradient) return sample;
  found_bound_ = found.bound.value;
  sample.kkt = kkt_of(evaluator_, found.selection);
  rounding_ = found.rounding;
  raise_bound(found.bound.value, "the gradient");
  if (dual_point_ != nullptr) {
    const double value = dual_point_->value(evaluator_);
    raise_bound(value, "the solver's dual point");
    found_bound_ = std::fmax(found_bound_, value);
    if (const double gap = std::max(sample.objective - value, found.rounding); std::isfinite(gap))
      sample.dual_gap = gap;
    sample.estimated_gap = dual_point_->estimated_gap();
    sample.infeasibility = dual_point_->infeasibility();
  }
  check_bound();
  return sample;
}

void Monitor::raise_bound(double bound, const char* from) {
  if (!std::isfinite(bound) || !(bound > lower_bound_)) return;
  lower_bound_ = bound;
  bound_from_ = from;
}

/// Throws Error if the best bound is above the smallest F found by more than rounding: one of the two is
/// wrong.
void Monitor::check_bound() const {
  if (!(lower_bound_ > smallest_)) return;
  const double off = point_rounding(evaluator_, smallest_at_, smallest_loss_).objective;
  if (!(lower_bound_ > smallest_ + off)) return;
  throw Error("the lower bound ", shortest_text(lower_bound_), " on min F, from ", bound_from_,
              ", is above F = ", shortest_text(smallest_), " at iteration ", smallest_iteration_,
              ", which is known to ", shortest_text(off), ": one of the two is wrong");
}

void Monitor::take_full_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set) {
  const double began = options_.clock();
  Sample sample = full_sample(iteration, w, working_set, options_.sample_kkt);
  if (test_ != nullptr) measure_accuracy(w, sample);
  record(sample);
  full_iteration_ = iteration;
  full_seconds_ = seconds_;
  full_cost_ = options_.clock() - began;
}

/// Takes a full sample whose cost is not part of the sampling budget. It measures test accuracy under the
/// rules of light samples.
void Monitor::take_gap_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set) {
  const double began = options_.clock();
  Sample sample = full_sample(iteration, w, working_set, true);
  judge_gap(sample);
  const double cost = options_.clock() - began;
  gap_seconds_ += cost;
  off_mark_ += cost;
  if (accuracy_overdue() || accuracy_fits()) measure_accuracy(w, sample);
  record(sample);
}

/// Finds the relative gap that the bounds of gap samples prove at `sample`, the latest gap sample, and
/// whether rounding hides the target.
void Monitor::judge_gap(const Sample& sample) {
  if (std::isfinite(found_bound_)) counted_bound_ = std::max(counted_bound_, found_bound_);
  const double size = std::abs(sample.objective);
  const double gap = std::max(sample.objective - counted_bound_, rounding_);
  counted_gap_ = gap > 0.0 ? gap / size : gap;
  gap_hidden_ = rounding_ >= options_.gap_target * size && gap <= kHiddenGap * rounding_ && gap > 0.0;
  gap_rule_.checked(sample.passes, counted_gap_ / options_.gap_target);
}

/// Scores that were advanced are off by at most 2^-53 * advanced in norm, and advanced <= kMostAdvanced *
/// norm (OutputColumns). An error e of the scores changes the loss by at most 2 max |e| at each position, and
/// these add up to at most 2 sqrt(positions) times the norm of e.
void Monitor::audit(const Sample& found, const SparseVector& w) {
  const double off = std::abs(given_loss_ - found.loss);
  if (off > 0.0) {
    const double drift = 2.0 * std::sqrt(static_cast<double>(evaluator_.x().whole_positions())) *
                         kUnitRoundoff * Scores::kMostAdvanced * evaluator_.map().norm(scores_);
    const double allowed =
        kAuditRoundings * (point_rounding(evaluator_, w, found.loss, {&scores_}).objective + drift);
    if (!(off <= allowed))
      throw Error("iteration ", found.iteration, ": the solver gave the loss ", shortest_text(given_loss_),
                  ", but at its iterate the loss is ", shortest_text(found.loss),
                  ": expected a difference of at most ", shortest_text(allowed));
  }
  ++audits_.count;
  audits_.largest = std::max(audits_.largest, off / std::max(1.0, std::abs(found.loss)));
}

void Monitor::record(Sample sample) {
  if (std::isfinite(lower_bound_) && std::isfinite(sample.objective) && std::isfinite(rounding_))
    sample.gap = std::max(sample.objective - lower_bound_, rounding_);
  trace_.push_back(sample);
  if (on_sample) on_sample(sample);
}

}  // namespace proxbench
