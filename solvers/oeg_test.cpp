/// Compares online exponentiated gradient with another solver's optima. Checks weak duality and ascent at
/// every step.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::bounded_samples;
using test::dual_of;
using test::every_sample;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;
using test::smooth_optimum;
using test::smooth_specs;

TEST(Oeg, ReachesTheOptimum) {
  for (const ProblemSpec& spec : smooth_specs())
    for (const std::string gold_score : {"auto", "1e-3"}) {
      SCOPED_TRACE(spec.name + ", gold_score " + gold_score);
      const Problem problem(spec);
      const double optimum = smooth_optimum(problem);
      const Outcome r =
          run("oeg", problem,
              {.tol = 1e-6, .monitor = bounded_samples(30000), .options = {{"gold_score", gold_score}}});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_NEAR(r.certificate.objective, optimum, 1e-9 * optimum);
      EXPECT_NEAR(dual_of(r.trace.back()), optimum, 1e-9 * optimum);
      for (std::size_t s = 1; s < r.trace.size(); ++s)
        ASSERT_LE(dual_of(r.trace[s]), optimum * (1 + 1e-11)) << s;
    }
}

TEST(Oeg, RaisesTheDualWithEveryStep) {
  for (const ProblemSpec& spec : smooth_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const auto instances = static_cast<int>(problem.oracle().instances());
    const Outcome r = run("oeg", problem,
                          {.tol = 1e-12,
                           .monitor = every_sample(4 * instances),
                           .options = {{"reports", std::to_string(instances)}}});
    ASSERT_EQ(r.iterations, 4 * instances);
    for (std::size_t s = 2; s < r.trace.size(); ++s)
      ASSERT_GE(dual_of(r.trace[s]), dual_of(r.trace[s - 1]) - 1e-12 * std::abs(dual_of(r.trace[s]))) << s;
    EXPECT_GT(dual_of(r.trace.back()), dual_of(r.trace[1]));
    EXPECT_NEAR(r.trace.back().updates, 4.0, 1e-9);
  }
}

TEST(Oeg, BeginsNearTheModelThatItStartsFrom) {
  for (const ProblemSpec& spec : smooth_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const Outcome best = run("prox-newton", problem, {.tol = 1e-8});
    const double optimum = best.certificate.objective;
    const Outcome r = run(
        "oeg", problem,
        {.tol = 1e-12, .monitor = every_sample(1), .options = {{"reports", "1000"}}, .start = best.result.w});
    EXPECT_NEAR(r.trace[0].objective, optimum, 1e-9 * optimum);
    EXPECT_NEAR(r.trace[1].objective, optimum, 1e-7 * optimum);
    EXPECT_NEAR(dual_of(r.trace[1]), optimum, 1e-7 * optimum);
  }
}

}  // namespace
}  // namespace proxbench
