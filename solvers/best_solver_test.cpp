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
