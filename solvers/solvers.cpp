#include "solvers/solvers.h"

#include <utility>

namespace proxbench {
namespace {

Registry<SolverInfo>& registry() {
  static Registry<SolverInfo> all = [] {
    Registry<SolverInfo> r("solver");
    for (const auto info :
         {prox_newton_info, prox_qn_info, owl_qn_info, liblbfgs_owlqn_info, lbfgs_info, liblbfgs_info,
          newton_cg_info, lbfgs_b_info, prox_gd_info, prox_gd_acc_info, sgd_info, bcd_info, sdca_info,
          oeg_info, sag_nus_info, gdmm_info, bcfw_info, ssnal_info, ssg_info})
      r.add(info());
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

void replace_solver(SolverInfo info) {
  registry().replace(std::move(info));
}

}  // namespace proxbench
