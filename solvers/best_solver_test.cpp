#include "solvers/best_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(BestSolver, DependsOnThePenaltyTheLossAndTheOracle) {
  EXPECT_EQ(best_solver({1.0, 0.0}, Loss::Kind::kLog), kBestForL1);
  EXPECT_EQ(best_solver({1.0, 1.0}, Loss::Kind::kLog), kBestForL1);
  EXPECT_EQ(best_solver({0.0, 1.0}, Loss::Kind::kLog), "lbfgs");
  EXPECT_EQ(best_solver({0.0, 1.0}, Loss::Kind::kHinge), "bcfw");
  EXPECT_EQ(best_solver({0.0, 1.0}, Loss::Kind::kHinge, &oracle_registry().find("chain")), "bcfw");
  EXPECT_EQ(best_solver({0.0, 1.0}, Loss::Kind::kHinge, &oracle_registry().find("labels")), "gdmm");
}

/// Instances of one position each, where each feature occurs so many times and has this value.
Dataset dataset(Index instances, Index occurrences, double value = 1.0, std::size_t outputs = 3) {
  DesignMatrix::Builder builder;
  Dataset out;
  Vocabulary names;
  names.outputs.resize(outputs);
  out.vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  for (Index i = 0; i < instances; ++i) {
    builder.add(i / occurrences, value);
    builder.end_position();
    out.begin.push_back(i + 1);
  }
  out.x = std::move(builder).build((instances + occurrences - 1) / occurrences);
  return out;
}

TEST(BestSolver, TakesDualStepsWhereFeaturesAreRareAndTheConditionIsGood) {
  const Dataset rare = dataset(120, 4), frequent = dataset(120, 60), scaled = dataset(120, 4, 1024.0);
  const OracleInfo& chain = oracle_registry().find("chain");
  const auto best = [&](const Penalty& penalty, const Dataset& data) {
    return best_solver(penalty, Loss::Kind::kLog, &chain, &data);
  };
  EXPECT_EQ(best({0.0, 1.0}, rare), "oeg");
  EXPECT_EQ(best({0.0, 1.0}, frequent), "lbfgs");
  EXPECT_EQ(best({0.0, 1e-3}, rare), "lbfgs");
  EXPECT_EQ(best({0.0, 1.0}, scaled), "lbfgs");
  EXPECT_EQ(best({0.0, 1024.0 * 1024.0}, scaled), "oeg");
  EXPECT_EQ(best({1.0, 1.0}, rare), kBestForL1);
  for (const OracleInfo& oracle : oracle_registry().items()) {
    const auto fitting = fitting_solvers({0.0, 1.0}, Loss::Kind::kLog, oracle);
    if (fitting.empty()) continue;
    EXPECT_THAT(fitting, Contains(best_solver({0.0, 1.0}, Loss::Kind::kLog, &oracle, &rare))) << oracle.name;
  }
}

TEST(BestSolver, TakesNewtonStepsForTheHingeLossWhereWeightsAreFewBesideTheData) {
  const OracleInfo &chain = oracle_registry().find("chain"), &labels = oracle_registry().find("labels");
  const Dataset dense = dataset(12000, 120), rare = dataset(12000, 60), wide = dataset(72000, 120);
  const auto best = [&](const OracleInfo& oracle, const Dataset& data, double mu = 1e-3) {
    return best_solver({0.0, mu}, Loss::Kind::kHinge, &oracle, &data);
  };
  EXPECT_EQ(best(chain, dense), "ssnal");
  EXPECT_EQ(best(chain, rare), "bcfw");
  EXPECT_EQ(best(chain, wide), "bcfw");        // 600 features
  EXPECT_EQ(best(chain, dense, 1.0), "bcfw");  // L/(mu n) = 8e-5
  EXPECT_EQ(best(labels, dense), "gdmm");
}

/// With 15 million weights, L-BFGS would need over 4 GB. L/(mu n) is 0.8 for mu = 0.01, 83 for 1e-4, and
/// 8,333 for 1e-6.
TEST(BestSolver, TakesDualStepsAtWorseConditionsWhereLbfgsNeedsMuchMemory) {
  const Dataset small = dataset(120, 4), large = dataset(120, 4, 1.0, 500000);
  const OracleInfo& chain = oracle_registry().find("chain");
  const auto best = [&](double mu, const Dataset& data) {
    return best_solver({0.0, mu}, Loss::Kind::kLog, &chain, &data);
  };
  EXPECT_EQ(best(1e-2, small), "oeg");
  EXPECT_EQ(best(1e-2, large), "oeg");
  EXPECT_EQ(best(1e-4, small), "lbfgs");
  EXPECT_EQ(best(1e-4, large), "oeg");
  EXPECT_EQ(best(1e-6, large), "lbfgs");
}

TEST(BestSolver, TakesNewtonStepsForTwoLabelsSideBySide) {
  const Dataset two = dataset(120, 60, 1.0, 2), three = dataset(120, 60);
  const auto best = [](const char* oracle, const Dataset& data) {
    return best_solver({0.0, 1.0}, Loss::Kind::kLog, &oracle_registry().find(oracle), &data);
  };
  EXPECT_EQ(best("tree", two), "newton-cg");
  EXPECT_EQ(best("tree", three), "lbfgs");
  Dataset sequences = two;
  sequences.begin = {0, 60, 120};
  EXPECT_EQ(best("chain", sequences), "lbfgs");
  EXPECT_EQ(best("chain", two), "newton-cg") << "instances of one position";
}

TEST(BestSolver, FitsWhereAnyDoes) {
  for (const OracleInfo& oracle : oracle_registry().items())
    for (const Penalty penalty : {Penalty{1.0, 0.0}, Penalty{0.0, 1.0}, Penalty{1.0, 1.0}})
      for (const Loss::Kind loss : {Loss::Kind::kLog, Loss::Kind::kHinge}) {
        const auto fitting = fitting_solvers(penalty, loss, oracle);
        if (fitting.empty()) continue;
        EXPECT_THAT(fitting, Contains(best_solver(penalty, loss, &oracle))) << oracle.name;
      }
}

TEST(FittingSolvers, AreThoseThatCanMinimiseTheObjective) {
  EXPECT_THAT(fitting_solvers({0.0, 1.0}, Loss::Kind::kHinge, oracle_registry().find("labels")),
              ElementsAre("gdmm"));
  EXPECT_THAT(fitting_solvers({1.0, 1.0}, Loss::Kind::kHinge, oracle_registry().find("chain")), IsEmpty());
}

}  // namespace
}  // namespace proxbench
