#include "experiments/run/path.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/certificates/dual.h"
#include "core/data/reduction.h"
#include "core/known_start.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Adds the time between its construction and destruction to the clock.
class OnClock {
 public:
  OnClock(RunFigures& total, const Processes* processes)
      : total_(total),
        processes_(processes),
        wall_(agree(processes, wall_seconds())),
        cpu_(process_cpu_seconds()) {}
  OnClock(const OnClock&) = delete;
  OnClock& operator=(const OnClock&) = delete;
  ~OnClock() {
    total_.seconds += agree(processes_, wall_seconds()) - wall_;
    total_.cpu_seconds += process_cpu_seconds() - cpu_;
  }

 private:
  RunFigures& total_;
  const Processes* processes_;
  double wall_, cpu_;
};

/// Whether the solver reached its target.
bool reached(Status status) {
  return status == Status::kConverged || status == Status::kGapReached;
}

/// Whether the point is done: the solver ended by itself or at max_iterations. A point that the time limit or
/// the user interrupts is not done.
bool done(Status status) {
  return reached(status) || status == Status::kStalled || status == Status::kSmallChange ||
         status == Status::kMaxIterations;
}

class Path {
 public:
  Path(const LoadedData& data, const RunParameters& settings, std::span<const Penalty> penalties,
       const RunHooks& hooks, const PathStart& start)
      : data_(data),
        settings_(settings),
        penalties_(penalties),
        over_mu_(penalties.front().mu != penalties.back().mu),
        hooks_(hooks),
        solver_(solver_registry().find(settings.solver)),
        options_(options_from(solver_.options, settings.solver_options)),
        began_(wall_seconds()),
        // lambda and mu fall along the path. The smallest lambda and the largest mu drop the fewest features.
        reduced_(data.reduced(Penalty{penalties.back().lambda, penalties.front().mu})),
        test_(data.test_set(reduced_)) {
    begin_counting(outcome_);
    if (auto within =
            reduce_features(start.w, reduced_.kept, data.train().x.features(), data.train().outputs()))
      w_ = std::move(*within);
    outcome_.status = Status::kConverged;
    outcome_.violations = 0;
    outcome_.rounds = 0;
    outcome_.parameters = settings;
    outcome_.parameters.solver_options = option_texts(options_);
    scope_.emplace(hooks_.patient_stop(), "the path was computed", data.parallel().processes() != nullptr);
    outcome_.lambda_max = lambda_max(data, settings.loss);
    lambda_before_ = w_.nnz() > 0 ? start.lambda : outcome_.lambda_max;
    Objective first = objective(penalties.front());
    state_ = first.make_state();
    outcome_.setup_seconds = wall_seconds() - began_;
    outcome_.warm_up_seconds = warm_up(first, {}, settings.warm_up, hooks.stop);
  }

  RunOutcome run() {
    try {
      begin();
      for (std::size_t k = 0; k < penalties_.size() && done(*outcome_.status); ++k) point(k);
    } catch (const Stopped&) {  // between two solves; the points so far are kept
      outcome_.status = Status::kInterrupted;
    }
    scope_.reset();
    outcome_.w = expanded(w_);
    summarize();
    return std::move(outcome_);
  }

 private:
  OnClock on_clock() { return {outcome_, data_.parallel().processes()}; }
  Objective objective(const Penalty& penalty) const {
    return data_.objective(reduced_, penalty, settings_.loss);
  }

  /// The scale of tol; see train_path().
  double scale(double lambda) const { return std::max(outcome_.lambda_max - lambda, lambda); }
  /// Whether w = 0 is optimal within the tolerance.
  bool zero_is_optimal(double lambda) const {
    return outcome_.lambda_max - lambda <= settings_.tol * scale(lambda);
  }

  /// The strong rule's threshold on |gradient of l| at `lambda`, from the optimum at `before`. If it is 0 or
  /// less, all coordinates are candidates.
  double strong_threshold(double lambda, double before) const {
    return over_mu_ ? 0.0 : 2.0 * lambda - before;
  }

  /// Finds the candidates of the first point from the gradient at the start.
  void begin() {
    const double lambda = penalties_.front().lambda;
    const double threshold = strong_threshold(lambda, lambda_before_);
    if (w_.nnz() == 0 && zero_is_optimal(lambda)) return;
    const OnClock clock = on_clock();
    Objective at_start = objective(penalties_.front());
    evaluate(at_start, lambda, threshold);
    set_candidates(threshold);
  }

  /// Fills selection_ at w_, after an inference unless state_at_w_. It holds the coordinates with |g| >=
  /// `threshold` and those that violate the optimality conditions.
  void evaluate(Objective& checker, double next, double threshold) {
    if (!state_at_w_) {
      checker.scores(w_, state_.scores);
      state_.loss = checker.infer({state_.scores}, &state_.residual);
      outcome_.passes += 1.0;
    }
    state_at_w_ = true;
    // The selection takes values above the threshold, but the rule includes equality.
    const double kept = threshold > 0.0 ? std::nextafter(threshold, 0.0) : checker.lambda();
    selected_above_ = std::min(next, checker.lambda());
    checker.select_gradient(state_.residual, w_, std::min(kept, selected_above_), selection_);
  }

