#pragma once
/// Which coordinates a working set begins with: the support, and zeros that violate the optimality conditions or
/// nearly do. One full gradient says which these are.

#include <span>
#include <vector>

#include "core/objective.h"
#include "core/solver.h"
#include "solvers/shared/proximal/iterate.h"

namespace proxbench::prox_newton {

/// Whether a full gradient costs much more than an inference.
bool full_gradients_are_costly(const Objective& objective);

/// Entries of X under the coordinates; none under extra weights.
double entries_of(const Objective& objective, std::span<const Coord> index);

/// Selections of a full gradient, cut down to the coordinates that enter; kkt_max and kkt_l1 are over all
/// coordinates (that are candidates).
class Entering {
 public:
  /// A solve begins. One that goes on along a path leaves out of its first selection what the path is leaving
  /// behind.
  void begin(const SolveProblem& problem);

  /// For an epoch of quasi-Newton iterations: the worst violators. `known`: what is known of w, or null.
  void select(proximal::Iterate& at, const SparseVector& w, const KnownStart* known,
              Objective::Selection& selection);

 private:
  /// What was known of the gradient where the last solve of a path began, at the optimum of this lambda.
  struct Start {
    double lambda = 0.0;
    std::vector<Coord> index;
    std::vector<double> gradient;
  };
  void drop_leaving(Objective::Selection& selection) const;

  Start last_;
  double lambda_ = 0.0, lambda_before_ = 0.0;  ///< of this solve, and of the one before
};

}  // namespace proxbench::prox_newton
