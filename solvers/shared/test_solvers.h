#pragma once
/// Runs of the registered solvers, by name. For tests.

#include <gtest/gtest.h>

#include <string>

#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench::test {

inline Outcome run(const std::string& solver, const Problem& problem, const Conditions& setup = {}) {
  return run(solver_registry().find(solver), problem, setup);
}

/// F at the optimum, from a solver that shows its kkt.
inline double optimum(const Problem& problem) {
  const Outcome r = run("prox-gd-acc", problem, {.tol = 1e-9});
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  return r.certificate.objective;
}

}  // namespace proxbench::test
