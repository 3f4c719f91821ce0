/// Proximal quasi-Newton with aggressive shrinking (Zhong, Yen, Dhillon, Ravikumar 2014, Algorithms 1 and 2).
///
/// Each iteration minimises the quadratic model
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1
/// over a working set A by randomised coordinate descent (section 2.2), B the compact L-BFGS matrix of the
/// smooth part (section 2.1), then backtracks on w + alpha*d until Armijo's rule holds. Within an epoch A
/// only shrinks (section 2.3); at its end all coordinates come back and the epoch's tolerance falls. Scores
/// are linear in w: the line search maps d once, and each trial costs one inference.
///
/// Preset `paper`: every choice is the paper's, or that of its authors' program where the paper says none.
/// Preset `fast` differs in what was measured to pay (table in experiments/README.md):
/// - B starts from the Hessian's blocks by output (BlockMetric) and not from gamma*I. Blocks are made anew,
///   and the L-BFGS pairs begin again, at a restart after F has fallen by more than kFresh, or once it has by
///   kStale. Where the blocks would hold too many numbers, where F still falls fast at cheap epochs, or a
///   step on them was far too long, gamma*I takes their place for a while.
/// - An epoch ends when its own measure has fallen by epoch_factor, sooner where full gradients are cheap.
///   Only the worst violators enter at its start (working_set = growing), fewer where full gradients cost
///   much more than an inference.
/// - The inner problem is solved to inner_tol, mostly on the coordinates that are not zero, with gamma*I also
///   for no longer than an inference or two passes; with conjugate gradients, and for longer, where the model
///   proved right about the last step (inner = subspace, inner_problem.h).
/// - Once the passes have cost as much as an exact Hessian, that is the model (newton_model.h), until a step
///   with a new one brings nothing.
/// - On a path the pairs of one lambda serve the next (carry_pairs()), and so does all that is known of the
///   point where one ends and the next starts (KnownStart).
/// Screening, an option of both: coordinates that the duality gap proves zero never come back (core/dual.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/dual.h"
#include "core/kernels/kernel_table.h"
#include "core/lbfgs.h"
#include "core/line_search.h"
#include "core/base/random.h"
#include "solvers/block_metric.h"
#include "solvers/common_options.h"
#include "solvers/inner_problem.h"
#include "solvers/newton_model.h"
#include "solvers/pair_history.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Relative decrease of F since the blocks were made: up to the first they also serve the next working set;
/// above the second they are made anew at once.
constexpr double kFresh = 1e-4, kStale = 0.2;
/// The blocks' factor at the start: Newton steps from w = 0 are too long by about this. It grows by
/// alpha^-1/2 with a step that had to be cut, and halves with one that had not.
constexpr double kFirstDamping = 3.0, kLargestDamping = 1e3;
/// A step cut by more than this says that the blocks do not hold here: gamma*I serves for kFirstRest
/// iterations, twice as many the next time.
constexpr double kFarTooLong = 0.06;
constexpr std::int64_t kFirstRest = 10;
/// Predicted decrease, relative to F, below which the length of steps says nothing: rounding decides it.
constexpr double kWithinRounding = 1e-9;
/// Line searches of the preset fast allow for this much rounding (core/line_search.h): a good step is not cut
/// for the last digits of F, and kkt tells whether it was good. With 64, F of 47,215 positions, whose
/// rounding is twice that, ended solves at kkt 2e-6 that now come to 3e-9.
constexpr double kRoundingAllowance = 256.0;
/// Growing working sets: violators that enter at least, and their entries of X relative to N*K, about what an
/// inference costs. Where X has fewer than kCheapGradient*N*K entries, full gradients are cheap, and more
/// enter.
constexpr std::size_t kFewestEntering = 1000, kFewestEnteringCheaply = 20000;
constexpr double kEnteringEntries = 4.0, kCheapGradient = 3.0;
/// An epoch has so many iterations at least where full gradients are dear.
constexpr std::int64_t kFewestIterations = 3;
/// Where full gradients are cheap, or all violators enter, the blocks wait for an epoch that brought F down
/// by less than this.
constexpr double kSlowEpoch = 0.2;
/// An epoch has so many iterations at most where they are cheap.
constexpr std::int64_t kMostIterations = 25;
/// The model is trusted after a whole step along which it was right about the curvature within this factor;
/// then the inner problem is solved with conjugate gradients, and may take so many times max_inner passes.
constexpr double kTrusted = 1.6;
constexpr std::uint64_t kTrustedPasses = 5;
/// A pair goes to another working set where y^T s / s^T B0 s lies between these: beyond, what has changed
/// about it is most of it.
constexpr double kLeastCarried = 0.01, kMostCarried = 20.0;
/// Solves of a sequence that the pairs taken along come from: older ones cost more than they bring.
constexpr std::size_t kSolvesCarried = 3;
/// Screening is tried where it could prove all |g_j| below this share of lambda.
constexpr double kWorthScreening = 0.5;

