/// A proximal Newton-type method on growing working sets. Each iteration minimises a model
///
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1
///
/// over a working set, then backtracks on w + alpha*d until Armijo's rule holds. Within an epoch the working
/// set only shrinks. At its end a full gradient shows which coordinates enter. The method follows Zhong et
/// al. 2014 (prox_qn.cpp), with these differences:
///
/// - B is the Hessian's blocks by output, corrected by L-BFGS pairs (quasi_newton_model.h). Once the
///   iterations have cost as much as the exact Hessian would, B is the exact Hessian (newton_model.h).
/// - The inner problem is solved to a tolerance.
/// - A working set begins with the worst violators (entering.h), and an epoch ends relative to its own start.
///
/// Each choice has a row in the table of ablations in solvers/RESULTS.md.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/option_rows.h"
#include "solvers/prox_newton/entering.h"
#include "solvers/prox_newton/newton_model.h"
#include "solvers/prox_newton/quasi_newton_model.h"
#include "solvers/prox_newton/settings.h"
#include "solvers/shared/common_options.h"
#include "solvers/shared/proximal/iterate.h"
#include "solvers/shared/proximal/progress.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace prox_newton {
namespace {

using namespace proximal;

/// The rise of F that the line search tolerates, in units of eps*|F|. Near the optimum the last digits of F
/// must not shorten a good step. kkt shows whether it was good.
constexpr double kRounding = 256.0;

/// One solve.
class Minimiser {
 public:
  Minimiser(const Settings& settings, const SolveProblem& problem, Buffers& buffers, Entering& entering,
            QuasiNewtonModel& model)
      : settings_(settings),
        problem_(problem),
        at_(problem.objective, buffers, problem.monitor.stop_token()),
        entering_(entering),
        model_(model),
        passes_before_(problem.objective.passes()) {
    result_.w = problem.start;
    result_.working_set = problem.start.nnz();
    entering_.begin(problem);
    model_.begin(problem, at_.set);
  }

  SolveResult run() {
    problem_.monitor.start(problem_.start);
    at_.open(problem_.start, problem_.known);
    progress_.emplace(settings_.max_stagnant, at_.value);
    std::optional<Status> ended;
    if (!std::isfinite(at_.value)) ended = Status::kDiverged;
    while (!ended) ended = hessian_pays() ? newton_phase() : epoch();
    return finish(*ended);
  }

 private:
  /// Runs quasi-Newton iterations on a shrinking working set. Returns the status if the solve ended, else
  /// nothing.
  std::optional<Status> epoch() {
    entering_.select(at_, w(), result_.iterations == 0 ? problem_.known : nullptr, selection_);
    if (const auto ended = judge_optimality()) return ended;
    optimality_ = {selection_.kkt_max, selection_.kkt_l1};
    const double target = settings_.epoch_factor * optimality_.l1;
    at_.set.take(selection_);
    model_.start_epoch(at_, progressed_);
    for (std::int64_t iteration = 1;; ++iteration) {
      const double slope = model_.minimise(at_);
      const auto learn = [&](const Step& taken) { model_.learn(taken, at_); };
      if (const auto ended = step(slope, learn)) return ended;
      shrink_working_set();
      if (!progressed_ || optimality_.largest <= problem_.kkt_target() || optimality_.l1 <= target ||
          iteration == model_.most_iterations())
        return std::nullopt;
    }
  }

