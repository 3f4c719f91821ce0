/// Solvers on instances that several processes share: the same bits as by one.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/process_team.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::ProblemSpec;

/// Problems of a few chunks: chains, documents in a tree and side by side, candidates, with values and
/// without.
std::vector<ProblemSpec> shared_specs() {
  return {
      {.name = "chain",
       .labels = 5,
       .features = 40,
       .sequences = 300,
       .longest = 8,
       .bias = true,
       .lambda = 4.0},
      {.name = "chain with values and both penalties",
       .labels = 3,
       .sequences = 400,
       .real = true,
       .lambda = 3.0,
       .mu = 0.5,
       .seed = 2},
      {.name = "tree",
       .labels = 12,
       .features = 30,
       .sequences = 1100,
       .lambda = 3.0,
       .seed = 3,
       .tree = ProblemSpec::Tree::kNested},
      {.name = "flat tree with values",
       .labels = 4,
       .sequences = 1100,
       .real = true,
       .lambda = 3.0,
       .seed = 4,
       .tree = ProblemSpec::Tree::kFlat},
      {.name = "candidates",
       .labels = 1,
       .features = 30,
       .sequences = 400,
       .longest = 6,
       .real = true,
       .lambda = 1.0,
       .seed = 5,
       .candidates = true},
  };
}

void expect_same_bits(const std::string& solver, const std::map<std::string, std::string>& options = {},
                      bool l1 = true) {
  for (ProblemSpec spec : shared_specs()) {
    if (!l1) {
      spec.lambda = 0.0;
      spec.mu = 1.0;
    }
    SCOPED_TRACE(solver + " on " + spec.name);
    const test::Conditions setup{.tol = 1e-7, .monitor = {.max_iterations = 30}, .options = options};
    const SolverInfo& info = solver_registry().find(solver);
    const Outcome alone = test::run(info, Problem(spec), setup);
    for (const int count : {2, 3})
      run_process_team(count, [&](const Processes& processes) {
        Problem problem(spec);
        problem.share(processes);
        test::Conditions shared = setup;
        shared.parallel = Parallel(1, Backend::kOpenMP, &processes);
        const Outcome r = test::run(info, problem, shared);
        EXPECT_EQ(r.result.iterations, alone.result.iterations) << count << " processes";
        EXPECT_EQ(r.result.w.index, alone.result.w.index) << count << " processes";
        EXPECT_EQ(r.result.w.value, alone.result.w.value) << count << " processes";
        EXPECT_EQ(r.certificate.objective, alone.certificate.objective) << count << " processes";
        EXPECT_EQ(r.certificate.kkt, alone.certificate.kkt) << count << " processes";
        EXPECT_EQ(r.certificate.dual, alone.certificate.dual) << count << " processes";
      });
  }
}

TEST(SharedInstances, ProxQnMakesTheSameIterates) {
  expect_same_bits("prox-qn");
  expect_same_bits("prox-qn", {{"preset", "paper"}});
}
TEST(SharedInstances, OwlQnMakesTheSameIterates) {
  expect_same_bits("owl-qn");
  expect_same_bits("liblbfgs-owlqn");
}
TEST(SharedInstances, ProxGdMakesTheSameIterates) {
  expect_same_bits("prox-gd");
  expect_same_bits("prox-gd-acc");
}
TEST(SharedInstances, LbfgsMakesTheSameIterates) {
  expect_same_bits("lbfgs", {}, false);
}
TEST(SharedInstances, NewtonCgMakesTheSameIterates) {
  expect_same_bits("newton-cg", {}, false);
}

}  // namespace
}  // namespace proxbench
