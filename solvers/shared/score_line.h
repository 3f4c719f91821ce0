#pragma once
/// A smooth objective (lambda = 0) along w + alpha*p. Scores are linear in w, so the direction is mapped once
/// and each trial costs one inference at S + alpha*S_p.

#include <span>

#include "core/curvature.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/strong_wolfe.h"

namespace proxbench::dense {

class ScoreLine {
 public:
  /// Allocates the buffers of a direction and of a trial. Borrows the objective.
  explicit ScoreLine(Objective& objective);
  /// Maps the direction p. `gradient` is the one at `from`, whose residual and loss must be up to date.
  /// Borrows all arguments until move(). Leaves the nonzeros of the direction in those of `from`.
  void open(Point& from, std::span<const double> gradient, std::span<const double> direction);
  /// F and its slope at alpha = 0.
  LineValue start() const { return {from_->smooth, slope_}; }
  /// Returns F at alpha. One inference finds it with the residual, and with the curvature if `curvature` is
  /// not null.
  double value(double alpha, Curvature* curvature = nullptr);
  /// Returns F and its slope at alpha.
  LineValue at(double alpha);
  /// Moves `point`, the one given to open(), to the last trial: w, nonzeros, scores, residual, loss and F.
  /// Writes the change of w into `change`, which may be the direction.
  void move(Point& point, std::span<double> change);

 private:
  Objective& objective_;
  const Point* from_ = nullptr;
  std::span<const double> direction_;
  Scores scores_;      ///< of the direction
  Residual residual_;  ///< at the last trial
  double slope_ = 0.0, w_dot_p_ = 0.0, p_dot_p_ = 0.0;
  double alpha_ = 0.0, loss_ = 0.0;  ///< at the last trial
};

}  // namespace proxbench::dense
