#pragma once
/// Shared by the solves of prox-qn and prox-newton, apart from their models: the state of a solve, the
/// decision to end it, and its result.

#include <cmath>
#include <optional>

#include "core/solver.h"
#include "solvers/shared/proximal/iterate.h"
#include "solvers/shared/proximal/progress.h"

namespace proxbench::proximal {

class Minimisation {
 protected:
  Minimisation(const SolveProblem& problem, Buffers& buffers)
      : problem_(problem), at_(problem.objective, buffers, problem.monitor.stop_token()) {
    result_.w = problem.start;
  }

  /// Starts the clock and the solve. Progress explains `patience`. Returns false if F is not finite.
  bool open(std::int64_t patience) {
    const bool finite = problem_.monitor.start(problem_.start);
    at_.open(problem_.start, problem_.known);
    progress_.emplace(patience, at_.value);
    return finite;
  }

  const SparseVector& w() { return at_.collect(result_.w); }

  /// Judges a selection from a full gradient: returns the status if the solve is over. Else an epoch begins.
  std::optional<Status> judge_optimality() {
    if (!std::isfinite(selection_.kkt_max)) return Status::kDiverged;
    if (selection_.kkt_max <= problem_.kkt_target()) return Status::kConverged;
    // Neither F nor kkt has fallen since the last restart, so only rounding is left.
    if (!progressed_ && !progress_->restart()) return Status::kStalled;
    result_.notes["epochs"] += 1;
    return std::nullopt;
  }

  /// Makes the selection the working set.
  void take_selection() {
    optimality_ = {selection_.kkt_max, selection_.kkt_l1};
    at_.take(selection_);
  }

  /// Drops coordinates from the working set (WorkingSet::shrink()) and measures optimality on the remaining
  /// ones. Calls keep(rows) if it dropped some.
  template <class Keep>
  void shrink(double slack, const Keep& keep) {
    const std::size_t before = at_.set.size();
    const std::vector<std::uint32_t>& kept = at_.set.shrink(at_.lambda(), slack, optimality_);
    if (kept.size() < before) keep(kept);
    progress_->saw_subgradient(optimality_.largest);
  }
  double slack() const { return optimality_.largest / static_cast<double>(at_.objective.instances()); }

  /// Ends an iteration. Returns whether the solve goes on.
  bool report() {
    // w's nonzeros are gathered only if a sample needs them, off the clock.
    return problem_.monitor.step([&] { return w(); }, at_.loss(), at_.set.size());
  }

  /// Ends the solve.
  SolveResult give_back(Status status, double inner_passes) {
    w();
    result_.status = status;
    result_.notes["inner_passes"] = inner_passes;
    if (problem_.known != nullptr) at_.leave(*problem_.known);
    return std::move(result_);
  }

  const SolveProblem& problem_;
  Iterate at_;
  std::optional<Progress> progress_;
  Objective::Selection selection_;
  Optimality optimality_;   ///< on all coordinates right after a selection, else on the working set
  bool progressed_ = true;  ///< whether the last step made progress (Progress)
  SolveResult result_;
};

}  // namespace proxbench::proximal
