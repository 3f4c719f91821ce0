#pragma once
/// The registry of all solvers: first the built-in ones, then the solvers of plug-ins.

#include "core/base/registry.h"
#include "core/solver.h"

namespace proxbench {

/// The registry. A built-in solver takes one line in solvers.cpp.
const Registry<SolverInfo>& solver_registry();
/// Adds a solver from outside. Throws Error (kUsage) if the name is taken.
void add_solver(SolverInfo info);
/// Replaces a solver that was added. No run may use it.
void replace_solver(SolverInfo info);

SolverInfo prox_newton_info();
SolverInfo prox_qn_info();
SolverInfo owl_qn_info();
SolverInfo liblbfgs_owlqn_info();
SolverInfo lbfgs_info();
SolverInfo liblbfgs_info();
SolverInfo newton_cg_info();
SolverInfo lbfgs_b_info();
SolverInfo prox_gd_info();
SolverInfo prox_gd_acc_info();
SolverInfo sgd_info();
SolverInfo bcd_info();
SolverInfo sdca_info();
SolverInfo oeg_info();
SolverInfo sag_nus_info();
SolverInfo gdmm_info();
SolverInfo bcfw_info();
SolverInfo ssnal_info();
SolverInfo ssg_info();

}  // namespace proxbench
