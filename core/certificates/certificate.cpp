#include "core/certificates/dual.h"

namespace proxbench {

double kkt_of(const Objective& objective, const Objective::Selection& found) {
  return objective.loss().hinge() && found.kkt_max != 0.0 ? kNaN : found.kkt_max;
}

double kkt_at_zero(Objective& objective) {
  Residual residual = objective.make_residual();
  objective.infer({objective.make_scores()}, &residual);
  Objective::Selection found;
  objective.select_gradient(residual, {}, kInfinity, found);
  return kkt_of(objective, found);
}

Certificate certify(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  return bound_at(objective, w, scores, residual);
}

}  // namespace proxbench
