/// Tests of proximal gradient descent, plain and accelerated.

#include <gtest/gtest.h>

#include <string>

#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::run;

TEST(ProxGdAcc, EveryRestartRuleReachesTheOptimum) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  const double expected = run("owl-qn", problem, {.tol = 1e-7}).certificate.objective;
  for (const std::string rule : {"gradient", "function", "none"}) {
    SCOPED_TRACE(rule);
    const Outcome r = run("prox-gd-acc", problem, {.options = {{"restart", rule}}});
    EXPECT_EQ(r.result.status, Status::kConverged);
    EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    EXPECT_NEAR(r.certificate.objective, expected, 1e-8 * expected);
  }
}

TEST(ProxGdAcc, NeedsFarFewerIterationsThanWithoutMomentum) {
  const Problem problem({.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21});
  EXPECT_LT(3 * run("prox-gd-acc", problem).iterations, run("prox-gd", problem).iterations);
}

TEST(ProximalGradient, FirstEstimateOfTheLipschitzConstantDoesNotMatter) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  for (const std::string solver : {"prox-gd", "prox-gd-acc"})
    for (const std::string estimate : {"1e-6", "1e6"}) {
      SCOPED_TRACE(solver + " " + estimate);
      const Outcome r = run(solver, problem, {.options = {{"lipschitz", estimate}}});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    }
}

}  // namespace
}  // namespace proxbench