  void set_candidates(double threshold) {
    if (threshold > 0.0 && solver_.exact)
      candidates_ = selection_.index;
    else
      candidates_.reset();
  }

  /// Returns the coordinates that violate the optimality conditions at the last selection and that are not
  /// among the candidates.
  std::vector<Coord> violators(double lambda, double target) const {
    std::vector<Coord> out;
    if (!candidates_) return out;
    for (std::size_t i = 0; i < selection_.index.size(); ++i) {
      const double m = minimum_norm_subgradient(selection_.weight[i], selection_.gradient[i], lambda);
      if (std::abs(m) > target &&
          !std::binary_search(candidates_->begin(), candidates_->end(), selection_.index[i]))
        out.push_back(selection_.index[i]);
    }
    return out;
  }

  /// Changes the gradients of the last selection, which are those of the smooth part, to the mu of point k.
  void change_mu(std::size_t k) {
    const double change = penalties_[k].mu - penalties_[k - 1].mu;
    for (std::size_t i = 0; i < selection_.index.size(); ++i)
      selection_.gradient[i] += change * selection_.weight[i];
  }

  void point(std::size_t k) {
    const double lambda = penalties_[k].lambda;
    const double next = k + 1 < penalties_.size() ? penalties_[k + 1].lambda : lambda;
    const double threshold = strong_threshold(next, lambda);  // for the last point lambda itself
    PathPoint point{.number = k + 1,
                    .lambda = lambda,
                    .mu = penalties_[k].mu,
                    .kkt_target = settings_.tol * scale(lambda)};
    lower_bound_ = -kInfinity;
    if (over_mu_ && k > 0) change_mu(k);
    Objective checker = objective(penalties_[k]);
    for (;;) {
      if (w_.nnz() > 0 || !zero_is_optimal(lambda)) {
        point.status = solve(checker);
        ++point.rounds;
      }
      if (!done(point.status)) {
        outcome_.status = point.status;
        return;
      }
      std::vector<Coord> wrong;
      {
        const OnClock clock = on_clock();
        evaluate(checker, next, threshold);
        wrong = violators(lambda, point.kkt_target);
      }
      // A proven gap covers all coordinates, not only the candidates. So no further solve is needed.
      if (wrong.empty() || point.status == Status::kGapReached || point.status == Status::kMaxIterations)
        break;
      point.violations += wrong.size();
      std::vector<Coord> all;
      std::set_union(candidates_->begin(), candidates_->end(), wrong.begin(), wrong.end(),
                     std::back_inserter(all));
      candidates_ = std::move(all);
    }
    finish(checker, point);
    const OnClock clock = on_clock();
    if (k + 1 < penalties_.size()) set_candidates(threshold);
  }

  /// Solves once from w_, and moves w_ to the result.
  Status solve(Objective& checker) {
    MonitorOptions options = monitor_options(settings_, hooks_.stop, data_.parallel().processes());
    options.objective_target = -kInfinity;
    options.time_limit -= outcome_.seconds;
    if (hooks_.stop()) return Status::kInterrupted;
    if (!(options.time_limit > 0.0)) return Status::kTimeLimit;
    Objective seen = [&] {
      const OnClock clock = on_clock();
      return objective(checker.penalty());
    }();
    if (candidates_) {
      const OnClock clock = on_clock();
      seen.restrict_to(*candidates_);
    }
    Monitor monitor(checker, seen, options, test_);
    monitor.on_sample = [this](const Sample& sample) { record(sample); };
    const bool in_sequence = over_mu_ ? solver_.continues_over_mu : solver_.continues;
    if (solving_ == nullptr || !in_sequence) solving_ = solver_.make(options_);
    KnownStart known{.state = state_, .selection = selection_, .complete_above = selected_above_};
    SolveResult result = solve_within_limits(
        *solving_,
        {seen, monitor, w_, settings_.tol, scale(checker.lambda()), settings_.seed, in_sequence, &known});
    try {
      const StopScope scope = monitor.evaluation("the result was certified");
      monitor.finish(result.w);
    } catch (const Stopped&) {
      result.status = Status::kInterrupted;
    }
    count_solve(monitor, seen, result, outcome_);
    lower_bound_ = std::max(lower_bound_, monitor.lower_bound());
    if (done(result.status)) w_ = std::move(result.w);
    state_at_w_ = left_by_solver_ = known.at_result;
    return result.status;
  }

  void record(const Sample& of_solve) {
    Sample sample = of_solve;
    sample.seconds += outcome_.seconds;
    sample.cpu_seconds += outcome_.cpu_seconds;
    sample.iteration += *outcome_.iterations;
    sample.passes += outcome_.passes;
    sample.updates += outcome_.updates;
    outcome_.trace.push_back(sample);
    if (hooks_.on_sample) hooks_.on_sample(sample);
  }

