/// Proximal quasi-Newton with aggressive shrinking (Zhong, Yen, Dhillon, Ravikumar 2014, Algorithms 1 and 2).
///
/// Each iteration minimises the quadratic model
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1
/// over a working set A by randomised coordinate descent (section 2.2), B the compact L-BFGS matrix of the
/// smooth part (section 2.1), then backtracks on w + alpha*d until Armijo's rule holds. Within an epoch A
/// only shrinks (section 2.3); at its end all coordinates come back and the epoch's tolerance falls.
///
/// Preset `paper`: every choice is the paper's, or that of its authors' program where the paper says none.
/// Preset `fast` differs in what was measured to pay (table in solvers/RESULTS.md): other models than
/// gamma*I with L-BFGS pairs (model_choice.h), inner problems that are solved to a tolerance
/// (inner_solver.h), working sets of the worst violators (entering.h), epochs that end relative to their own
/// start (epochs.h), and what a path carries from lambda to lambda (path_memory.h).
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/prox_qn/entering.h"
#include "solvers/prox_qn/epochs.h"
#include "solvers/prox_qn/iterate.h"
#include "solvers/prox_qn/model_choice.h"
#include "solvers/prox_qn/path_memory.h"
#include "solvers/prox_qn/settings.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace prox_qn {
namespace {

/// One solve.
class Minimiser {
 public:
  Minimiser(const Settings& settings, const SolveProblem& problem, PathMemory& memory)
      : settings_(settings),
        problem_(problem),
        memory_(memory),
        known_(problem.known),
        history_capacity_(PathMemory::history_capacity(problem, settings)),
        dear_(full_gradients_are_dear(problem.objective)),
        at_(problem.objective, memory.buffers, problem.monitor.stop_token()),
        models_(settings, problem.objective, problem.seed, dear_, history_capacity_),
        epochs_(settings, dear_),
        entering_(settings, dear_) {
    result_.w = problem.start;
    result_.working_set = problem.start.nnz();
    if (memory.pairs) models_.carry_in(*std::exchange(memory.pairs, std::nullopt), at_.set);
  }

  /// Algorithm 2.
  SolveResult run() {
    problem_.monitor.start(problem_.start);
    at_.open(problem_.start, known_);
    progress_.emplace(settings_.max_stagnant, at_.value);
    for (std::int64_t iteration = 1;; ++iteration) {
      if (!std::isfinite(at_.value)) return finish(Status::kDiverged);
      const bool epoch_is_over = !epochs_.begun() || shrink_working_set();  // lines 2 to 10
      if (epoch_is_over) {
        if (const auto status = start_epoch(iteration)) return finish(*status);  // lines 11 to 16
      } else {
        models_.refresh(at_, iteration);
      }
      if (at_.stop.requested()) return give_up();
      measure_before_ = optimality_.l1;
      const double slope = models_.current().minimise(at_);  // lines 19 to 27
      if (at_.stop.requested()) return give_up();
      progressed_ = search_and_move(slope, iteration);
      if (!progressed_ && at_.stop.requested()) return give_up();
      if (is_last(iteration)) return finish(problem_.monitor.stop_status());
    }
  }

 private:
  /// Drops from A what is zero and will likely stay so. Returns whether the epoch is over.
  bool shrink_working_set() {
    const bool shrinks = settings_.epochs.shrinking && !models_.newton();
    const double slack = shrinks ? optimality_.largest / static_cast<double>(at_.objective.instances())
                                 : std::numeric_limits<double>::infinity();
    const std::size_t before = at_.set.size();
    const std::vector<std::uint32_t>& kept = at_.set.shrink(at_.lambda(), slack, optimality_);
    if (kept.size() < before) models_.current().keep_rows(kept);
    progress_->saw_subgradient(optimality_.largest);
    const bool over = epochs_.over(optimality_.l1, models_.blocks());
    hessian_is_old_ =
        models_.newton() && (models_.hessian_is_old(measure_before_, optimality_.l1) || !progressed_);
    return over || optimality_.largest <= problem_.kkt_target() || !progressed_ || hessian_is_old_;
  }

  /// A full gradient tells whether the solve is over, and what the next working set is. Returns how it ends,
  /// or nothing.
  std::optional<Status> start_epoch(std::int64_t iteration) {
    const bool newton = models_.newton_is_next(at_, hessian_is_old_ && epochs_.iterations() == 1);
    const SparseVector& w = at_.set.collect(result_.w);
    const KnownStart* known = iteration == 1 ? known_ : nullptr;
    entering_.select(at_, w, newton, known, selection_);
    if (!std::isfinite(selection_.kkt_max)) return Status::kDiverged;
    if (selection_.kkt_max <= problem_.kkt_target()) return Status::kConverged;
    // Neither F nor kkt came down since the memory was cleared for the same reason: rounding is all that is
    // left.
    if (!progressed_ && !progress_->restart()) return Status::kStalled;
    result_.notes["epochs"] += 1;
    const bool goes_on = models_.newton() && newton && !hessian_is_old_ &&
                         !ModelChoice::hessian_misses(optimality_.largest, selection_.kkt_max);
    optimality_ = {selection_.kkt_max, selection_.kkt_l1};
    epochs_.start(optimality_.l1);
    if (goes_on) return std::nullopt;
    if (known != nullptr && history_capacity_ > 0) memory_.keep_foretold(*known, at_.lambda(), selection_);
    if (newton) keep_nearest(at_.lambda(), selection_);
    at_.set.take(selection_);
    models_.start(at_, newton && at_.set.size() <= NewtonModel::kMostRows, iteration, progressed_);
    return std::nullopt;
  }

