#pragma once
/// Which coordinates the working set of an epoch begins with: the support, and zeros that violate the
/// optimality conditions or nearly do. At each epoch's start one full gradient says which these are.

#include <vector>

#include "core/objective.h"
#include "core/solver.h"
#include "solvers/prox_qn/iterate.h"
#include "solvers/prox_qn/screening.h"
#include "solvers/prox_qn/settings.h"

namespace proxbench::prox_qn {

/// Whether a full gradient costs much more than an inference.
bool full_gradients_are_dear(const Objective& objective);

/// What a path knows of the gradient: as far as it was known where the last solve began, and both lambdas.
struct LastStart {
  double lambda = 0.0;
  std::vector<Coord> index;
  std::vector<double> gradient;
};

class Entering {
 public:
  Entering(const Settings& settings, bool dear) : settings_(settings), dear_(dear) {}

  /// A full gradient at w into `selection`, cut down to the coordinates that enter; for the exact Hessian
  /// with all that are nearly violators. kkt_max and kkt_l1 are over all coordinates (that are candidates).
  /// `known`: what is known of w, or null. With screening restricts the objective.
  void select(Iterate& at, const SparseVector& w, bool newton, const KnownStart* known,
              Objective::Selection& selection);
  /// Coordinates that screening has proven zero.
  double screened() const { return screening_.dropped(); }

 private:
  double threshold(bool newton, double lambda) const;

  const Settings& settings_;
  bool dear_;
  Screening screening_;
};

/// Leaves in the selection the support and those violators that will still be some at the optimum if the
/// gradient goes on from `last_lambda` to `lambda` as it did in the last solve, from last.lambda to
/// last_lambda.
void keep_foretold_violators(const LastStart& last, double last_lambda, double lambda,
                             Objective::Selection& selection);

/// Leaves in the selection the support, the violators, and of the other zeros those nearest to be some: so
/// many as an exact Hessian has room for.
void keep_nearest(double lambda, Objective::Selection& selection);

}  // namespace proxbench::prox_qn
