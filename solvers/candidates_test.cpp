/// Tests the solvers that use beliefs or derivatives on groups of candidates, where a position of the gold
/// structure may have no output.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::ProblemSpec;

/// The optimum is certified by the gap of the objective, which uses only the oracle's log-partition.
void expect_optimum(const std::string& solver, const std::map<std::string, std::string>& options) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    if (!spec.candidates) continue;
    SCOPED_TRACE(spec.name);
    const Problem problem = test::problem_for(solver, spec);
    const Outcome r = test::run(solver, problem, {.tol = 1e-7, .options = options});
    EXPECT_EQ(r.result.status, Status::kConverged);
    EXPECT_LE(r.certificate.relative_gap(), 1e-9);
    EXPECT_GE(r.certificate.relative_gap(), -1e-12);
  }
}

TEST(Candidates, NewtonCgSolvesThem) {
  expect_optimum("newton-cg", {});
}
TEST(Candidates, OegSolvesThem) {
  expect_optimum("oeg", {});
}
TEST(Candidates, SdcaSolvesThemByEachSampling) {
  for (const char* sampling : {"uniform", "importance", "gap", "gap-importance", "max"}) {
    SCOPED_TRACE(sampling);
    expect_optimum("sdca", {{"sampling", sampling}});
  }
}
TEST(Candidates, SdcaSolvesThemFromEachStart) {
  for (const char* start : {"uniform", "gold"}) {
    SCOPED_TRACE(start);
    expect_optimum("sdca", {{"start", start}});
  }
}

}  // namespace
}  // namespace proxbench