/// With the Hessian come zeros whose gradients are so near to lambda, for the iterations to come; up to so
/// many, relative to the working set.
constexpr double kNear = 0.98, kMostNear = 0.2;
/// Steps of Newton's method are allowed for so many units of rounding of F: near its end F has no digit left
/// that could tell a good step from another.
constexpr double kNewtonRounding = 4096.0;
/// The Hessian is made anew where a step with an older one leaves more than this share of the subgradient.
constexpr double kOldHessian = 0.7;
/// The Hessian is made anew for other coordinates where they violate the optimality conditions by so many
/// times as much as those it is on.
constexpr double kMissing = 2.0;

struct Settings {
  std::size_t memory;
  std::int64_t max_inner;
  double inner_tol;
  bool subspace;   ///< conjugate gradients on the face that a pass has found
  bool inner_cap;  ///< at most d/|A| passes
  EpochSettings epochs;
  bool relative_epochs;  ///< an epoch's tolerance is relative to its own start
  bool growing;
  bool blocks;
  bool screening;
  bool newton;
  double gamma0;  ///< NaN: auto
  Scaling scaling;
  std::int64_t max_stagnant;
  ArmijoOptions line_search;
};

class ProxQn final : public Solver {
 public:
  explicit ProxQn(const Settings& settings)
      : settings_(settings), lbfgs_(settings.memory, settings.scaling) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& objective = problem.objective;
    begin(problem);
    Scores &scores = buffers_.at_w.scores, &direction_scores = buffers_.trial.scores;
    Residual &residual = buffers_.at_w.residual, &trial_residual = buffers_.trial.residual;
    double& loss = buffers_.at_w.loss;
    SolveResult result;
    result.w = problem.start;

    problem.monitor.start(problem.start);
    if (problem.known != nullptr) {
      std::swap(buffers_.at_w, problem.known->state);
    } else {
      objective.scores(problem.start, scores);
      loss = objective.infer({scores}, &residual);
    }
    double value = loss + objective.l1(problem.start.value) + objective.l2(problem.start.value);
    // w's nonzeros are gathered where a sample wants them, off the clock.
    const auto ends = [&](std::int64_t iteration) {
      result.iterations = iteration;
      return !problem.monitor.step(
          iteration, [&] { return collect(result.w); }, index_.size(), loss);
    };