  /// Line search along the direction, and the step, from which the model learns. Returns whether that was
  /// progress; where not, w stays.
  bool search_and_move(double slope, std::int64_t iteration) {
    // With curvature known the first trial is mostly taken, so its residual comes with it. Without, gamma is
    // a guess that may be off by many halvings: then forward messages alone.
    const bool with_residual = models_.current().measured();
    ArmijoOptions options = settings_.line_search;
    options.rounding = models_.current().rounding(options.rounding);
    const ArmijoResult found = at_.search(slope, options, with_residual);
    if (!progress_->saw_step(found)) return false;
    models_.judge_length(found.alpha, slope, at_, iteration);
    const Step step = at_.move(found, with_residual);
    models_.current().learn(step, at_);
    return true;
  }

  bool is_last(std::int64_t iteration) {
    result_.iterations = iteration;
    result_.working_set = at_.set.size();
    // w's nonzeros are gathered where a sample wants them, off the clock.
    return !problem_.monitor.step(
        iteration, [&] { return at_.set.collect(result_.w); }, at_.set.size(), at_.loss());
  }

  SolveResult finish(Status status) {
    at_.set.collect(result_.w);
    result_.status = status;
    result_.working_set = at_.set.size();
    result_.notes["inner_passes"] = models_.inner_passes();
    if (settings_.screening) result_.notes["screened"] = entering_.screened();
    if (models_.hessians() > 0.0) result_.notes["hessians"] = models_.hessians();
    if (known_ != nullptr) at_.leave(*known_);
    if (models_.carries()) memory_.pairs = models_.carry_out(at_.set);
    memory_.lambda = at_.lambda();
    return std::move(result_);
  }

  /// Time is up within an iteration: with the last iterate and its working set, and without pairs for a next
  /// solve, for model and working set may be of different iterations.
  SolveResult give_up() {
    const std::uint64_t working_set = result_.working_set;
    SolveResult out = finish(problem_.monitor.stop_status());
    out.working_set = working_set;
    memory_.pairs.reset();
    return out;
  }

  const Settings& settings_;
  const SolveProblem& problem_;
  PathMemory& memory_;
  KnownStart* known_;
  std::size_t history_capacity_;
  bool dear_;  ///< whether a full gradient costs much more than an inference

  Iterate at_;
  ModelChoice models_;
  Epochs epochs_;
  Entering entering_;
  std::optional<Progress> progress_;
  Objective::Selection selection_;
  Optimality optimality_;        ///< on the working set; at the start of an epoch on all coordinates
  double measure_before_ = 0.0;  ///< its l1 norm before the last step
  bool progressed_ = true;       ///< whether the last step brought something
  bool hessian_is_old_ = false;
  SolveResult result_;
};

class ProxQn final : public Solver {
 public:
  explicit ProxQn(const Settings& settings) : settings_(settings) {}

  SolveResult solve(const SolveProblem& problem) override {
    memory_.begin(problem);
    return Minimiser(settings_, problem, memory_).run();
  }

 private:
  Settings settings_;
  PathMemory memory_;
};

}  // namespace
}  // namespace prox_qn

SolverInfo prox_qn_info() {
  SolverInfo info{
      "prox-qn", "proximal quasi-Newton with shrinking: L-BFGS model, coordinate descent on the working set",
      "Zhong, Yen, Dhillon, Ravikumar 2014, Algorithm 2", prox_qn::options(), [](const Options& options) {
        return std::make_unique<prox_qn::ProxQn>(prox_qn::read_settings(options));
      }};
  info.continues = true;
  info.shares_instances = true;
  info.scale_free = true;
  // F is within rounding of its minimum there, and kkt rises for a while before it falls.
  info.as_reference = {.options = {{"max_stagnant", "200"}}, .tightened = true};
  info.refuses = [](const Options& options, const Penalty& penalty) -> std::string {
    return options.boolean("screening") && penalty.lambda == 0.0
               ? "with screening = true needs an l1 penalty: found lambda = 0, where no weight is ever "
                 "proven "
                 "zero, expected lambda > 0 or screening = false"
               : "";
  };
  return info;
}

}  // namespace proxbench
