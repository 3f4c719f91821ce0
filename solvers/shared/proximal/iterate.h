#pragma once
/// Where the solve is, and the step along which it goes on: nearly all that proximal quasi-Newton asks of the objective.
/// Scores are linear in w: a line search maps the direction once, and each trial costs one inference.

#include <span>
#include <vector>

#include "core/base/stop_token.h"
#include "core/objective.h"
#include "core/quasi_newton/line_search.h"
#include "core/solver.h"
#include "solvers/shared/proximal/working_set.h"

namespace proxbench::proximal {

/// At w; and at a trial point, whose scores are those of the direction.
struct Buffers {
  SmoothState at_w, trial;
};

/// A step that was taken, on the working set. Valid until the next one.
struct Step {
  double alpha;
  std::span<const double> d;       ///< alpha times the direction
  std::span<const double> change;  ///< of the gradient
  const Residual &before, &after;
};

class Iterate {
 public:
  /// Makes buffers where they are empty. Borrows both. Long work gives up where the token asks to stop.
  Iterate(Objective& objective, Buffers& buffers, StopToken stop);

  /// At the start of a solve, from what is known of it (null: nothing), which is taken over.
  void open(const SparseVector& w, KnownStart* known);

  Objective& objective;
  StopToken stop;
  WorkingSet set;
  std::vector<double> d;  ///< the direction, on the working set
  double value = 0.0;     ///< F

  double lambda() const { return objective.lambda(); }
  const Parallel& parallel() const { return objective.parallel(); }
  const Scores& scores() const { return buffers_.at_w.scores; }
  const Residual& residual() const { return buffers_.at_w.residual; }
  double loss() const { return buffers_.at_w.loss; }
  /// A full gradient at w: the support, and all coordinates with |g_j| > `from`. From what is `known` of w, where
  /// that is enough (null: nothing).
  void select(const SparseVector& w, double from, const KnownStart* known, Objective::Selection& selection);
  /// Floating-point operations of one inference.
  double inference_flops() const { return objective.inference_flops({scores()}, true); }

  /// Maps d onto scores, so that points along it cost one inference each.
  void map_direction();
  /// l at w + alpha*d. `with_residual`: finds the residual there, too.
  double loss_along(double alpha, bool with_residual);
  /// Armijo's search along d, `slope` its predicted change of F. `with_residual`: its trials find the
  /// residual too.
  ArmijoResult search(double slope, const ArmijoOptions& options, bool with_residual);
  /// What is known of w, for whoever asked with a KnownStart.
  void leave(KnownStart& known);
  /// Goes to where the search ended, with the gradient on the working set.
  Step move(const ArmijoResult& found, bool has_residual);

 private:
  double penalty(double alpha);

  Buffers& buffers_;
  std::vector<double> trial_, change_;
};

}  // namespace proxbench::proximal