  /// Runs Newton's method with the exact Hessian, which is kept while it makes progress. Returns the status
  /// if the solve ended. Returns nothing if a new Hessian brought next to no progress, or if the working set
  /// has too many rows.
  std::optional<Status> newton_phase() {
    model_.forget();
    for (bool old = true;;) {
      at_.select(w(), at_.lambda(), nullptr, selection_);
      if (const auto ended = judge_optimality()) return ended;
      const bool build = old || selection_.kkt_max > optimality_.largest;
      if (build) {
        if (selection_.index.size() > NewtonModel::kMostRows) break;
        optimality_ = {selection_.kkt_max, selection_.kkt_l1};
        at_.set.take(selection_);
        if (hessian_.build(at_.objective, at_.scores(), at_.set.index, at_.stop)) hessians_ += 1.0;
        passes_before_ = at_.objective.passes();
      }
      const double before = optimality_.l1;
      const double slope = hessian_.solve(at_.set.w, at_.set.g, at_.lambda(), settings_.max_inner,
                                          at_.parallel(), at_.d, at_.stop);
      if (const auto ended = step(slope, [](const Step&) {})) return ended;
      at_.set.shrink(at_.lambda(), kInfinity,
                     optimality_);  // measures, drops none
      progress_->saw_subgradient(optimality_.largest);
      const bool useless = !progressed_ || optimality_.l1 > before;
      if (useless && build) break;
      old = useless || hessian_is_paid();
    }
    hessian_ = {};
    passes_before_ = at_.objective.passes();
    return std::nullopt;
  }

  /// Whether iterations without the Hessian have cost as much as it does. False if pairs are carried along a
  /// path, since they would be lost.
  bool hessian_pays() const {
    return settings_.newton && at_.set.chosen && at_.set.size() <= NewtonModel::kMostRows &&
           at_.objective.has_hessian() && !model_.keeps_history() && hessian_is_paid();
  }
  /// Whether the iterations since the last Hessian have cost as much as one does. Alternating in this way
  /// costs at most twice as much as the better of the two methods.
  bool hessian_is_paid() const {
    const double passes = at_.objective.passes() - passes_before_;
    return passes * NewtonModel::pass_work(at_.objective, at_.set.index, at_.inference_flops()) >=
           NewtonModel::work(at_.objective, at_.set.index);
  }

  /// Finds a step along at_.d by line search and takes it. `slope` is the predicted change of F. Passes the
  /// step to `learn`. Returns the status if the solve has ended, and nothing otherwise.
  template <class Learn>
  std::optional<Status> step(double slope, const Learn& learn) {
    if (at_.stop.requested()) return give_up();
    const ArmijoResult found = at_.search(slope, settings_.line_search, true);
    progressed_ = progress_->saw_step(found);
    if (!progressed_ && at_.stop.requested()) return give_up();
    if (progressed_) learn(at_.move(found, true));
    ++result_.iterations;
    result_.working_set = at_.set.size();
    // w's nonzeros are gathered only if a sample needs them, off the clock.
    const bool goes_on = problem_.monitor.step(
        result_.iterations, [&] { return w(); }, at_.set.size(), at_.loss());
    return goes_on ? std::nullopt : std::optional(problem_.monitor.stop_status());
  }

  /// Drops coordinates from the working set that are zero and will likely stay so (Zhong et al. 2014,
  /// Algorithm 2, lines 2 to 9).
  void shrink_working_set() {
    const double slack = optimality_.largest / static_cast<double>(at_.objective.instances());
    const std::size_t before = at_.set.size();
    const std::vector<std::uint32_t>& kept = at_.set.shrink(at_.lambda(), slack, optimality_);
    if (kept.size() < before) model_.keep_rows(kept);
    progress_->saw_subgradient(optimality_.largest);
  }

  /// Decides from the selection whether the solve has ended. Returns the status if so, else nothing.
  std::optional<Status> judge_optimality() {
    if (!std::isfinite(selection_.kkt_max)) return Status::kDiverged;
    if (selection_.kkt_max <= problem_.kkt_target()) return Status::kConverged;
    // Neither F nor kkt has fallen since the last restart, so only rounding is left.
    if (!progressed_ && !progress_->restart()) return Status::kStalled;
    result_.notes["epochs"] += 1;
    return std::nullopt;
  }

