#pragma once
/// Iterations of L-BFGS on a smooth objective (lambda = 0; Nocedal and Wright 2006, algorithm 7.5). Used by
/// `lbfgs` and by solvers that start with it.
///
/// H_0 = gamma * M^-1 with the rough Hessian M (rough_hessian.h), if M has blocks and the caller wants them.
/// Else H_0 = gamma * I: with word features M is out of date too soon (solvers/RESULTS.md). The newest pair
/// gives gamma. The first trial of a search is alpha = 1. Before the first pair, if H_0 is a multiple of I,
/// the first trial is a step of length 1/(typical value) (core/data/typical_value.h). The Wolfe conditions
/// ensure y^T s > 0. If a search fails, the pairs are dropped and the search is repeated once with H = H_0.
/// If the second search fails too, F can decrease no further.

#include <span>
#include <vector>

#include "core/solver.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/lbfgs_memory.h"
#include "solvers/shared/rough_hessian.h"
#include "solvers/shared/score_line.h"

namespace proxbench::dense {

/// With w and its gradient, an iteration holds 2*memory + 4 vectors: the direction and the old gradient stand
/// where the next pair will.
class LbfgsSteps {
 public:
  /// Keeps at most `memory` pairs. `blocks`: use M if it has blocks. Borrows the objective.
  LbfgsSteps(Objective& objective, std::size_t memory, bool blocks);
  /// Moves `now` to the next iterate and updates its gradient g. `now` must hold the results of evaluate().
  /// Returns false if there is no next iterate or the time is over.
  bool step(Monitor& monitor, Point& now, std::vector<double>& g);

 private:
  bool search(Monitor& monitor, Point& now, const std::vector<double>& g);
  void follow(const Point& now);
  void rescale(std::span<const double> s, std::span<const double> y);
  void apply_start(std::span<double> r) const;

  Objective& objective_;
  LbfgsMemory memory_;
  RoughHessian rough_;
  bool blocks_;
  /// The loss when M was last built, and the factor gamma of M^-1. Used only with blocks.
  double built_at_ = kInfinity, gamma_ = 1.0;
  ScoreLine line_;
};

}  // namespace proxbench::dense
