/// Solvers whose instances are shared among several processes: all processes hold the same bits, which are
/// those of one process within rounding.

#include <gtest/gtest.h>

#include <algorithm>
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
/// values. With a whole lambda, gradients of counts may equal it but for rounding, which then decides.
std::vector<ProblemSpec> shared_specs() {
  return {
      {.name = "chain",
       .labels = 5,
       .features = 40,
       .sequences = 300,
       .longest = 8,
       .bias = true,
       .lambda = 4.07},
      {.name = "chain with values and both penalties",
       .labels = 3,
       .sequences = 400,
       .real = true,
       .lambda = 3.07,
       .mu = 0.5,
       .seed = 2},
      {.name = "tree",
       .labels = 12,
       .features = 30,
       .sequences = 1100,
       .lambda = 3.07,
       .seed = 3,
       .tree = ProblemSpec::Tree::kNested},
      {.name = "flat tree with values",
       .labels = 4,
       .sequences = 1100,
       .real = true,
       .lambda = 3.07,
       .seed = 4,
       .tree = ProblemSpec::Tree::kFlat},
      {.name = "candidates",
       .labels = 1,
       .features = 30,
       .sequences = 400,
       .longest = 6,
       .real = true,
       .lambda = 1.07,
       .seed = 5,
       .candidates = true},
  };
}

/// Compares a run on one process with runs on several.
void expect_same_within_rounding(const SolverInfo& solver,
                                 const std::vector<ProblemSpec>& specs = shared_specs(),
                                 int max_iterations = 60) {
  for (ProblemSpec spec : specs) {
    if (solver.needs.smooth) {
      spec.lambda = 0.0;
      spec.mu = 1.0;
    }
    SCOPED_TRACE(solver.name + " on " + spec.name);
    const test::Conditions setup{.tol = 1e-7, .monitor = {.max_iterations = max_iterations}};
    const Outcome alone = test::run(solver, Problem(spec), setup);
    for (const int count : {2, 3, 4})
      run_process_team(count, [&](const Processes& processes) {
        SCOPED_TRACE(spec.name + ", " + std::to_string(count) + " processes");
        Problem problem(spec);
        problem.share(processes);
        test::Conditions shared = setup;
        shared.parallel = Parallel(1, Backend::kOpenMP, &processes);
        const Outcome r = test::run(solver, problem, shared);
        const auto& [certificate, once] = std::pair(r.certificate, alone.certificate);
        // Iterates differ by more than their limit.
        const double within = alone.result.status == Status::kConverged ? 1e-12 : 1e-10;
        EXPECT_NEAR(certificate.objective, once.objective, within * once.objective)
            << r.iterations << " and " << alone.iterations << " iterations";
        EXPECT_LE(certificate.dual, once.objective + once.rounding);
        EXPECT_LE(once.dual, certificate.objective + certificate.rounding);
        EXPECT_EQ(r.iterations, agree(&processes, r.iterations));
        EXPECT_EQ(certificate.kkt, agree(&processes, certificate.kkt));
        EXPECT_EQ(certificate.dual, agree(&processes, certificate.dual));
        SparseVector first = r.result.w;
        share(&processes, 0, first.index);
        share(&processes, 0, first.value);
        EXPECT_EQ(r.result.w.index, first.index);
        EXPECT_EQ(r.result.w.value, first.value);
      });
  }
}

class SharedInstances : public testing::TestWithParam<std::string> {};

TEST_P(SharedInstances, MakeTheSameIterates) {
  expect_same_within_rounding(solver_registry().find(GetParam()));
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
                                        .lambda = 2.07},
                                       {.name = "wide tree",
                                        .labels = 150,
                                        .features = 1200,
                                        .sequences = 1100,
                                        .density = 0.01,
                                        .lambda = 2.07,
                                        .tree = ProblemSpec::Tree::kNested}};
  for (const ProblemSpec& spec : specs)
    EXPECT_GT(spec.features * padded(spec.labels), LinearMap::kGradientsInPiece) << spec.name;
  for (const char* solver : {"prox-newton", "owl-qn", "lbfgs"})
    expect_same_within_rounding(solver_registry().find(solver), specs, 6);
}

TEST(SharedInstance, AreOfAboutEqualSize) {
  std::vector<Index> begin{0};
  for (Index i = 0; i < 5000; ++i) begin.push_back(begin.back() + 1 + i % 7);
  for (const int count : {1, 2, 3, 8}) {
    const std::vector<Index> share = shares(begin, count);
    ASSERT_EQ(share.size(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(share.front(), 0u);
    EXPECT_EQ(share.back(), 5000u);
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r)
      EXPECT_NEAR(begin[share[r + 1]] - begin[share[r]], begin.back() / static_cast<double>(count), 7.0);
  }
  // One long sequence among short ones: each process gets at least one.
  EXPECT_EQ(shares(std::vector<Index>{0, 1, 2, 1000}, 3), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(shares(std::vector<Index>{0, 1000, 1001, 1002}, 3), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_THROW(shares(std::span(begin).first(4), 4), Error);
}

}  // namespace
}  // namespace proxbench
