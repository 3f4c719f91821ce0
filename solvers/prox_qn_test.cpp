#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::expect_certified_optimum;
using test::kkt_at_zero;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;

/// With the paper's choices and with others, it finds the optimum of a method that shares none of them.
TEST(ProxQn, MeetsTheOptimumWithEveryChoice) {
  const std::vector<std::map<std::string, std::string>> choices = {
      {}, {{"shrinking", "false"}}, {{"memory", "3"}}, {{"max_inner", "1"}}, {{"epoch_margin", "0"}}};
  for (const ProblemSpec& spec : test::problem_specs()) {
    if (spec.collinear) continue;  // slow in the last digits with every choice
    const Problem problem(spec);
    const double best = run("prox-newton", problem, {.tol = 1e-8}).certificate.objective;
    for (const auto& options : choices) {
      const Outcome found =
          run("prox-qn", problem, {.tol = 1e-6, .monitor = {.max_iterations = 2000}, .options = options});
      EXPECT_NEAR(found.certificate.objective, best, 1e-7 * best)
          << spec.name << (options.empty() ? "" : " with " + options.begin()->first);
    }
  }
}

/// Algorithm 2, line 20: the number of passes is the ratio of all coordinates to those in A, at most
/// max_inner.
TEST(ProxQn, MakesFewPassesOverALargeWorkingSet) {
  const Problem problem(test::large_spec());
  const auto passes = [&](const char* max_inner) {
    const Outcome r = run("prox-qn", problem,
                          {.tol = 0.0,
                           .monitor = {.max_iterations = 12},
                           .options = {{"shrinking", "false"}, {"max_inner", max_inner}}});
    return r.result.notes.at("inner_passes");
  };
  EXPECT_EQ(passes("1"), 12.0);
  EXPECT_EQ(passes("10"), 12.0) << "all coordinates are in A";
}

TEST(ProxQn, ReachesACertifiedOptimumWithAnL2Penalty) {
  for (const ProblemSpec& spec : test::l2_specs()) {
    SCOPED_TRACE(spec.name + ", lambda = " + std::to_string(spec.lambda));
    const Problem problem(spec);
    expect_certified_optimum(problem, run("prox-qn", problem, {.tol = 1e-8}));
  }
}

TEST(ProxQn, GivesTheSameBitsForAnyThreads) {
  for (const ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    const Problem problem(spec);
    const auto weights = [&](const Parallel& parallel) {
      return run("prox-qn", problem, {.parallel = parallel, .monitor = {.max_iterations = 40}}).result.w.value;
    };
    const auto one = weights(Parallel(1));
    EXPECT_EQ(one, weights(Parallel(3))) << spec.name;
    EXPECT_EQ(one, weights(Parallel(2, Backend::kTBB))) << spec.name;
  }
}

}  // namespace
}  // namespace proxbench
