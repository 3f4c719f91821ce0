#include "core/monitor/monitor.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/certificates/rounding.h"

namespace proxbench {

namespace {

/// The monitor keeps a copy of an iterate if the iteration took at least this many seconds. Shorter ones end
/// soon enough by themselves. An iterate that has to be made must also be cheap beside the iteration: it
/// takes up to this many seconds for each weight.
constexpr double kLongIteration = 0.1, kMakingWeight = 1.6e-7;

const MonitorOptions& checked(const MonitorOptions& options) {
  for (const auto& [name, value] :
       {std::pair{"sampling_budget", options.sampling_budget}, {"gap_target", options.gap_target}})
    if (!(value >= 0.0))
      throw Error::usage(name, " = ", number_text(value), ": violated constraint ", name, " >= 0");
  if (std::isnan(options.objective_target)) throw Error::usage("objective_target = nan: expected a number");
  return options;
}

}  // namespace

const char* status_name(Status status) {
  constexpr const char* kNames[] = {"converged",  "target-reached", "gap-reached", "max-iterations",
                                    "time-limit", "interrupted",    "stalled",     "small-change",
                                    "diverged",   "failed",         "crashed",     "out-of-memory",
                                    "skipped"};
  return kNames[static_cast<std::size_t>(status)];
}

Monitor::Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
                 const EvaluationSet* test)
    : evaluator_(evaluator),
      solver_objective_(solver_objective),
      options_(checked(options)),
      clock_(options_),
      schedule_(options, test != nullptr, evaluator.map().x().whole_positions()),
      light_(clock_, evaluator, solver_objective),
      audit_(evaluator),
      kkt_(evaluator),
      bound_(evaluator),
      observers_{&light_, &audit_, &kkt_, &bound_},
      scores_(evaluator.make_scores()) {
  if (test != nullptr) observers_.push_back(&accuracy_.emplace(*test, clock_, schedule_));
  if (options.sample_kkt || options.gap_target > 0.0) residual_ = evaluator.make_residual();
}

bool Monitor::start(const SparseVector& w) {
  clock_.skip_off_clock();
  const StopScope scope = evaluation("F at the start was computed");
  working_set_ = w.nnz();
  take(SampleKind::kFull, w);
  keep([&]() -> const SparseVector& { return w; });
  schedule_.spend(clock_.resume());
  schedule_.started();
  if (std::isfinite(trace_.back().objective)) return true;
  stop_status_ = Status::kDiverged;
  return false;
}

void Monitor::stop_clock() {
  if (trace_.empty()) throw Error("the solver did not call start() of its monitor, expected before step()");
  if (clock_.running())
    clock_.pause();
  else
    clock_.skip_off_clock();
}

bool Monitor::step(const SparseVector& w, double loss, std::optional<std::uint64_t> working_set) {
  return step_at([&]() -> const SparseVector& { return w; }, loss, working_set.value_or(w.nnz()));
}

bool Monitor::step(const std::function<SparseVector()>& iterate, double loss, std::uint64_t working_set) {
  return step_at(iterate, loss, working_set);
}

template <class Iterate>
bool Monitor::step_at(const Iterate& iterate, double loss, std::uint64_t working_set) {
  stop_clock();
  ++iterations_;
  working_set_ = working_set;
  given_loss_ = loss;
  try {
    const StopScope scope = evaluation("a sample was taken");
    take_due_samples(iterate);
    keep(iterate);
  } catch (const Stopped&) {  // there is no sample, and proceed() sees the interrupt
  }
  return proceed();
}

template <class Iterate>
void Monitor::take_due_samples(const Iterate& iterate) {
  const bool given = std::isfinite(given_loss_);
  average(iterate);
  const SampleKind due = schedule_.due(iterations_, clock_.seconds(), work(), given);
  if (due != SampleKind::kNone) {
    take(due, iterate());
  } else if (given && given_loss_ <= options_.objective_target) {  // F is at least the loss
    const Sample sample = look(SampleKind::kLight, iterate(), false);
    if (sample.objective <= options_.objective_target) record(sample);
  }
  if (!schedule_.stall_due(iterations_)) return;
  if (trace_.back().iteration != iterations_) take(given ? SampleKind::kLight : SampleKind::kFull, iterate());
  schedule_.stall_rule().checked(iterations_, trace_.back().objective);
}

/// Adds an iterate to the mean that the next bound looks at, if a bound is near. With a hinge loss, or
/// without an l1 penalty, the bound of the last iterate is as good as that of the mean. A solver's dual point
/// is better than both.
template <class Iterate>
void Monitor::average(const Iterate& iterate) {
  const Objective& objective = evaluator_;
  if (objective.lambda() == 0.0 || objective.loss().hinge() || bound_.watches() ||
      !std::isfinite(given_loss_) || !schedule_.gap_goal().averages(work()))
    return mean_.clear();
  const SparseVector& w = iterate();
  mean_.add(w, objective.value(given_loss_, w.value));
}

/// Infers the loss at w, its rounding, and what else the observers need for a bound or for kkt. kkt brings a
/// bound from w. `mean` asks for the bound from the mean of the iterates; the better bound counts.
PointBound Monitor::evaluate(const SparseVector& w, bool mean, const Observed& at) {
  evaluator_.scores(w, scores_);
  PointBound found;
  if (at.with_kkt) {
    found = bound_at(evaluator_, w, scores_, residual_);
  } else {
    Residual* const residual = at.with_bound ? &residual_ : nullptr;
    found.loss = evaluator_.infer({scores_}, residual);
    found.rounding = point_rounding(evaluator_, w, found.loss, &scores_, residual).objective;
  }
  if (!mean) return found;
  const SparseVector of = mean_.mean();
  if (mean_scores_.values.empty()) mean_scores_ = evaluator_.make_scores();
  evaluator_.scores(of, mean_scores_);
  found.dual = std::max(found.dual, bound_at(evaluator_, of, mean_scores_, residual_).dual);
  return found;
}

