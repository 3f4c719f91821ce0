#pragma once
/// B starts from the Hessian's blocks by output, times a factor (block_metric.h), and L-BFGS pairs correct
/// it. On a path the pairs of one lambda serve the next.

#include <limits>
#include <vector>

#include "core/quasi_newton/lbfgs.h"
#include "solvers/prox_qn/models/block_metric.h"
#include "solvers/prox_qn/models/inner_solver.h"
#include "solvers/prox_qn/models/model.h"
#include "solvers/prox_qn/models/pair_history.h"

namespace proxbench::prox_qn {

/// What of the model outlives a solve, where it has pairs to hand on: they, and the working set that they are
/// on.
struct CarriedPairs {
  PairHistory history;
  CompactLbfgs lbfgs;
  std::vector<Coord> index;
  std::vector<double> w;
  double damping;
  bool trusted;
};

class Blocks final : public Model {
 public:
  /// `history_capacity`: steps kept so that their pairs can go to other working sets; 0: none.
  Blocks(const Settings& settings, InnerSolver& inner, std::size_t history_capacity)
      : settings_(settings),
        lbfgs_(settings.memory, GammaRule::kNone),
        inner_(inner),
        history_capacity_(history_capacity) {}

  /// Takes over the pairs of the solve before, with its working set.
  void carry_in(CarriedPairs&& carried, WorkingSet& set);
  bool has_history() const { return history_.size() > 0; }
  CarriedPairs carry_out(WorkingSet& set);

  /// Whether blocks on the working set are worth their memory.
  static bool fit(const Iterate& at) {
    return BlockMetric::entries(at.objective, at.set.index) <= BlockMetric::kMostEntries;
  }
  /// Makes the blocks, and begins without pairs.
  void start(const Iterate& at);
  /// On another working set (at.set.from): keeps the blocks where F has hardly fallen since they were made,
  /// else makes them anew; and keeps what pairs can be kept then.
  void start_again(const Iterate& at);
  /// Whether there is something that start_again() could keep.
  bool has_pairs() const { return lbfgs_.pairs() > 0; }
  /// Whether F has fallen so far since the blocks were made that they are worth making anew at once.
  bool stale(double value) const;

  /// Raises the factor where the step had to be cut, lowers it where not.
  void adapt_damping(double alpha);

  double minimise(Iterate& at) override { return inner_.minimise(lbfgs_, &metric_, false, at); }
  bool measured() const override { return true; }
  void learn(const Step& step, const Iterate& at) override;
  void keep_rows(std::span<const std::uint32_t> kept) override;
  void stop() override;

 private:
  bool make_blocks(const Iterate& at);
  void forget_pairs(const Iterate& at);
  void carry_pairs(const Iterate& at);

  const Settings& settings_;
  CompactLbfgs lbfgs_;
  BlockMetric metric_;
  InnerSolver& inner_;
  PairHistory history_;  ///< of the last of lbfgs_'s pairs
  std::size_t history_capacity_;
  double damping_ = kFirstDamping;
  double built_at_ = std::numeric_limits<double>::infinity();  ///< F when the blocks were made
  std::vector<double> product_;

  /// The factor at the start: Newton steps from w = 0 are too long by about this.
  static constexpr double kFirstDamping = 3.0;
};

}  // namespace proxbench::prox_qn