  /// Compares the loss that the solver left with the one found at its result, for the record. The next point
  /// starts from the state found, so neither a certificate nor a solve depends on what a solver reports.
  void audit(const PointBound& found) {
    outcome_.audit_max_difference =
        std::fmax(outcome_.audit_max_difference,
                  std::abs(state_.loss - found.loss) / std::max(1.0, std::abs(found.loss)));
    ++*outcome_.audits;
  }

  void finish(Objective& checker, PathPoint& point) {
    const double ended = wall_seconds();
    if (audited_.scores.values.empty()) audited_ = checker.make_state();
    checker.scores(w_, audited_.scores);
    const PointBound found = bound_at(checker, w_, audited_.scores, audited_.residual);
    if (left_by_solver_) audit(found);
    audited_.loss = found.loss;
    std::swap(state_, audited_);
    state_at_w_ = true;
    Certificate& c = point.certificate;
    c = found;
    c.dual = std::fmax(c.dual, lower_bound_);
    point.status = checked_status(point.status, c, point.kkt_target, settings_.gap_target);
    Sample measured;  // of w_
    if (point.rounds > 0)
      measured = outcome_.trace.back();
    else if (test_ != nullptr)
      test_->measure(w_, measured);
    point.test_accuracy = measured.test_accuracy;
    point.test_metrics = measured.test_metrics;
    point.seconds = outcome_.seconds;
    point.cpu_seconds = outcome_.cpu_seconds;
    point.iterations = *outcome_.iterations;
    point.passes = outcome_.passes;
    point.updates = outcome_.updates;
    point.candidates = candidates_ ? candidates_->size() : checker.dimension();
    *outcome_.violations += point.violations;
    *outcome_.rounds += point.rounds;
    outcome_.points.push_back(point);
    if (point.status != Status::kConverged && reached(*outcome_.status)) outcome_.status = point.status;
    if (hooks_.on_point) hooks_.on_point(point, expanded(w_));
    outcome_.certify_seconds += wall_seconds() - ended;
  }

  SparseVector expanded(const SparseVector& w) const {
    return expand_features(w, reduced_.kept, data_.train().x.features(), data_.train().outputs());
  }

  void summarize() {
    const bool any = !outcome_.points.empty();
    const PathPoint last = any ? outcome_.points.back() : PathPoint{.mu = penalties_.front().mu};
    outcome_.parameters.penalty = Penalty{any ? last.lambda : kNaN, last.mu};
    set_test_figures({.test_accuracy = last.test_accuracy, .test_metrics = last.test_metrics}, outcome_);
    if (any) {
      outcome_.certificate = last.certificate;
      outcome_.kkt_at_zero = std::max(outcome_.lambda_max - last.lambda, 0.0);
    }
    outcome_.features_kept = reduced_.kept.size();
    outcome_.points_done = outcome_.points.size();
    outcome_.points_asked = penalties_.size();
    set_facts(data_, outcome_);
  }

  const LoadedData& data_;
  const RunParameters& settings_;
  std::span<const Penalty> penalties_;
  bool over_mu_;
  const RunHooks& hooks_;
  std::optional<StopScope> scope_;  ///< of all work but that of the solver and its monitor
  const SolverInfo& solver_;
  Options options_;
  std::unique_ptr<Solver> solving_;
  double began_;
  const LoadedData::Reduced& reduced_;
  const EvaluationSet* test_;
  /// The current point, in the coordinates of the kept features, and the results of evaluate() there.
  SparseVector w_;
  SmoothState state_;
  SmoothState audited_;
  bool state_at_w_ = false, left_by_solver_ = false;
  Objective::Selection selection_;
  double selected_above_ = 0.0;
  double lambda_before_ = 0.0;  ///< the lambda at which the starting point is optimal
  double lower_bound_ = 0.0;    ///< the best bound on min F from the solves of the current point
  std::optional<std::vector<Coord>> candidates_;  ///< none: all
  RunOutcome outcome_;
};

}  // namespace

double lambda_max(const LoadedData& data, const Loss& loss) {
  Objective at_zero = data.objective({1.0, 0.0}, loss);
  const LinearMap& map = at_zero.map();
  const Scores zero = map.make_scores();
  Residual residual = map.make_scores();
  at_zero.infer({zero}, &residual);
  std::vector<double> largest(map.feature_chunks() + 1, 0.0);  // of |gradient|, by chunk
  map.for_each_gradient(residual, [&](std::size_t chunk, Index, const double* g, std::size_t step) {
    for (Index k = 0; k < map.outputs(); ++k)
      largest[chunk] = std::max(largest[chunk], std::abs(g[k * step]));
  });
  largest = {whole_max(map.parallel(), *std::ranges::max_element(largest))};
  for (const double g : residual.extra) largest.push_back(std::abs(g));
  return *std::max_element(largest.begin(), largest.end());
}

RunOutcome train_path(const LoadedData& data, const RunParameters& settings,
                      std::span<const Penalty> penalties, const RunHooks& hooks, const PathStart& start) {
  const SolverInfo& solver = solver_registry().find(settings.solver);
  for (const Penalty& penalty : penalties) require_needs(data, solver, penalty, settings.loss);
  return Path(data, settings, penalties, hooks, start).run();
}

}  // namespace proxbench
