#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::run;

TEST(LbfgsB, ReachesTheOptimumOfOwlQnAndProxQn) {
  for (const test::ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const Outcome found = run("lbfgs-b", problem, {.tol = 1e-8}),
                  proof = run("prox-newton", problem, {.tol = 1e-11});
    const double f = found.certificate.objective;
    // A bound on min F holds whichever point it comes from. One from lbfgs-b's own point is only as good as
    // its kkt.
    EXPECT_LE(f - proof.certificate.dual, 1e-8 * f);
    EXPECT_GE(f - proof.certificate.dual, -1e-12 * f);
    EXPECT_NEAR(f, run("owl-qn", problem, {.tol = 1e-8}).certificate.objective, 1e-8 * f);
  }
}

TEST(LbfgsB, StatesTheMemoryOfItsVariables) {
  const Problem problem(test::problem_specs()[0]);
  const double d = static_cast<double>(problem.objective().dimension()), m = 7, n = 2 * d;
  const Outcome r = run("lbfgs-b", problem, {.options = {{"memory", "7"}}});
  // The arrays wa of lbfgsb.f, x, g and the bounds, then iwa and nbd.
  EXPECT_EQ(r.result.notes.at("work_array_bytes"),
            8 * (2 * m * n + 5 * n + 11 * m * m + 8 * m + 3 * n) + 4 * (3 * n + n));
}

TEST(LbfgsB, RefusesWhatDoesNotFitBeforeItBegins) {
  const Problem problem(test::problem_specs()[0]);
  try {
    run("lbfgs-b", problem, {.options = {{"memory_limit", "1e-6"}}});
    FAIL() << "1 kB is not enough";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex(
                                  "lbfgs-b: found d = 96, whose 192 variables with memory = 5 take [^ ]+ GB, "
                                  "expected at most memory_limit = 1e-06 GB"));
  }
}

}  // namespace
}  // namespace proxbench
