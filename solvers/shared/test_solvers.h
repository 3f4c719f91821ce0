#pragma once
/// Runs of the registered solvers, by name. For tests.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench::test {

inline Outcome run(const std::string& solver, const Problem& problem, const Conditions& setup = {}) {
  return run(solver_registry().find(solver), problem, setup);
}

/// The problem with a penalty that the solver can do with.
inline Problem problem_for(const std::string& solver, const ProblemSpec& spec) {
  return Problem(suited(spec, solver_registry().find(solver).needs));
}

/// F at the optimum, from a solver that shows its kkt.
inline double optimum(const Problem& problem) {
  const Outcome r = run("prox-gd-acc", problem, {.tol = 1e-9});
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  return r.certificate.objective;
}

/// The small problems with an l2 penalty, alone and beside the l1 penalty.
inline std::vector<ProblemSpec> l2_specs() {
  std::vector<ProblemSpec> out;
  for (ProblemSpec spec : problem_specs()) {
    if (spec.mu == 0.0) spec.mu = 0.1;
    out.push_back(spec);
    spec.lambda = 0.0;
    out.push_back(spec);
  }
  return out;
}

/// F is within 1e-9 of its minimum, proven; so any two that pass differ by no more. With lambda = 0, kkt is
/// the largest entry of the gradient.
inline void expect_certified_optimum(const Problem& problem, const Outcome& r) {
  EXPECT_TRUE(r.result.status == Status::kConverged || r.result.status == Status::kStalled)
      << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  EXPECT_LE(r.certificate.relative_gap(), 1e-9);
  EXPECT_GE(r.certificate.relative_gap(), -1e-12);
}

}  // namespace proxbench::test