  /// Ends a solve that ran out of time within an iteration. The model and the working set may belong to
  /// different iterations.
  Status give_up() {
    model_.forget();
    cut_short_ = true;
    return problem_.monitor.stop_status();
  }

  SolveResult finish(Status status) {
    w();
    result_.status = status;
    if (!cut_short_) result_.working_set = at_.set.size();
    result_.notes["inner_passes"] = model_.inner_passes();
    if (hessians_ > 0.0) result_.notes["hessians"] = hessians_;
    if (problem_.known != nullptr) at_.leave(*problem_.known);
    model_.end(at_.set);
    return std::move(result_);
  }

  const SparseVector& w() { return at_.set.collect(result_.w); }

  const Settings& settings_;
  const SolveProblem& problem_;
  Iterate at_;
  Entering& entering_;
  QuasiNewtonModel& model_;
  NewtonModel hessian_;
  std::optional<Progress> progress_;
  Objective::Selection selection_;
  Optimality optimality_;   ///< on the working set; on all coordinates after a new selection
  bool progressed_ = true;  ///< whether the last step was progress
  double passes_before_;    ///< the objective's passes when the last Hessian was built or given up
  double hessians_ = 0.0;
  bool cut_short_ = false;
  SolveResult result_;
};

/// Its members carry over from one lambda of a path to the next.
class ProxNewton final : public Solver {
 public:
  explicit ProxNewton(const Settings& settings) : settings_(settings), model_(settings_) {
    settings_.line_search.rounding = kRounding;
  }

  SolveResult solve(const SolveProblem& problem) override {
    if (!problem.in_sequence) buffers_ = {};
    return Minimiser(settings_, problem, buffers_, entering_, model_).run();
  }

 private:
  Settings settings_;
  Buffers buffers_;
  Entering entering_;
  QuasiNewtonModel model_;
};

OptionRows<Settings> option_rows() {
  return OptionRows<Settings>(
      {option(&Settings::memory, "memory", "40", "L-BFGS pairs kept", {1, 1000}),
       choice(&Settings::newton, "newton", "auto",
              "the exact Hessian as the model: auto, once the iterations have cost as much as it does, "
              "where it is available (not with a hierarchy) and the working set is small enough; "
              "or never",
              {{"auto", true}, {"never", false}}),
       option(&Settings::max_inner, "max_inner", "50",
              "most passes of coordinate descent over the working set, and "
              "most linear systems with the exact Hessian, "
              "of an inner problem",
              {1, 100000}),
       option(&Settings::inner_tol, "inner_tol", "0.03",
              "the inner problem is solved when no coordinate moves its own gradient "
              "by more than this share of the first pass's; 0: all passes",
              {0, 1}),
       option(&Settings::epoch_factor, "epoch_factor", "0.1",
              "an epoch ends when the l1 norm of the subgradient on its working set has fallen to this "
              "share",
              inside(0, 1)),
       option(&Settings::max_stagnant, "max_stagnant", "20",
              "iterations in a row with neither F nor kkt at a new low (all within rounding) before the "
              "memory is cleared; twice in a row ends the run as stalled",
              {0, 1000000}),
       part(&Settings::line_search, line_search_rows())});
}

}  // namespace
}  // namespace prox_newton

SolverInfo prox_newton_info() {
  SolverInfo info{
      "prox-newton",
      "proximal Newton-type method on growing working sets: the Hessian's blocks, corrected by L-BFGS "
      "pairs, or the exact Hessian",
      "after Zhong, Yen, Dhillon, Ravikumar 2014", prox_newton::option_rows().table(),
      prox_newton::option_rows().maker<prox_newton::ProxNewton>()};
  info.continues = true;
  info.shares_instances = true;
  info.scale_free = true;
  // F is within rounding of its minimum then, and kkt rises for a while before it falls.
  info.as_reference = {.options = {{"max_stagnant", "200"}}, .tightened = true};
  return info;
}

}  // namespace proxbench