    double epoch_target = 0.0, first_measure = 0.0, largest = 0.0, last_measure = kInfinity;
    double lowest = value, lowest_at_restart = kInfinity, lowest_kkt = kInfinity,
           lowest_kkt_at_restart = kInfinity;
    std::int64_t stagnant = 0, epoch_iterations = 0;
    bool epoch_starts = true, progressed = true, hessian_aged = false;
    for (std::int64_t iteration = 1;; ++iteration) {
      if (!std::isfinite(value)) return finish(result, Status::kDiverged);

      double measure = 0.0;  // l1 norm of the minimum-norm subgradient over A
      if (!epoch_starts) {
        const double slack = settings_.epochs.shrinking && !newton_
                                 ? largest / static_cast<double>(objective.instances())
                                 : kInfinity;
        largest = shrink(slack, measure);
        if (largest < lowest_kkt) {
          lowest_kkt = largest;
          stagnant = 0;
        }
        ++epoch_iterations;
        epoch_starts = (settings_.growing && !dear_ && blocks_ && epoch_iterations >= kMostIterations) ||
                       (settings_.epochs.shrinking && measure <= epoch_target &&
                        (!settings_.growing || !dear_ || epoch_iterations >= kFewestIterations)) ||
                       largest <= problem.kkt_target() || !progressed;
        hessian_aged = newton_ && (measure > kOldHessian * last_measure || !progressed);
        epoch_starts = epoch_starts || hessian_aged;
      }
      if (epoch_starts) {
        collect(result.w);
        const bool newton =
            newton_ ? !(hessian_aged && epoch_iterations == 1) : newton_pays(objective, scores);
        select(objective, scores, residual, result.w, value, newton, iteration == 1 ? known_ : nullptr);
        if (!std::isfinite(selection_.kkt_max)) return finish(result, Status::kDiverged);
        if (selection_.kkt_max <= problem.kkt_target()) return finish(result, Status::kConverged);
        if (!progressed) {
          // Neither F nor kkt came down since the memory was cleared for the same reason: rounding is all
          // that is left.
          if (!(lowest < lowest_at_restart) && !(lowest_kkt < lowest_kkt_at_restart))
            return finish(result, Status::kStalled);
          lowest_at_restart = lowest;
          lowest_kkt_at_restart = lowest_kkt;
        }
        result.notes["epochs"] += 1;
        const bool known = newton_ && !hessian_aged && selection_.kkt_max <= kMissing * largest;
        largest = selection_.kkt_max;
        measure = selection_.kkt_l1;
        if (first_measure == 0.0) {
          first_measure = measure;
          epoch_target = settings_.epochs.tol * first_measure;
        } else {
          epoch_target *= settings_.epochs.factor;
        }
        if (settings_.relative_epochs)
          epoch_target = (dear_ ? settings_.epochs.factor : std::sqrt(settings_.epochs.factor)) * measure;
        epoch_iterations = 0;
        if (!(newton && known)) {
          if (newton_) passes_before_newton_ = objective.passes();
          if (newton) keep_nearest();
          newton_ = newton && selection_.index.size() <= NewtonModel::kMostRows;
          take_working_set();
          if (newton_)
            start_newton(objective, scores);
          else
            start_model(objective, residual, scores, direction_scores, value, iteration, progressed);
        }
        epoch_starts = false;
      } else if (!newton_ && iteration == retry_at_ && blocks_fit(objective)) {
        use_blocks(objective, residual, value);
      } else if (blocks_ && built_at_ - value > kStale * value) {
        build_blocks(objective, residual, value);
      }

      last_measure = measure;
      const double slope =
          newton_ ? newton_model_.solve(w_, g_, lambda_, objective.parallel(), d_) : descend(objective);
      objective.scores(index_, d_, direction_scores);
      // With curvature known the first trial is mostly taken, so its residual comes with it. Without, gamma
      // is a guess that may be off by many halvings: then forward messages alone.
      const bool guess = lbfgs_.pairs() == 0 && !blocks_ && !newton_;
      double trial_loss = 0.0;
      ArmijoOptions line_search = settings_.line_search;
      if (newton_) line_search.rounding = kNewtonRounding;
      const ArmijoResult step = slope < 0.0 ? armijo(value, slope, 1.0, line_search,
                                                     [&](double alpha) {
                                                       trial_loss =
                                                           objective.infer({scores, &direction_scores, alpha},
                                                                           guess ? nullptr : &trial_residual);
                                                       return trial_loss + penalty(objective, alpha);
                                                     })
                                            : ArmijoResult{};
      // Within rounding of F a step may still bring the subgradient down: only where neither falls is it
      // over.
      if (step.accepted && step.value < lowest) {
        lowest = step.value;
        stagnant = 0;
      } else {
        ++stagnant;
      }
      progressed = step.accepted && stagnant <= settings_.max_stagnant;
      if (!progressed) {
        stagnant = 0;
        if (ends(iteration)) return finish(result, problem.monitor.stop_status());
        continue;
      }
      if (blocks_ && -slope > kWithinRounding * value) adapt_damping(step.alpha, iteration);
      value = step.value;
      loss = trial_loss;
      objective.advance(scores, step.alpha, direction_scores);
      if (guess) objective.infer({scores}, &trial_residual);
      for (std::size_t j = 0; j < index_.size(); ++j) {
        d_[j] *= step.alpha;
        // w + d is exactly zero where the inner problem set it to zero.
        w_[j] += d_[j];
      }
      // Columns of outputs that have left the working set hold zeros, but cost as much as others.
      if (!scores.one_each() && 4 * scores.columns > 5 * direction_scores.columns + 64)
        objective.scores(index_, w_, scores);
      g_new_.resize(index_.size());
      objective.partial_gradient(trial_residual, index_, w_, g_new_);
      for (std::size_t j = 0; j < index_.size(); ++j) g_[j] = g_new_[j] - g_[j];
      if (settings_.subspace && !newton_) trust_model(step.alpha);
      if (newton_) {
        // Nothing to learn: H is exact, and is made anew where it is too old.
      } else if (blocks_) {
        metric_.multiply(d_, product_);
        if (lbfgs_.update(d_, g_, product_) && history_capacity_ > 0)
          history_.push(history_capacity_, index_, d_, residual, trial_residual, objective.parallel());
        if (lbfgs_.gamma() != damping_) lbfgs_.set_gamma(damping_);
      } else {
        lbfgs_.update(d_, g_);
      }
      g_.swap(g_new_);
      std::swap(residual, trial_residual);
      if (ends(iteration)) return finish(result, problem.monitor.stop_status());
    }
  }

 private:
  /// The state at the start of a solve: that of a new object, but where there are pairs to take along. With
  /// them come the working set that they are on, the blocks' factor, and the trust in the model.
  void begin(const SolveProblem& problem) {
    ProxQn fresh(settings_);
    if (problem.in_sequence) {
      fresh.buffers_ = std::move(buffers_);
      fresh.last_start_ = std::move(last_start_);
      fresh.last_lambda_ = lambda_;
    }
    history_.next_solve(kSolvesCarried);
    if (history_.size() > 0) {
      fresh.history_ = std::move(history_);
      fresh.lbfgs_ = std::move(lbfgs_);
      fresh.index_ = std::move(index_);
      fresh.w_ = std::move(w_);
      fresh.selected_ = true;
      fresh.blocks_ = true;
      fresh.damping_ = damping_;
      fresh.trusted_ = trusted_;
    }
    *this = std::move(fresh);
    lambda_ = problem.objective.lambda();
    known_ = problem.known;
    if (buffers_.at_w.scores.values.empty())
      buffers_ = {{problem.objective.make_scores(), problem.objective.make_residual()},
                  {problem.objective.make_scores(), problem.objective.make_residual()}};
    passes_before_newton_ = problem.objective.passes();
    random_ = Random(problem.seed);
    if (problem.in_sequence && settings_.blocks)
      history_capacity_ = PairHistory::capacity(problem.objective, settings_.memory);
  }

  SolveResult finish(SolveResult& result, Status status) {
    collect(result.w);
    if (known_ != nullptr) {
      std::swap(buffers_.at_w, known_->state);
      known_->at_result = true;
    }
    result.status = status;
    result.working_set = index_.size();
    result.notes["inner_passes"] = inner_.passes();
    if (settings_.screening) result.notes["screened"] = screened_;
    if (hessians_ > 0.0) result.notes["hessians"] = hessians_;
    return std::move(result);
  }

  /// A full gradient at w into selection_, cut down to the coordinates of the next working set; for Newton's
  /// method with those that are nearly violators. kkt_max and kkt_l1 are over all coordinates (that are
  /// candidates). `known`: what is known of w, or null.
  void select(Objective& objective, const Scores& scores, const Residual& residual, const SparseVector& w,
              double value, bool newton, const KnownStart* known) {
    double threshold = (newton ? kNear : settings_.growing ? 1.0 : settings_.epochs.margin) * lambda_;
    if (!settings_.epochs.shrinking && !newton) threshold = -1.0;
    if (known != nullptr && known->complete_above <= std::min(threshold, lambda_))
      objective.select_gradient(known->selection, known->complete_above, threshold, selection_);
    else
      objective.select_gradient(residual, w, threshold, selection_);
    if (settings_.screening && std::isfinite(selection_.kkt_max))
      screen(objective, scores, residual, w, value, threshold);
    if (newton) return;
    const double cells =
        static_cast<double>(objective.x().positions()) * static_cast<double>(objective.outputs());
    dear_ = static_cast<double>(objective.x().nonzeros()) > kCheapGradient * cells;
    if (settings_.growing) keep_worst_violators(objective, dear_ ? kEnteringEntries * cells : 0.0);
    if (known != nullptr && history_capacity_ > 0) {
      keep_foretold_violators();
      last_start_ = {last_lambda_, known->selection.index, known->selection.gradient};
    }
  }

  /// Leaves in selection_ the support and those violators that will still be some at the optimum if the
  /// gradient goes on from lambda to lambda as it did in the last solve.
  void keep_foretold_violators() {
    const double lambda_step = last_start_.lambda - last_lambda_;
    if (!(lambda_step > 0.0 && lambda_ < last_lambda_)) return;
    const double ratio = (last_lambda_ - lambda_) / lambda_step;
    std::size_t at = 0;
    keep_violators([&](std::size_t i) {
      while (at < last_start_.index.size() && last_start_.index[at] < selection_.index[i]) ++at;
      if (at == last_start_.index.size() || last_start_.index[at] != selection_.index[i]) return true;
      const double change = selection_.gradient[i] - last_start_.gradient[at];
      return std::abs(selection_.gradient[i] + ratio * change) > lambda_;
    });
  }

  /// Leaves in selection_ the support and the violators i, in ascending order, that enters(i).
  template <class Enters>
  void keep_violators(const Enters& enters) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < selection_.index.size(); ++i) {
      if (selection_.weight[i] == 0.0 && !enters(i)) continue;
      selection_.index[kept] = selection_.index[i];
      selection_.weight[kept] = selection_.weight[i];
      selection_.gradient[kept++] = selection_.gradient[i];
    }
    selection_.index.resize(kept);
    selection_.weight.resize(kept);
    selection_.gradient.resize(kept);
  }

  /// Leaves in selection_ the support, the violators, and of the other zeros those nearest to be some.
  void keep_nearest() {
    std::vector<double> near;
    for (std::size_t i = 0; i < selection_.index.size(); ++i)
      if (selection_.weight[i] == 0.0 && std::abs(selection_.gradient[i]) <= lambda_)
        near.push_back(-std::abs(selection_.gradient[i]));
    const std::size_t others = selection_.index.size() - near.size(),
                      most = std::min(static_cast<std::size_t>(kMostNear * static_cast<double>(others)),
                                      NewtonModel::kMostRows - std::min(others, NewtonModel::kMostRows));
    if (near.size() <= most) return;
    std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(most), near.end());
    keep_violators([&](std::size_t i) { return std::abs(selection_.gradient[i]) > -near[most]; });
  }

  /// Leaves in selection_ the support and the violators with the largest gradients.
  void keep_worst_violators(const Objective& objective, double most_entries) {
    struct Violator {
      double gradient;
      std::size_t at;
    };
    std::vector<Violator> violators;
    for (std::size_t i = 0; i < selection_.index.size(); ++i)
      if (selection_.weight[i] == 0.0) violators.push_back({std::abs(selection_.gradient[i]), i});
    const std::size_t support = selection_.index.size() - violators.size();
    const std::size_t least = std::max(dear_ ? kFewestEntering : kFewestEnteringCheaply, support);
    if (violators.size() <= least) return;
    std::sort(violators.begin(), violators.end(), [](const Violator& a, const Violator& b) {
      return a.gradient > b.gradient || (a.gradient == b.gradient && a.at < b.at);
    });
    std::vector<bool> enters(selection_.index.size(), false);
    double entries = 0.0;
    for (std::size_t v = 0; v < violators.size(); ++v) {
      const Coord c = selection_.index[violators[v].at];
      if (c < objective.unary_weights())
        entries +=
            static_cast<double>(objective.x().column_size(static_cast<Index>(c / objective.outputs())));
      if (v >= least && entries > most_entries) break;
      enters[violators[v].at] = true;
    }
    keep_violators([&](std::size_t i) { return enters[i]; });
  }

  /// Restricts the objective to what the duality gap at w does not prove to be zero, and to w's support; then
  /// selects again, from the `wanted` threshold on.
  void screen(Objective& objective, const Scores& scores, const Residual& residual, const SparseVector& w,
              double value, double wanted) {
    // To first order the gap is at least sum_j |w_j|*lambda + w_j*g_j: most of the time that says already
    // that it is too large.
    double least_gap = 0.0;
    for (std::size_t i = 0; i < selection_.index.size(); ++i)
      least_gap += lambda_ * std::abs(selection_.weight[i]) + selection_.weight[i] * selection_.gradient[i];
    if (!screen_) screen_.emplace(objective);
    if (screen_->threshold({.value = value}, least_gap) < kWorthScreening * lambda_) return;
    const DualBound bound = dual_bound(objective, scores, selection_);
    const double threshold = screen_->threshold(bound, value - bound.value);
    if (threshold < kWorthScreening * lambda_) return;
    Objective::Selection wide;
    objective.select_gradient(residual, w, threshold, wide);
    const std::vector<Coord> survivors = screen_->survivors(wide, bound, value - bound.value);
    std::vector<Coord> candidates;
    std::set_union(survivors.begin(), survivors.end(), w.index.begin(), w.index.end(),
                   std::back_inserter(candidates));
    if (objective.candidates() != nullptr) {
      std::vector<Coord> both;
      std::set_intersection(candidates.begin(), candidates.end(), objective.candidates()->begin(),
                            objective.candidates()->end(), std::back_inserter(both));
      candidates.swap(both);
    }
    screened_ = static_cast<double>(objective.dimension() - candidates.size());
    objective.restrict_to(std::move(candidates));
    objective.select_gradient(residual, w, wanted, selection_);
  }

  /// index_, w_ and g_ from selection_; from_ says which row each coordinate had before.
  void take_working_set() {
    from_.resize(selection_.index.size());
    std::size_t old = 0;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      while (old < index_.size() && index_[old] < selection_.index[i]) ++old;
      from_[i] = old < index_.size() && index_[old] == selection_.index[i] ? static_cast<std::uint32_t>(old)
                                                                           : CompactLbfgs::kNew;
    }
    index_.swap(selection_.index);
    w_.swap(selection_.weight);
    g_.swap(selection_.gradient);
    selected_ = true;
  }

  /// B for the new working set.
  void start_model(Objective& objective, const Residual& residual, const Scores& scores,
                   Scores& direction_scores, double value, std::int64_t iteration, bool progressed) {
    if (blocks_ && lbfgs_.pairs() > 0 && progressed && blocks_fit(objective)) {
      const bool fresh = built_at_ - value <= kFresh * value;
      if (fresh)
        metric_.take_rows(objective, residual, index_, from_);
      else
        make_blocks(objective, residual, value);
      if (history_.size() > 0)
        carry_pairs(objective);
      else if (fresh)
        lbfgs_.take_rows(from_);
      else
        forget_pairs(damping_);
      return;
    }
    inference_flops_ = objective.inference_flops({scores}, true);
    const bool slow = epoch_value_ - value <= kSlowEpoch * value;
    epoch_value_ = value;
    if ((slow || (dear_ && settings_.growing)) && iteration >= retry_at_ && blocks_fit(objective)) {
      use_blocks(objective, residual, value);
      return;
    }
    if (blocks_) use_identity();
    forget_pairs(iteration == 1 ? first_gamma(objective, scores, direction_scores) : lbfgs_.gamma());
  }

  /// Whether the passes so far have cost as much as a Hessian on the working set. Taking turns like this
  /// costs at most twice what the better of both methods does. Not where pairs are taken along: they would be
  /// lost.
  bool newton_pays(const Objective& objective, const Scores& scores) const {
    if (!settings_.newton || history_capacity_ > 0 || !selected_ || index_.size() > NewtonModel::kMostRows ||
        !objective.has(Capability::kCovariance))
      return false;
    const double passes = objective.passes() - passes_before_newton_;
    return passes * objective.inference_flops({scores}, true) >=
           NewtonModel::work(objective, index_);
  }

  void start_newton(const Objective& objective, const Scores& scores) {
    newton_model_.build(objective, scores, index_);
    hessians_ += 1.0;
    use_identity();
  }

  bool blocks_fit(const Objective& objective) const {
    return settings_.blocks && BlockMetric::entries(objective, index_) <= BlockMetric::kMostEntries;
  }

  void use_blocks(const Objective& objective, const Residual& residual, double value) {
    if (!blocks_) lbfgs_ = CompactLbfgs(settings_.memory, Scaling::kNone);
    blocks_ = true;
    built_at_ = kInfinity;
    build_blocks(objective, residual, value);
  }

  void make_blocks(const Objective& objective, const Residual& residual, double value) {
    built_at_ = value;
    metric_.build(objective, residual, index_);
  }

  void build_blocks(const Objective& objective, const Residual& residual, double value) {
    make_blocks(objective, residual, value);
    forget_pairs(damping_);
  }

  void forget_pairs(double gamma) {
    history_.clear();
    lbfgs_.reset(index_.size(), gamma);
  }

  /// The pairs in the history on the working set at hand, for the blocks at hand; from_ says where rows were.
  /// Only where they come with all their rows: without, they do more harm than good (pair_history.h).
  void carry_pairs(const Objective& objective) {
    const std::size_t n = index_.size(), pairs = history_.size(), older = lbfgs_.pairs() - pairs;
    std::vector<Coord> fresh;
    std::vector<std::size_t> fresh_row;
    for (std::size_t j = 0; j < n; ++j) {
      if (from_[j] != CompactLbfgs::kNew) continue;
      fresh.push_back(index_[j]);
      fresh_row.push_back(j);
    }
    const std::vector<std::vector<double>> changes = history_.gradient_changes(objective, fresh);
    std::vector<std::vector<double>> s(pairs), y(pairs);
    for (std::size_t i = 0; i < pairs; ++i) s[i] = history_.step(i, index_);
    std::vector<std::vector<double>> b = metric_.multiply(s, objective.parallel());
    std::vector<std::size_t> carried;
    for (std::size_t i = 0; i < pairs; ++i) {
      y[i].resize(n);
      for (std::size_t j = 0; j < n; ++j)
        if (from_[j] != CompactLbfgs::kNew) y[i][j] = lbfgs_.y(older + i, from_[j]);
      for (std::size_t f = 0; f < fresh.size(); ++f)
        y[i][fresh_row[f]] = changes[i][f] + objective.mu() * s[i][fresh_row[f]];
      double sy = 0.0, sb = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        sy += s[i][j] * y[i][j];
        sb += s[i][j] * b[i][j];
      }
      if (!(sy > kLeastCarried * sb && sy < kMostCarried * sb)) continue;
      if (carried.size() < i) {
        s[carried.size()].swap(s[i]);
        y[carried.size()].swap(y[i]);
        b[carried.size()].swap(b[i]);
      }
      carried.push_back(i);
    }
    s.resize(carried.size());
    history_.keep(carried);
    lbfgs_.set_gamma(damping_);
    lbfgs_.assign(n, s, y, b, objective.parallel());
  }

  void use_identity() {
    blocks_ = false;
    lbfgs_ = CompactLbfgs(settings_.memory, settings_.scaling);
    forget_pairs(first_gamma_);
  }

  /// After a step of alpha*d_, now in d_, that changed the gradient by g_: whether the model had the
  /// curvature along it. Only then is the inner problem worth solving well.
  void trust_model(double alpha) {
    double found = 0.0;
    for (std::size_t j = 0; j < index_.size(); ++j) found += d_[j] * g_[j];
    const double ratio = found / inner_.curvature();
    trusted_ = alpha == 1.0 && ratio > 1.0 / kTrusted && ratio < kTrusted;
  }

  void adapt_damping(double alpha, std::int64_t iteration) {
    if (alpha < kFarTooLong) {
      retry_at_ = iteration + rest_;
      rest_ *= 2;
      use_identity();
    } else if (alpha < 1.0) {
      damping_ = std::min(damping_ / std::sqrt(alpha), kLargestDamping);
    } else {
      damping_ = std::max(0.5 * damping_, 1.0);
    }
  }

  /// gamma before the first pair is known: the option, or the curvature of the smooth part along the
  /// direction that B = I gives, from one more inference close to w. Without it the first line search pays
  /// for a wrong guess with many inferences, the first of them at huge scores.
  double first_gamma(Objective& objective, const Scores& scores, Scores& direction_scores) {
    if (settings_.gamma0 > 0.0) return settings_.gamma0;
    lbfgs_.reset(index_.size(), 1.0);
    descend(objective);
    objective.scores(index_, d_, direction_scores);
    double slope = 0.0, norm = 0.0;
    for (std::size_t j = 0; j < index_.size(); ++j) {
      slope += g_[j] * d_[j];
      norm += d_[j] * d_[j];
    }
    const double value = objective.infer({scores}, nullptr) + objective.l2(w_);
    // A step that changes the smooth part by about a thousandth: the quadratic term keeps eight digits or
    // more.
    const double alpha = 1e-3 * value / std::abs(slope);
    trial_.resize(index_.size());
    for (std::size_t j = 0; j < index_.size(); ++j) trial_[j] = w_[j] + alpha * d_[j];
    const double there = objective.infer({scores, &direction_scores, alpha}, nullptr) + objective.l2(trial_);
    const double curvature = 2.0 * (there - value - alpha * slope) / (alpha * alpha * norm);
    first_gamma_ = curvature > 0.0 && std::isfinite(curvature) ? curvature : 1.0;
    return first_gamma_;
  }

  /// The nonzeros of w; all of them lie in the working set once there is one.
  const SparseVector& collect(SparseVector& w) const {
    if (!selected_) return w;
    w.clear();
    for (std::size_t j = 0; j < index_.size(); ++j)
      if (w_[j] != 0.0) w.push_back(index_[j], w_[j]);
    return w;
  }

  /// Drops zero coordinates with |g_j| - lambda + slack <= 0 (Algorithm 2, lines 4-9). Returns the largest
  /// entry of the minimum-norm subgradient on what is left, and its l1 norm in `measure`.
  double shrink(double slack, double& measure) {
    kept_.clear();
    double largest = 0.0;
    for (std::size_t j = 0; j < index_.size(); ++j) {
      const double m = std::abs(minimum_norm_subgradient(w_[j], g_[j], lambda_));
      if (w_[j] == 0.0 && std::abs(g_[j]) - lambda_ + slack <= 0.0) continue;
      kept_.push_back(static_cast<std::uint32_t>(j));
      largest = std::max(largest, m);
      measure += m;
    }
    if (kept_.size() < index_.size()) {
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        index_[i] = index_[kept_[i]];
        w_[i] = w_[kept_[i]];
        g_[i] = g_[kept_[i]];
      }
      index_.resize(kept_.size());
      w_.resize(kept_.size());
      g_.resize(kept_.size());
      lbfgs_.keep_rows(kept_);
      if (blocks_) metric_.keep_rows(kept_);
    }
    return largest;
  }

  /// Solves the inner problem inexactly: fills d_, returns
  /// Delta = g^T d + lambda*(||w + d||_1 - ||w||_1).
  double descend(const Objective& objective) {
    const std::size_t n = index_.size();
    lbfgs_.refresh(objective.parallel());
    auto passes = static_cast<std::uint64_t>(settings_.max_inner);
    if (settings_.inner_cap)
      passes = std::min<std::uint64_t>(
          passes, std::max<std::uint64_t>(objective.dimension() / std::max<std::size_t>(n, 1), 1));
    InnerLimits limits{.tolerance = settings_.inner_tol,
                       .visits = passes * n,
                       .subspace = settings_.subspace && trusted_,
                       .curvature = settings_.subspace};
    if (limits.subspace) limits.visits *= kTrustedPasses;
    const double visit_flops = 4.0 * static_cast<double>(lbfgs_.width());
    if (settings_.inner_tol > 0.0 && !blocks_ && inference_flops_ > 0.0 && visit_flops > 0.0)
      limits.visits = std::min(
          limits.visits,
          std::max<std::uint64_t>(2 * n, static_cast<std::uint64_t>(inference_flops_ / visit_flops)));
    return inner_.solve(lbfgs_, blocks_ ? &metric_ : nullptr, w_, g_, lambda_, limits, random_,
                        objective.parallel(), d_);
  }

  /// lambda*||w + alpha*d||_1 + (mu/2)*||w + alpha*d||^2.
  double penalty(const Objective& objective, double alpha) {
    trial_.resize(index_.size());
    for (std::size_t j = 0; j < index_.size(); ++j) trial_[j] = w_[j] + alpha * d_[j];
    return objective.l1(trial_) + objective.l2(trial_);
  }

  Settings settings_;
  CompactLbfgs lbfgs_;
  BlockMetric metric_;
  InnerProblem inner_;
  NewtonModel newton_model_;
  bool newton_ = false;  ///< whether it has the inner problem
  double passes_before_newton_ = 0.0, hessians_ = 0.0;
  PairHistory history_;  ///< of the last of lbfgs_'s pairs
  std::size_t history_capacity_ = 0;
  struct Buffers {
    SmoothState at_w, trial;  ///< trial: the direction's scores, and what inference gives at a trial point
  } buffers_;
  KnownStart* known_ = nullptr;
  /// The gradient where the last solve of a sequence started, as far as it was known.
  struct {
    double lambda = 0.0;
    std::vector<Coord> index;
    std::vector<double> gradient;
  } last_start_;
  double last_lambda_ = 0.0;
  std::optional<GapSafeScreen> screen_;
  Random random_{0};
  double lambda_ = 0.0;
  Objective::Selection selection_;
  bool selected_ = false;     ///< whether there is a working set yet
  std::vector<Coord> index_;  ///< the working set A, ascending; all below are aligned with it
  std::vector<double> w_, g_, g_new_, d_, trial_, product_;
  std::vector<std::uint32_t> kept_, from_;
  bool trusted_ = false;  ///< whether the model foretold the last step well
  bool dear_ = false;     ///< whether a full gradient costs much more than an inference
  bool blocks_ = false;   ///< whether B starts from metric_, and from gamma*I otherwise
  double damping_ = kFirstDamping, built_at_ = kInfinity, epoch_value_ = kInfinity, first_gamma_ = 1.0;
  std::int64_t retry_at_ = 0, rest_ = kFirstRest;
  double screened_ = 0.0, inference_flops_ = 0.0;
};

}  // namespace

