/// Runs whose target rounding forbids end, with every solver.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "experiments/conformance/test_adversarial.h"
#include "experiments/run/training.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Two instances that one feature tells apart: with a tiny penalty F is nearly 0, and mostly rounding.
LoadedData two_rows(const std::string& oracle) {
  test::Draft draft{
      .oracle = oracle, .outputs = 2, .rows = {{1.0}, {-1.0}}, .gold = {0, 1}, .begin = {0, 1, 2}};
  DataPair pair;
  pair.train = draft.dataset();
  pair.oracle = draft.oracle;
  return LoadedData(std::move(pair), Parallel(1));
}

class Ends : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Registry, Ends, testing::ValuesIn(solver_registry().names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// Accelerated proximal gradient still lowers F after 100,000 iterations, and solvers that only come near an
/// optimum end by their limits. All others have stalled by then.
TEST_P(Ends, WhereRoundingForbidsTheGap) {
  const SolverInfo& solver = solver_registry().find(GetParam());
  const LoadedData data = two_rows("chain");
  for (const Penalty penalty : {Penalty{0.0, 1e-16}, Penalty{1e-14, 0.0}, Penalty{1e-14, 1e-16}}) {
    RunParameters settings;
    settings.loss.kind = solver.needs.loss;
    if (!unmet_needs(solver, penalty, settings.loss.kind, oracle_registry().find("chain")).empty()) continue;
    settings.solver = solver.name;
    settings.penalty.lambda = penalty.lambda;
    settings.penalty.mu = penalty.mu;
    settings.tol = 0.0;
    settings.gap_target = 1e-3;
    settings.max_iterations = 100000;
    const RunOutcome outcome = train(data, settings);
    const bool falls =
        (solver.name == "prox-gd-acc" || !solver.exact) && outcome.status == Status::kMaxIterations;
    EXPECT_TRUE(outcome.status == Status::kStalled || outcome.status == Status::kGapReached ||
                outcome.status == Status::kSmallChange || falls)
        << penalty.text() << ": " << status_name(*outcome.status) << " after " << *outcome.iterations;
  }
}

/// The same command gives the same model, whatever the clock shows.
TEST(GapEnds, HaveTheSameBitsAreTheSameAgain) {
  const LoadedData data = two_rows("chain");
  for (const bool sample_kkt : {false, true}) {
    RunParameters settings;
    settings.solver = "owl-qn";
    settings.penalty.lambda = 0.01;
    settings.tol = 0.0;
    settings.gap_target = 1e-4;
    settings.sample_kkt = sample_kkt;
    const RunOutcome first = train(data, settings);
    EXPECT_EQ(first.status, Status::kGapReached);
    for (int again = 0; again < 5; ++again) {
      const RunOutcome other = train(data, settings);
      EXPECT_EQ(other.iterations, first.iterations);
      EXPECT_EQ(other.w.value, first.w.value);
    }
  }
}

}  // namespace
}  // namespace proxbench
