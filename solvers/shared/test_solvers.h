#pragma once
/// Runs of registered solvers by name. For tests.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench::test {

inline Outcome run(const std::string& solver, const Problem& problem, const Conditions& setup = {}) {
  return run(solver_registry().find(solver), problem, setup);
}

/// The problem with a penalty that the solver can handle.
inline Problem problem_for(const std::string& solver, const ProblemSpec& spec) {
  return Problem(suited(spec, solver_registry().find(solver).needs));
}

/// F at the optimum, from a solver that reports its kkt.
inline double optimum(const Problem& problem) {
  const Outcome r = run("prox-gd-acc", problem, {.tol = 1e-9});
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  return r.certificate.objective;
}

/// The small problems with an l2 penalty, once without and once with the l1 penalty.
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

/// Small problems for solvers that handle only the l2 penalty.
inline std::vector<ProblemSpec> smooth_specs() {
  std::vector<ProblemSpec> out;
  for (const double mu : {0.1, 1.0})
    for (ProblemSpec spec :
         {ProblemSpec{
              .name = "chain", .labels = 3, .features = 10, .sequences = 24, .bias = true, .seed = 101},
          ProblemSpec{.name = "chain, real values",
          .labels = 4,
          .features = 8,
          .sequences = 16,
          .real = true,
          .seed = 102},
          ProblemSpec{
              .name = "sequences of length 1", .features = 10, .sequences = 24, .longest = 1, .seed = 103},
          ProblemSpec{.name = "tree",
          .labels = 10,
          .features = 10,
          .sequences = 40,
          .seed = 104,
          .tree = ProblemSpec::Tree::kNested},
          ProblemSpec{.name = "binary",
          .labels = 2,
          .features = 10,
          .sequences = 40,
          .seed = 105,
          .tree = ProblemSpec::Tree::kFlat}}) {
      spec.name += ", mu = " + std::to_string(mu);
      spec.lambda = 0.0;
      spec.mu = mu;
      out.push_back(spec);
    }
  return out;
}

/// F at the optimum, exact to about 1e-12 of it. The solver shares no step with those that visit one instance
/// at a time.
inline double smooth_optimum(const Problem& problem) {
  const Outcome r = run("prox-newton", problem, {.tol = 1e-11});
  EXPECT_LE(r.certificate.relative_gap(), 1e-11);
  return r.certificate.objective;
}

/// The value of the solver's own dual point in a sample.
inline double dual_of(const Sample& sample) {
  return sample.objective - sample.dual_gap;
}

/// Samples include the lower bound on F.
inline MonitorOptions bounded_samples(std::int64_t iterations) {
  return {.max_iterations = iterations, .sample_kkt = true};
}
/// The same, with a sample after every iteration.
inline MonitorOptions every_sample(std::int64_t iterations) {
  return {.max_iterations = iterations, .dense_samples = 1000000000, .sample_kkt = true};
}

/// Expects a proof that F is within 1e-9 of its minimum. Two solvers that pass thus differ by no more than
/// that. With lambda = 0, kkt is the largest entry of the gradient.
inline void expect_certified_optimum(const Problem& problem, const Outcome& r) {
  EXPECT_TRUE(r.result.status == Status::kConverged || r.result.status == Status::kStalled)
      << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  EXPECT_LE(r.certificate.relative_gap(), 1e-9);
  EXPECT_GE(r.certificate.relative_gap(), -1e-12);
}

}  // namespace proxbench::test
