#pragma once
/// A smooth objective (lambda = 0) along w + alpha*p. Scores are linear in w: the direction is mapped once,
/// and each trial costs one inference at S + alpha*S_p.

#include <span>
#include <vector>

#include "solvers/shared/dense.h"
#include "solvers/shared/strong_wolfe.h"

namespace proxbench::dense {

class ScoreLine {
 public:
  /// Makes the buffers of a direction and of a trial. Borrows the objective.
  explicit ScoreLine(Objective& objective);
  /// Maps the direction p. `gradient` at `from`, with from.residual and from.loss up to date. All are
  /// borrowed until move().
  void open(const Point& from, std::span<const double> gradient, std::span<const double> direction);
  /// F and its slope at alpha = 0.
  LineValue start() const { return {from_->smooth, slope_}; }
  /// F at alpha: one inference, with the residual, and with the curvature there where it is not null.
  double value(double alpha, Objective::Curvature* curvature = nullptr);
  /// The same, and the slope there.
  LineValue at(double alpha);
  /// Takes `point`, the one given to open(), to the last trial: w, nonzeros, scores, residual, loss and F.
  void move(Point& point);

 private:
  Objective& objective_;
  const Point* from_ = nullptr;
  std::span<const double> direction_;
  Scores scores_;      ///< of the direction
  Residual residual_;  ///< at the last trial
  double slope_ = 0.0, w_dot_p_ = 0.0, p_dot_p_ = 0.0;
  double alpha_ = 0.0, loss_ = 0.0;  ///< of the last trial
};

}  // namespace proxbench::dense
