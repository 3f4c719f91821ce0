#pragma once
/// The current point of a solve and the step from it. Proximal quasi-Newton makes nearly all its calls of the
/// objective here. Scores are linear in w, so a line search maps the direction once and each trial costs one
/// inference.

#include <optional>
#include <span>
#include <vector>

#include "core/base/stop_token.h"
#include "core/known_start.h"
#include "core/quasi_newton/line_search.h"
#include "core/solver.h"
#include "solvers/shared/proximal/copies.h"
#include "solvers/shared/proximal/working_set.h"

namespace proxbench::proximal {

/// What the solves of a sequence share: the state at w, the state at a trial point, and the copies of
/// features, once a solve has begun. `trial` holds the scores of the direction.
struct Buffers {
  SmoothState at_w, trial;
  std::optional<Copies> copies;
};

/// A completed step on the working set. Its spans are valid until the next step.
struct Step {
  double alpha;
  std::span<const double> d;       ///< alpha times the direction
  std::span<const double> change;  ///< change of the gradient
  const Residual &before, &after;
};

class Iterate {
 public:
  /// Allocates the buffers if they are empty. Borrows the objective and the buffers. Long work gives up if
  /// `stop` is requested.
  Iterate(Objective& objective, Buffers& buffers, StopToken stop);

  /// Begins a solve at w, on the clock. If `known` is not null, takes over the state at w from it.
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
  /// Selects from the full gradient at w: the support, and all coordinates with |g_j| > `from`. Then folds
  /// copies (copies.h). Uses the selection in `known` if `known` is not null and has all coordinates above
  /// `from` and lambda.
  void select(const SparseVector& w, double from, const KnownStart* known, Objective::Selection& selection);
  /// Makes the selection the working set.
  void take(Objective::Selection& selection);
  /// Writes the nonzeros of w, those of all copies, to `out` and returns it. Leaves `out` unchanged if no
  /// working set has been chosen.
  const SparseVector& collect(SparseVector& out) const;
  /// Floating-point operations of one inference.
  double inference_flops() const { return objective.inference_flops(scores().columns, true); }

  /// Maps d onto scores, so that each point along it costs one inference.
  void map_direction();
  /// Multiplies d and its mapped scores by a factor. The next search need not map it again.
  void scale_direction(double factor);
  /// Returns l at w + alpha*d. `with_residual`: also finds the residual at this point.
  double loss_along(double alpha, bool with_residual);
  /// Armijo's search along d. `slope` is the predicted change of F. `with_residual`: the trials also find the
  /// residual.
  ArmijoResult search(double slope, const ArmijoOptions& options, bool with_residual);
  /// Hands the state at w to the caller who passed `known`.
  void leave(KnownStart& known);
  /// Moves to the point that the search found, and updates the gradient on the working set.
  Step move(const ArmijoResult& found, bool has_residual);

 private:
  double penalty(double alpha);

  Buffers& buffers_;
  std::vector<double> trial_, change_;
  bool mapped_ = false;  ///< whether the next search finds d mapped
};

}  // namespace proxbench::proximal
