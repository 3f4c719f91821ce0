#include "core/certificates/certificate.h"

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
  return certificate_of(objective, w, bound_at(objective, w, scores, residual));
}

Certificate certificate_of(const Objective& objective, const SparseVector& w, const PointBound& found) {
  return {.objective = found.objective,
          .loss = found.loss,
          .l1 = l1_norm(w.value),
          .kkt = kkt_of(objective, found.selection),
          .dual = found.bound.value,
          .rounding = found.rounding,
          .kkt_rounding = found.kkt_rounding,
          .nnz = w.nnz()};
}

}  // namespace proxbench
