#pragma once
/// The model of the smooth part on the working set:
///
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1,    B = gamma*B0 corrected by L-BFGS pairs.
///
/// B0 is first a diagonal of counts, then the Hessian's blocks by output (block_metric.h) once these pay off.
/// Along a path the pairs of one lambda serve the next.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/quasi_newton/lbfgs.h"
#include "core/solver.h"
#include "solvers/prox_newton/block_metric.h"
#include "solvers/prox_newton/pair_history.h"
#include "solvers/prox_newton/settings.h"
#include "solvers/shared/proximal/coordinate_descent.h"
#include "solvers/shared/proximal/iterate.h"

namespace proxbench::prox_newton {

class QuasiNewtonModel {
 public:
  explicit QuasiNewtonModel(const Settings& settings)
      : settings_(settings), lbfgs_(settings.memory, GammaRule::kNone), random_(0) {}

  /// Starts a solve. If it continues a path (SolveProblem::in_sequence), keeps the pairs of the previous
  /// solve and puts their working set into `set`.
  void begin(const SolveProblem& problem, proximal::WorkingSet& set);
  /// Ends a solve, and keeps what the next one of a path will use.
  void end(proximal::WorkingSet& set);
  /// Forgets all that was learned, since another model takes over or the solve was cut short.
  void forget();

  /// Whether pairs are kept for the next solve of a path.
  bool keeps_history() const { return history_capacity_ > 0; }

  /// Moves to the working set of a new epoch. `progressed`: whether the last step was progress.
  void start_epoch(proximal::Iterate& at, bool progressed);
  /// The most iterations of this epoch.
  std::int64_t most_iterations() const;
  /// The working set has shrunk to these rows (ascending).
  void keep_rows(std::span<const std::uint32_t> kept);

  /// Sets at.d to the minimiser of the model, up to a tolerance. w + d is exactly zero where the solution is.
  /// Returns Delta = g^T d + lambda*(||w + d||_1 - ||w||_1).
  double minimise(proximal::Iterate& at);
  /// Learns from a step along at.d.
  void learn(const proximal::Step& step, const proximal::Iterate& at);

  /// The number of passes of coordinate descent in this solve.
  double inner_passes() const { return inner_passes_; }

 private:
  bool blocks_fit(const proximal::Iterate& at) const;
  void start_counts(proximal::Iterate& at);
  double curvature_along_direction(proximal::Iterate& at) const;
  void start_blocks(const proximal::Iterate& at);
  void continue_with_blocks(const proximal::Iterate& at);
  bool make_blocks(const proximal::Iterate& at);
  void forget_pairs(const proximal::Iterate& at);
  void carry_pairs(const proximal::Iterate& at);

  const Settings& settings_;
  CompactLbfgs lbfgs_;
  BlockMetric metric_;  ///< B0
  proximal::CoordinateDescent descent_;
  Random random_;
  PairHistory history_;  ///< of the newest pairs in lbfgs_
  std::size_t history_capacity_ = 0;
  std::vector<Coord> index_;    ///< the working set between two solves, and w there
  std::vector<double> weights_;

  bool blocks_ = false;          ///< whether B0 consists of blocks
  bool blocks_at_once_ = false;  ///< whether they need not wait for a slow epoch
  double gamma_of_blocks_ = 0.0, gamma_of_counts_ = 0.0;  ///< the second is 0 until measured in a solve
  double made_at_ = 0.0, epoch_value_ = 0.0;              ///< F at the build of blocks, and at epoch start
  double inner_passes_ = 0.0;
  std::vector<double> product_;
};

}  // namespace proxbench::prox_newton
