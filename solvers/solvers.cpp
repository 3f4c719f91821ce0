#include "solvers/solvers.h"

namespace proxbench {

const Registry<SolverInfo>& solver_registry() {
  static const Registry<SolverInfo> registry = [] {
    Registry<SolverInfo> r("solver");
    r.add(prox_qn_info());
    r.add(owl_qn_info());
    r.add(liblbfgs_owlqn_info());
    r.add(prox_gd_info());
    r.add(prox_gd_acc_info());
    r.add(sgd_info());
    r.add(bcd_info());
    return r;
  }();
  return registry;
}

}  // namespace proxbench
