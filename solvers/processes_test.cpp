/// Solvers whose instances are shared among several processes give the same bits as one process.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/sum.h"
#include "core/base/test_process_team.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::ProblemSpec;

/// Problems of a few chunks: chains, documents in a tree and side by side, and candidates, with and without
/// values.
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

/// Compares a run on one process with runs on several.
void expect_same_bits(const SolverInfo& solver, const std::map<std::string, std::string>& options = {},
                      const std::vector<ProblemSpec>& specs = shared_specs(), int max_iterations = 30) {
  for (ProblemSpec spec : specs) {
    if (solver.needs.smooth) {
      spec.lambda = 0.0;
      spec.mu = 1.0;
    }
    SCOPED_TRACE(solver.name + " on " + spec.name);
    const test::Conditions setup{
        .tol = 1e-7, .monitor = {.max_iterations = max_iterations}, .options = options};
    const Outcome alone = test::run(solver, Problem(spec), setup);
    for (const int count : {2, 3})
      run_process_team(count, [&](const Processes& processes) {
        Problem problem(spec);
        problem.share(processes);
        test::Conditions shared = setup;
        shared.parallel = Parallel(1, Backend::kOpenMP, &processes);
        const Outcome r = test::run(solver, problem, shared);
        EXPECT_EQ(r.result.iterations, alone.result.iterations) << count << " processes";
        EXPECT_EQ(r.result.w.index, alone.result.w.index) << count << " processes";
        EXPECT_EQ(r.result.w.value, alone.result.w.value) << count << " processes";
        EXPECT_EQ(r.certificate.objective, alone.certificate.objective) << count << " processes";
        EXPECT_EQ(r.certificate.kkt, alone.certificate.kkt) << count << " processes";
        EXPECT_EQ(r.certificate.dual, alone.certificate.dual) << count << " processes";
      });
  }
}

class SharedInstances : public testing::TestWithParam<std::string> {};

TEST_P(SharedInstances, MakeTheSameIterates) {
  expect_same_bits(solver_registry().find(GetParam()));
}
std::vector<std::string> solvers_that_share() {
  std::vector<std::string> out;
  for (const std::string& name : solver_registry().names())
    if (solver_registry().find(name).shares_instances) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(EachSolver, SharedInstances, testing::ValuesIn(solvers_that_share()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(SharedInstance, MakeTheSameIteratesWhereFullGradientsCrossInPieces) {
  const std::vector<ProblemSpec> specs{{.name = "wide chain",
                                        .labels = 26,
                                        .features = 6000,
                                        .sequences = 250,
                                        .density = 0.003,
                                        .lambda = 2.0},
                                       {.name = "wide tree",
                                        .labels = 150,
                                        .features = 1200,
                                        .sequences = 1100,
                                        .density = 0.01,
                                        .lambda = 2.0,
                                        .tree = ProblemSpec::Tree::kNested}};
  for (const ProblemSpec& spec : specs)
    EXPECT_GT(spec.features * padded(spec.labels), LinearMap::kGradientsInPiece) << spec.name;
  for (const char* solver : {"prox-newton", "owl-qn", "lbfgs"})
    expect_same_bits(solver_registry().find(solver), {}, specs, 6);
}

TEST(SharedInstance, AreWholeLeavesOfAboutEqualSize) {
  std::vector<Index> begin{0};
  for (Index i = 0; i < 5000; ++i) begin.push_back(begin.back() + 1 + i % 7);
  for (const int count : {1, 2, 3, 8}) {
    const std::vector<Index> share = shares(begin, count);
    ASSERT_EQ(share.size(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(share.front(), 0u);
    EXPECT_EQ(share.back(), 5000u);
    const std::vector<Index> chunks = instance_chunks(begin);
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
      EXPECT_TRUE(std::ranges::binary_search(chunks, share[r]));
      EXPECT_NEAR(begin[share[r + 1]] - begin[share[r]], begin.back() / static_cast<double>(count),
                  static_cast<double>(begin.back() / kSumLeaves + 2 * kChunkPositions));
    }
  }
  EXPECT_THROW(shares(std::span(begin).first(50), 4), Error);
}

}  // namespace
}  // namespace proxbench
