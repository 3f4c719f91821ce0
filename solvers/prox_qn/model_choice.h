#pragma once
/// Which model serves when: blocks where they pay, gamma*D where they do not or do not hold, and the exact
/// Hessian once the iterations have cost as much as it does.

#include <cstdint>
#include <limits>

#include "solvers/prox_qn/models/blocks.h"
#include "solvers/prox_qn/models/newton_model.h"
#include "solvers/prox_qn/models/scaled_diagonal.h"

namespace proxbench::prox_qn {

class ModelChoice {
 public:
  /// `dear`: full gradients cost much more than an inference (entering.h). `history_capacity`: see Blocks.
  ModelChoice(const Settings& settings, const Objective& objective, std::uint64_t seed, bool dear,
              std::size_t history_capacity);

  Model& current() { return *current_; }
  bool newton() const { return current_ == &newton_; }
  bool blocks() const { return current_ == &blocks_; }
  /// Pairs of the solve before, with the model that they are of.
  void carry_in(CarriedPairs&& carried, WorkingSet& set);
  bool carries() const { return blocks_.has_history(); }
  CarriedPairs carry_out(WorkingSet& set) { return blocks_.carry_out(set); }

  /// Whether the next epoch is to have an exact Hessian: with one, unless it was new and brought nothing;
  /// without, where the passes so far have cost as much.
  bool newton_is_next(const Iterate& at, bool hessian_brought_nothing) const;
  /// Whether a step with the Hessian left so much of the subgradient, in the l1 norm, that it is too old.
  bool hessian_is_old(double before, double after) const;
  /// Whether the Hessian lacks coordinates that violate the optimality conditions by so much more than those
  /// it is on that it is made anew for them.
  static bool hessian_misses(double largest_on_it, double largest);

  /// A model on the new working set. `progressed`: whether the last step brought something.
  void start(Iterate& at, bool newton, std::int64_t iteration, bool progressed);
  /// Within an epoch: blocks made anew where F has fallen far, or given another try after their rest.
  void refresh(const Iterate& at, std::int64_t iteration);
  /// Before learn(): what the length of the step says of the blocks. `slope`: its predicted change of F.
  void judge_length(double alpha, double slope, const Iterate& at, std::int64_t iteration);

  double inner_passes() const { return inner_.passes(); }
  double hessians() const { return hessians_; }

 private:
  void start_quasi_newton(Iterate& at, std::int64_t iteration, bool progressed);
  bool blocks_fit(const Iterate& at) const { return settings_.blocks && Blocks::fit(at); }
  void use_blocks(const Iterate& at);
  void switch_to(Model& next);

  const Settings& settings_;
  bool dear_, newton_allowed_;
  InnerSolver inner_;
  ScaledDiagonal diagonal_;
  Blocks blocks_;
  NewtonModel newton_;
  Model* current_ = &diagonal_;

  static constexpr std::int64_t kFirstRest = 10;
  std::int64_t retry_at_ = 0, rest_ = kFirstRest;  ///< when blocks have another try; how long they rest next
  double epoch_value_ = std::numeric_limits<double>::infinity();  ///< F at the start of the last epoch
  double passes_before_newton_;  ///< of the objective, when iterations without the Hessian began
  double hessians_ = 0.0;
};

}  // namespace proxbench::prox_qn
