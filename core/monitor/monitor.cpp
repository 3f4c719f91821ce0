#include "core/monitor/monitor.h"

#include "core/base/options.h"
#include "core/certificates/rounding.h"

namespace proxbench {

namespace {

/// The monitor keeps a copy of an iterate if the iteration took at least this many seconds. Shorter ones end
/// soon enough by themselves.
constexpr double kLongIteration = 0.1;

/// A solver's loss and the one found at its iterate come from the same kernels, so they may differ by the
/// rounding of both. For solvers that advance scores in ways of their own, this many times that is accepted.
/// The loss of another iterate, or one that includes penalties, is off by far more.
constexpr double kAuditRoundings = 100.0;

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
  constexpr const char* kNames[] = {"converged",      "target-reached", "gap-reached",
                                    "max-iterations", "time-limit",     "interrupted",
                                    "stalled",        "small-change",   "diverged"};
  return kNames[static_cast<std::size_t>(status)];
}

Monitor::Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
                 const EvaluationSet* test)
    : evaluator_(evaluator),
      solver_objective_(solver_objective),
      options_(checked(options)),
      clock_(options_),
      schedule_(options, test != nullptr, evaluator.map().x().whole_positions()),
      test_(test),
      bound_(evaluator),
      scores_(evaluator.make_scores()) {
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
  return step_at([&]() -> const SparseVector& { return made_ = iterate(); }, loss, working_set);
}

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

void Monitor::take_due_samples(const Iterate& iterate) {
  const bool given = std::isfinite(given_loss_);
  average(iterate);
  const SampleKind due =
      schedule_.due(iterations_, clock_.seconds(), solver_objective_.counts().passes(), given);
  if (due != SampleKind::kNone) {
    take(due, iterate());
  } else if (given && given_loss_ <= options_.objective_target) {  // F is at least the loss
    const Sample sample = make_sample(SampleKind::kLight, iterate(), false);
    if (sample.objective <= options_.objective_target) record(sample);
  }
  if (!schedule_.stall_due(iterations_)) return;
  if (trace_.back().iteration != iterations_) take(given ? SampleKind::kLight : SampleKind::kFull, iterate());
  schedule_.stall_rule().checked(iterations_, trace_.back().objective);
}

/// Adds an iterate to the mean that the next bound looks at, if a bound is near. With a hinge loss, or
/// without an l1 penalty, the bound of the last iterate is as good as that of the mean. A solver's dual point
/// is better than both.
void Monitor::average(const Iterate& iterate) {
  const Objective& objective = evaluator_;
  if (objective.lambda() == 0.0 || objective.loss().hinge() || bound_.watches() ||
      !std::isfinite(given_loss_) || !schedule_.gap_goal().averages(solver_objective_.counts().passes()))
    return mean_.clear();
  const SparseVector& w = iterate();
  mean_.add(w, objective.value(given_loss_, w.value));
}

/// Infers the loss at w and, on request, a bound with kkt. With `mean`, the bound is that of the mean of
/// iterates, or that of w if this one is better and is computed for kkt.
PointBound Monitor::evaluate(const SparseVector& w, bool mean, bool with_kkt) {
  evaluator_.scores(w, scores_);
  PointBound found;
  if (with_kkt) {
    found = bound_at(evaluator_, w, scores_, residual_);
  } else {
    found.loss = evaluator_.infer({scores_}, mean ? &residual_ : nullptr);
    if (mean) found.rounding = point_rounding(evaluator_, w, found.loss, &scores_, &residual_).objective;
  }
  if (!mean) return found;
  const SparseVector of = mean_.mean();
  if (mean_scores_.values.empty()) mean_scores_ = evaluator_.make_scores();
  evaluator_.scores(of, mean_scores_);
  found.dual = std::max(found.dual, bound_at(evaluator_, of, mean_scores_, residual_).dual);
  return found;
}

/// Compares the loss that the solver gave at w, if any, with `loss`, found at scores_. Scores that were
/// advanced are off by at most 2^-53 * advanced in norm, and advanced <= kMostAdvanced * norm
/// (OutputColumns). An error e of the scores changes the loss by at most 2 max |e| at each position, and
/// these add up to at most 2 sqrt(positions) times the norm of e.
void Monitor::audit(const SparseVector& w, double loss) {
  if (!std::isfinite(given_loss_)) return;
  const double off = std::abs(given_loss_ - loss);
  if (off > 0.0) {
    const double drift = 2.0 * std::sqrt(static_cast<double>(evaluator_.map().x().whole_positions())) *
                         kUnitRoundoff * Scores::kMostAdvanced * evaluator_.map().norm(scores_);
    const double allowed =
        kAuditRoundings * (point_rounding(evaluator_, w, loss, &scores_).objective + drift);
    if (!(off <= allowed))
      throw Error("iteration ", iterations_, ": the solver gave the loss ", number_text(given_loss_),
                  ", but at its iterate the loss is ", number_text(loss),
                  ": expected a difference of at most ", number_text(allowed));
  }
  ++audits_.count;
  audits_.largest = std::max(audits_.largest, off / std::max(1.0, std::abs(loss)));
}

/// Makes a sample: F from the monitor's own loss if it is full, otherwise from the solver's.
Sample Monitor::make_sample(SampleKind kind, const SparseVector& w, bool with_accuracy) {
  const bool full = kind != SampleKind::kLight, mean = kind == SampleKind::kGap && mean_.useful(),
             with_bound = full && (options_.sample_kkt || kind == SampleKind::kGap),
             with_kkt = full && (options_.sample_kkt || (with_bound && !mean));
  const Counts& counts = solver_objective_.counts();
  PointBound found;
  found.loss = given_loss_;
  if (full) found = evaluate(w, mean, with_kkt);
  Sample sample{.seconds = clock_.seconds(),
                .cpu_seconds = clock_.cpu_seconds(),
                .iteration = iterations_,
                .passes = counts.passes(),
                .updates = counts.updates().value_or(static_cast<double>(iterations_)),
                .objective = evaluator_.value(found.loss, w.value),
                .loss = found.loss,
                .nnz = w.nnz(),
                .working_set = working_set_};
  if (full) {
    audit(w, sample.loss);
    bound_.saw(w, sample);
  }
  if (with_kkt) sample.kkt = found.kkt;
  if (with_bound) bound_.raise(found, sample);
  bound_.set_gap(sample);
  accuracy_seconds_ = 0.0;
  if (with_accuracy) {
    const double began = clock_.now();
    test_->measure(w, sample);
    accuracy_seconds_ = clock_.now() - began;
    schedule_.measured_accuracy(accuracy_seconds_);
  }
  return sample;
}

void Monitor::take(SampleKind kind, const SparseVector& w) {
  schedule_.spend(clock_.take_off_clock());
  const bool with_accuracy = kind == SampleKind::kFull ? test_ != nullptr : schedule_.accuracy_due();
  const Sample sample = make_sample(kind, w, with_accuracy);
  const double cost = clock_.take_off_clock();
  if (kind == SampleKind::kGap) {
    gap_seconds_ += cost - accuracy_seconds_;
    schedule_.spend(accuracy_seconds_);
    schedule_.gap_goal().checked(sample.passes, sample.objective, bound_.last(), bound_.rounding());
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

void Monitor::keep(const Iterate& iterate) {
  has_kept_ = iterations_ == 0 || schedule_.iteration_seconds() >= kLongIteration;
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
