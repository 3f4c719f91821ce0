/// A proximal Newton-type method on growing working sets. Each iteration minimises a model
///
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1
///
/// over a working set, then backtracks on w + alpha*d until Armijo's rule holds. Within an epoch the working
/// set only shrinks. At its end a full gradient shows which coordinates enter. The method follows Zhong et
/// al. 2014 (prox_qn.cpp), with these differences:
///
/// - The step is one of L-BFGS on the face of the current signs, without an inner problem (face_model.h).
/// - Along a path, where full gradients are costly, and with two labels, B is the Hessian's blocks by output,
///   corrected by L-BFGS pairs, unless an inner problem would cost more than the pass that it replaces
///   (quasi_newton_model.h).
/// - B becomes the exact Hessian (newton_model.h) once the iterations have cost as much as building two of
///   them.
/// - The inner problem is solved to a tolerance.
/// - A working set begins with the worst violators (entering.h), and an epoch ends relative to its own start.
///
/// solvers/RESULTS.md measures its options and constants.
#include <cstdint>
#include <vector>

#include "core/base/schema.h"
#include "core/hessian.h"
#include "solvers/prox_newton/entering.h"
#include "solvers/prox_newton/newton_model.h"
#include "solvers/prox_newton/quasi_newton_model.h"
#include "solvers/prox_newton/settings.h"
#include "solvers/shared/common_options.h"
#include "solvers/shared/proximal/minimisation.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace prox_newton {
namespace {

using namespace proximal;

/// The rise of F that the line search tolerates, in units of eps*|F|. Near the optimum the last digits of F
/// must not shorten a good step. kkt shows whether it was good.
constexpr double kRounding = 256.0;
/// The number of Hessians that a phase of Newton's method builds, as seen on the development problems.
constexpr double kHessiansOfPhase = 2.0;

/// One solve.
class Minimiser : Minimisation {
 public:
  Minimiser(const Settings& settings, const SolveProblem& problem, Buffers& buffers, Entering& entering,
            QuasiNewtonModel& model)
      : Minimisation(problem, buffers),
        settings_(settings),
        entering_(entering),
        model_(model),
        passes_before_(problem.objective.counts().passes()) {
    entering_.begin(problem);
    model_.begin(problem, at_.set);
  }

  SolveResult run() {
    std::optional<Status> ended;
    if (!open(settings_.max_stagnant)) ended = Status::kDiverged;
    while (!ended) ended = hessian_pays() ? newton_phase() : epoch();
    return finish(*ended);
  }

 private:
  /// Runs quasi-Newton iterations on a shrinking working set. Returns the status if the solve ended, else
  /// nothing.
  std::optional<Status> epoch() {
    const auto blocks_pay = [&](std::span<const Coord> index) { return model_.blocks_pay(at_, index); };
    entering_.select(at_, w(), problem_.monitor.iterations() == 0 ? problem_.known : nullptr, blocks_pay,
                     selection_);
    if (const auto ended = judge_optimality()) return ended;
    take_selection();
    const double target = settings_.epoch_factor * optimality_.l1;
    model_.start_epoch(at_, progressed_);
    for (std::int64_t iteration = 1;; ++iteration) {
      const double slope = model_.minimise(at_);
      const auto learn = [&](const Step& taken) { model_.learn(taken, at_); };
      if (const auto ended = step(slope, learn)) return ended;
      // Drops coordinates that will likely stay zero (Zhong et al. 2014, Algorithm 2, lines 3 to 10).
      shrink(slack(), [&](const std::vector<std::uint32_t>& kept) { model_.keep_rows(kept); });
      if (!progressed_ || optimality_.largest <= problem_.kkt_target() || optimality_.l1 <= target ||
          iteration == QuasiNewtonModel::kMostIterations)
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
        take_selection();
        if (hessian_.build(at_.objective, at_.scores(), at_.set, at_.stop)) hessians_ += 1.0;
        passes_before_ = at_.objective.counts().passes();
      }
      const double before = optimality_.l1, systems = hessian_.systems();
      const double slope = hessian_.solve(at_.set.w, at_.set.g, at_.lambda(), settings_.max_inner,
                                          at_.parallel(), at_.d, at_.stop);
      const double factors = (hessian_.systems() - systems) * NewtonModel::factor_work(at_.set.size()),
                   built = build ? NewtonModel::work(at_.objective, at_.set.index) : 0.0;
      problem_.monitor.add_work((built + factors) / pass_price());
      if (const auto ended = step(slope, [](const Step&) {})) return ended;
      shrink(kInfinity, [](const std::vector<std::uint32_t>&) {});  // drops none, but measures optimality_
      const bool useless = !progressed_ || optimality_.l1 > before;
      if (useless && build) break;
      old = useless || are_paid(1.0);
    }
    hessian_ = {};
    passes_before_ = at_.objective.counts().passes();
    return std::nullopt;
  }