SolverInfo prox_qn_info() {
  const auto paper = [](const std::string& value) {
    return std::map<std::string, std::string>{{"paper", value}};
  };
  OptionTable options = {
      {.name = "preset",
       .type = OptionType::kString,
       .default_value = "fast",
       .help =
           "paper: every choice as in the paper and its authors' program; sets the defaults of the others",
       .choices = {"fast", "paper"}},
      {.name = "memory",
       .type = OptionType::kInt,
       .default_value = "40",
       .help = "L-BFGS pairs kept, m",
       .min = 1,
       .max = 1000,
       .preset_values = paper("10")},
      {.name = "metric",
       .type = OptionType::kString,
       .default_value = "blocks",
       .help =
           "what L-BFGS starts from: gamma*I, or the Hessian's blocks by output where they are not too large",
       .choices = {"blocks", "identity"},
       .preset_values = paper("identity")},
      {.name = "working_set",
       .type = OptionType::kString,
       .default_value = "growing",
       .help = "what an epoch starts with beside the support: the worst violators where full gradients are "
               "dear, all of them elsewhere; or, as the paper, all with |g_j| > epoch_margin*lambda",
       .choices = {"growing", "all"},
       .preset_values = paper("all")},
      {.name = "newton",
       .type = OptionType::kString,
       .default_value = "auto",
       .help =
           "the exact Hessian as the model: auto, once the iterations have cost as much as it does, where "
           "the oracle has covariances (chain) and the working set is small enough; or never",
       .choices = {"auto", "never"},
       .preset_values = paper("never")},
      {.name = "screening",
       .type = OptionType::kBool,
       .default_value = "false",
       .help = "drop for good what the duality gap proves to be zero (gap-safe screening)"},
      {.name = "max_inner",
       .type = OptionType::kInt,
       .default_value = "20",
       .help = "most passes of coordinate descent over the working set",
       .min = 1,
       .max = 100000,
       .preset_values = paper("10")},
      {.name = "inner_tol",
       .type = OptionType::kReal,
       .default_value = "0.03",
       .help =
           "the inner problem is solved when no coordinate moves its own gradient by more than this share "
           "of the first pass's; 0: all passes, over all coordinates",
       .min = 0,
       .max = 1,
       .preset_values = paper("0")},
      {.name = "inner",
       .type = OptionType::kString,
       .default_value = "subspace",
       .help = "how the inner problem is solved: coordinate descent alone, or a pass of it and conjugate "
               "gradients on the face that it finds, in turn",
       .choices = {"subspace", "descent"},
       .preset_values = paper("descent")},
      {.name = "inner_cap",
       .type = OptionType::kBool,
       .default_value = "false",
       .help = "at most d/|A| passes (section 2.3)",
       .preset_values = paper("true")},
      {.name = "epochs",
       .type = OptionType::kString,
       .default_value = "relative",
       .help =
           "an epoch's tolerance: epoch_factor times the measure at its start, or falling by epoch_factor "
           "from epoch_tol on",
       .choices = {"relative", "fixed"},
       .preset_values = paper("fixed")},
      {.name = "gamma0",
       .type = OptionType::kReal,
       .default_value = "auto",
       .help = "B = gamma0*I before the first step; auto: the curvature along the first direction",
       .min = 0,
       .min_open = true,
       .automatic = true,
       .preset_values = paper("1")},
      {.name = "scaling",
       .type = OptionType::kString,
       .default_value = "geometric",
       .help = "gamma of gamma*I from the last pair: short = y's/s's, long = y'y/y's, geometric = |y|/|s|, "
               "which spares most of the line search's second trials",
       .choices = {"short", "geometric", "long"},
       .preset_values = paper("short")},
      {.name = "max_stagnant",
       .type = OptionType::kInt,
       .default_value = "20",
       .help = "iterations in a row with neither F nor kkt at a new low (all within rounding) before the "
               "memory is "
               "cleared; twice in a row ends the run as stalled",
       .min = 0,
       .max = 1000000},
  };
  SolverInfo info{
      "prox-qn", "proximal quasi-Newton with shrinking: L-BFGS model, coordinate descent on the working set",
      "Zhong, Yen, Dhillon, Ravikumar 2014, Algorithm 2",
      joined(joined(std::move(options), epoch_options("1e-4")), line_search_options()), [](const Options& o) {
        Settings settings{.memory = static_cast<std::size_t>(o.integer("memory")),
                          .max_inner = o.integer("max_inner"),
                          .inner_tol = o.real("inner_tol"),
                          .subspace = o.string("inner") == "subspace",
                          .inner_cap = o.boolean("inner_cap"),
                          .epochs = read_epochs(o),
                          .relative_epochs = o.string("epochs") == "relative",
                          .growing = o.string("working_set") == "growing",
                          .blocks = o.string("metric") == "blocks",
                          .screening = o.boolean("screening"),
                          .newton = o.string("newton") == "auto",
                          .gamma0 = o.real("gamma0"),
                          .scaling = o.string("scaling") == "short"  ? Scaling::kShort
                                     : o.string("scaling") == "long" ? Scaling::kLong
                                                                     : Scaling::kGeometric,
                          .max_stagnant = o.integer("max_stagnant"),
                          .line_search = read_line_search(o)};
        if (o.string("preset") == "fast") settings.line_search.rounding = kRoundingAllowance;
        return std::make_unique<ProxQn>(settings);
      }};
  info.continues = true;
  info.refuses = [](const Options& o, const Penalty& penalty) -> std::string {
    return o.boolean("screening") && penalty.lambda == 0.0
               ? "with screening = true needs an l1 penalty: found lambda = 0, where no weight is ever proven "
                 "zero, expected lambda > 0 or screening = false"
               : "";
  };
  return info;
}

}  // namespace proxbench