/// Shows an iterate, and what a full sample needs, to the observers.
Sample Monitor::look(SampleKind kind, const SparseVector& w, bool with_accuracy) {
  PointBound found;
  Observed at{.iteration = iterations_,
              .w = w,
              .working_set = working_set_,
              .given_loss = given_loss_,
              .with_accuracy = with_accuracy};
  if (kind != SampleKind::kLight) {
    const bool mean = kind == SampleKind::kGap && mean_.useful();
    at.with_bound = options_.sample_kkt || kind == SampleKind::kGap;
    at.with_kkt = options_.sample_kkt || (at.with_bound && !mean && !bound_.watches());
    found = evaluate(w, mean, at);
    at.scores = &scores_;
    at.found = &found;
  }
  Sample sample;
  for (Observer* const observer : observers_) observer->observe(at, sample);
  return sample;
}

void Monitor::take(SampleKind kind, const SparseVector& w) {
  schedule_.spend(clock_.take_off_clock());
  const bool with_accuracy = kind == SampleKind::kFull ? accuracy_.has_value() : schedule_.accuracy_due();
  const Sample sample = look(kind, w, with_accuracy);
  const double cost = clock_.take_off_clock();
  if (kind == SampleKind::kGap) {
    const double of_accuracy = accuracy_ ? accuracy_->cost() : 0.0;
    gap_seconds_ += cost - of_accuracy;
    schedule_.spend(of_accuracy);
    schedule_.gap_goal().checked(work(), sample.objective, bound_.last(), bound_.rounding());
    mean_.clear();
  } else {
    schedule_.spend(cost);
  }
  record(sample);
  if (kind != SampleKind::kFull) return;
  full_iteration_ = iterations_;
  schedule_.sampled_in_full(cost);
}

void Monitor::record(Sample sample) {
  trace_.push_back(std::move(sample));
  schedule_.sampled();
  if (on_sample) on_sample(trace_.back());
}

/// Decides, with the clock stopped, whether to go on. If so, starts the clock again.
bool Monitor::proceed() {
  if (!out_of_time_) {
    const std::optional<Status> reason = reason_to_stop();
    if (!reason) {
      schedule_.spend(clock_.resume());
      return true;
    }
    stop_status_ = *reason;
  }
  schedule_.spend(clock_.take_off_clock());
  return false;
}

std::optional<Status> Monitor::reason_to_stop() {
  const double objective = trace_.back().objective;
  if (clock_.interrupted()) return Status::kInterrupted;
  if (!std::isfinite(objective)) return Status::kDiverged;
  if (objective <= options_.objective_target) return Status::kTargetReached;
  if (schedule_.gap_goal().reached()) return Status::kGapReached;
  if (schedule_.gap_goal().hidden() || schedule_.stall_rule().stalled()) return Status::kStalled;
  if (clock_.limit_passed()) return Status::kTimeLimit;
  if (iterations_ >= options_.max_iterations) return Status::kMaxIterations;
  return std::nullopt;
}

bool Monitor::out_of_time() {
  if (out_of_time_) return true;
  if (!clock_.alone()) return false;
  const bool interrupted = clock_.interrupted_here();
  if (!interrupted && !clock_.limit_passed_here()) return false;
  // The first thread that notices sets the reason.
  if (!out_of_time_.exchange(true)) stop_status_ = interrupted ? Status::kInterrupted : Status::kTimeLimit;
  return true;
}

/// Whether the solver has had kPatience seconds since a limit or an interrupt, and the last iterate is kept.
bool Monitor::overdue() {
  if (!has_kept_) return false;
  const double now = clock_.own();
  return (clock_.interrupted_here() || clock_.limit_passed_here()) && solver_patience_.ended(now, kPatience);
}

bool Monitor::evaluated_too_long() {
  return clock_.interrupted_here() &&
         evaluation_patience_.ended(clock_.own(), std::max(kPatience, schedule_.full_cost()));
}

template <class Iterate>
void Monitor::keep(const Iterate& iterate) {
  constexpr bool kMade = !std::is_reference_v<std::invoke_result_t<const Iterate&>>;
  const double long_enough =
      std::max(kLongIteration, kMade ? kMakingWeight * static_cast<double>(working_set_) : 0.0);
  has_kept_ = iterations_ == 0 || schedule_.iteration_seconds() >= long_enough;
  if (has_kept_) kept_ = iterate();  // reuses its memory
}

SparseVector Monitor::kept() {
  stop_status_ = clock_.interrupted() ? Status::kInterrupted : Status::kTimeLimit;
  bound_.watch(nullptr);  // the dual point may be incomplete
  return std::move(kept_);
}

void Monitor::finish(const SparseVector& w) {
  stop_clock();
  value_dual_point();
  if (full_iteration_ != iterations_) take(SampleKind::kFull, w);
  bound_.check();
  schedule_.spend(clock_.take_off_clock());
}

/// Once a limit or an interrupt has ended the run, the value of the dual point may take kPatience seconds or
/// the time of a full sample, whichever is longer.
void Monitor::value_dual_point() {
  const Status status = stop_status_;
  const bool hurry = status == Status::kTimeLimit || status == Status::kInterrupted;
  const double end = clock_.own() + std::max(kPatience, schedule_.full_cost());
  try {
    const StopScope scope =
        clock_.scope([&] { return hurry && clock_.own() > end; }, "the dual point was valued");
    bound_.value_dual_point();
  } catch (const Stopped&) {  // the gradient gives a bound as well
  }
}

}  // namespace proxbench