  /// Whether iterations without the Hessian have cost as much as a phase with it. False if pairs are carried
  /// along a path, since they would be lost.
  bool hessian_pays() const {
    return settings_.newton && at_.set.chosen && at_.set.size() <= NewtonModel::kMostRows &&
           has_hessian(at_.objective) && !model_.keeps_history() && are_paid(kHessiansOfPhase);
  }
  /// Whether the iterations since the last Hessian have cost as much as building this number of Hessians.
  /// Alternating in this way costs at most about twice as much as the better of the two methods.
  bool are_paid(double hessians) const {
    return (at_.objective.counts().passes() - passes_before_) * pass_price() >=
           hessians * NewtonModel::work(at_.objective, at_.set.index);
  }
  /// The operations of a pass, for comparison with the work of a Hessian. On a tree, exponentials take most
  /// of an inference, so they count. For other oracles, counting exponentials makes the Hessian start too
  /// early.
  double pass_price() const {
    return NewtonModel::pass_work(at_, at_.set.index, at_.objective.oracle().collapsed() != nullptr);
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
    return report() ? std::nullopt : std::optional(problem_.monitor.stop_status());
  }

  /// Ends a solve that ran out of time within an iteration. The model and the working set may belong to
  /// different iterations.
  Status give_up() {
    model_.forget();
    return problem_.monitor.stop_status();
  }

  SolveResult finish(Status status) {
    if (hessians_ > 0.0) result_.notes["hessians"] = hessians_;
    SolveResult result = give_back(status, model_.inner_passes());
    model_.end(at_.set);
    return result;
  }

  const Settings& settings_;
  Entering& entering_;
  QuasiNewtonModel& model_;
  NewtonModel hessian_;
  double passes_before_;  ///< the objective's passes when the last Hessian was built or given up
  double hessians_ = 0.0;
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

Schema<Settings> option_rows() {
  return Schema<Settings>(
      {option(&Settings::memory, "memory", "40", "L-BFGS pairs that correct the blocks", {1, 1000}),
       choice(&Settings::newton, "newton", "auto",
              "the exact Hessian as the model: auto, once the iterations have cost as much as two of them "
              "and the working set is small enough; or never",
              {{"auto", true}, {"never", false}}),
       option(&Settings::max_inner, "max_inner", "50",
              "most passes of coordinate descent over the working set, and "
              "most linear systems with the exact Hessian, "
              "of an inner problem",
              {1, 100000}),
       option(&Settings::inner_tol, "inner_tol", "0.3",
              "the inner problem is solved when no coordinate moves its own gradient "
              "by more than this share of the first pass's, and by a tenth of that on a path; 0: all passes",
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
  info.bytes_per_weight = 65;
  // A reference goes on where F is within rounding of its minimum. There kkt may rise before it falls.
  info.as_reference = {.options = {{"max_stagnant", "200"}}, .tightened = true};
  return info;
}

}  // namespace proxbench
