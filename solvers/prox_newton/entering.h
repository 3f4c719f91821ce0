#pragma once
/// Selects the coordinates that a working set begins with: the support, and the zeros that violate the
/// optimality conditions, found by one full gradient.

#include <functional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "core/solver.h"
#include "solvers/shared/proximal/iterate.h"

namespace proxbench::prox_newton {

/// Whether a full gradient costs much more than an inference.
bool full_gradients_are_costly(const Objective& objective);

/// Selects coordinates from a full gradient and keeps those that enter the working set. kkt_max and kkt_l1
/// are over all candidate coordinates.
class Entering {
 public:
  /// Starts a solve. If the solve continues a path, its first selection omits coordinates that are about to
  /// leave the violators.
  void begin(const SolveProblem& problem);

  /// Selects the worst violators, for an epoch of quasi-Newton iterations. `known` has facts about w, or is
  /// null. `blocks_pay`: whether blocks pay on a working set.
  void select(proximal::Iterate& at, const SparseVector& w, const KnownStart* known,
              const std::function<bool(std::span<const Coord>)>& blocks_pay, Objective::Selection& selection);

 private:
  /// The known part of the gradient at the start of the last solve of a path, which is the optimum at
  /// `lambda`.
  struct Start {
    double lambda = 0.0;
    std::vector<Coord> index;
    std::vector<double> gradient;
  };
  void drop_leaving(Objective::Selection& selection) const;

  Start last_;
  double lambda_ = 0.0, lambda_before_ = 0.0;  ///< lambda of this solve, and of the previous one
};

}  // namespace proxbench::prox_newton
