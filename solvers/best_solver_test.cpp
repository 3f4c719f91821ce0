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

/// A matrix of these positions in which each feature occurs so many times.
DesignMatrix matrix(Index positions, Index occurrences) {
  DesignMatrix::Builder builder;
  for (Index p = 0; p < positions; ++p) {
    builder.add(p / occurrences, 1.0);
    builder.end_position();
  }
  return std::move(builder).build((positions + occurrences - 1) / occurrences);
}

TEST(BestSolver, TakesDualStepsWhereFeaturesAreRare) {
  const DesignMatrix rare = matrix(120, 4), frequent = matrix(120, 60);
  const OracleInfo& chain = oracle_registry().find("chain");
  EXPECT_EQ(best_solver({0.0, 1.0}, Loss::Kind::kLog, &chain, &rare), "oeg");
  EXPECT_EQ(best_solver({0.0, 1.0}, Loss::Kind::kLog, &chain, &frequent), "lbfgs");
  EXPECT_EQ(best_solver({1.0, 1.0}, Loss::Kind::kLog, &chain, &rare), kBestForL1);
  for (const OracleInfo& oracle : oracle_registry().items())
    if (const auto fitting = fitting_solvers({0.0, 1.0}, Loss::Kind::kLog, oracle); !fitting.empty())
      EXPECT_THAT(fitting, Contains(best_solver({0.0, 1.0}, Loss::Kind::kLog, &oracle, &rare)))
          << oracle.name;
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
