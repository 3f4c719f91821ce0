#pragma once
/// Iterations of L-BFGS on a smooth objective (lambda = 0; Nocedal and Wright 2006, algorithm 7.5), for
/// `lbfgs` itself and for what begins or preconditions with it.
///
/// H_0 = gamma * M^-1, with M a rough Hessian (rough_hessian.h) where it has blocks and these are wanted,
/// else gamma * I (with word features M is out of date too soon: solvers/RESULTS.md); gamma is that of the
/// newest pair. The first trial is alpha = 1, and a step of length 1/(typical value) before the first pair
/// where H_0 is a multiple of I (core/data/typical_value.h). The Wolfe conditions make y^T s > 0. A search
/// that fails is repeated once with H = H_0, the pairs dropped; when that fails too, no decrease is left.

#include <limits>
#include <span>
#include <vector>

#include "core/solver.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/lbfgs_memory.h"
#include "solvers/shared/rough_hessian.h"
#include "solvers/shared/score_line.h"

namespace proxbench::dense {

class LbfgsSteps {
 public:
  /// Keeps at most `memory` pairs. Borrows the objective.
  LbfgsSteps(Objective& objective, std::size_t memory, bool blocks);
  /// Takes `now`, with everything that evaluate() gives, and the gradient there to the next iterate. False:
  /// there is none, or the time is over.
  bool step(Monitor& monitor, Point& now, std::vector<double>& g);

 private:
  bool search(Monitor& monitor, const Point& now, const std::vector<double>& g);
  void follow(const Point& now);
  void rescale(std::span<const double> w, std::span<const double> g);
  void apply_start(std::span<double> r) const;

  Objective& objective_;
  LbfgsMemory memory_;
  RoughHessian rough_;
  bool blocks_;
  double built_at_ = std::numeric_limits<double>::infinity(), gamma_ = 1.0;  ///< of M, with blocks
  ScoreLine line_;
  std::vector<double> g_before_, w_before_, p_;
};

}  // namespace proxbench::dense
