#include "solvers/solvers.h"

#include <utility>

namespace proxbench {
namespace {

Registry<SolverInfo>& registry() {
  static Registry<SolverInfo> all = [] {
    Registry<SolverInfo> r("solver");
    r.add(prox_newton_info());
    r.add(prox_qn_info());
    r.add(owl_qn_info());
    r.add(liblbfgs_owlqn_info());
    r.add(lbfgs_info());
    r.add(liblbfgs_info());
    r.add(newton_cg_info());
    r.add(lbfgs_b_info());
    r.add(prox_gd_info());
    r.add(prox_gd_acc_info());
    r.add(sgd_info());
    r.add(bcd_info());
    r.add(sdca_info());
    r.add(oeg_info());
    r.add(sag_nus_info());
    r.add(gdmm_info());
    r.add(bcfw_info());
    r.add(ssg_info());
    return r;
  }();
  return all;
}

}  // namespace

const Registry<SolverInfo>& solver_registry() {
  return registry();
}

void add_solver(SolverInfo info) {
  registry().add(std::move(info));
}

}  // namespace proxbench
