#include "solvers/prox_qn/models/scaled_identity.h"

namespace proxbench::prox_qn {

void ScaledIdentity::start_first(Iterate& at) {
  if (settings_.measured_scale) {
    lbfgs_.reset(at.set.size(), 1.0);
    inner_.minimise(lbfgs_, nullptr, at);
    if (at.stop.requested()) return;
    first_gamma_ = at.curvature_along_direction();
  }
  lbfgs_.reset(at.set.size(), first_gamma_);
}

}  // namespace proxbench::prox_qn
