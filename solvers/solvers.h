#pragma once
/// All built-in solvers.

#include "core/registry.h"
#include "core/solver.h"

namespace proxbench {

/// One line a solver in solvers.cpp.
const Registry<SolverInfo>& solver_registry();

SolverInfo prox_qn_info();
SolverInfo owl_qn_info();
SolverInfo liblbfgs_owlqn_info();
SolverInfo prox_gd_info();
SolverInfo prox_gd_acc_info();
SolverInfo sgd_info();
SolverInfo bcd_info();

}  // namespace proxbench
