#include "core/quasi_newton/lbfgs.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"

namespace proxbench {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Eigen::Index kDimension = 12;

/// Pairs (s, H s) of a random positive definite H, so that the curvature is positive.
struct Pairs {
  explicit Pairs(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    MatrixXd a(kDimension, kDimension);
    for (double& x : a.reshaped()) x = random.normal();
    hessian = a * a.transpose() + 0.1 * MatrixXd::Identity(kDimension, kDimension);
    for (std::size_t i = 0; i < count; ++i) {
      VectorXd step(kDimension);
      // The steps shrink like those of a converging solver.
      for (double& x : step) x = random.normal() * std::pow(0.1, static_cast<double>(i));
      s.push_back(step);
      y.push_back(hessian * step);
    }
  }
  MatrixXd hessian;
  std::vector<VectorXd> s, y;
};

/// Nocedal and Wright, equation 6.19, from B0 = gamma*I.
MatrixXd dense_bfgs(const std::vector<VectorXd>& s, const std::vector<VectorXd>& y, std::size_t first,
                    double gamma) {
  MatrixXd b = gamma * MatrixXd::Identity(s[0].size(), s[0].size());
  for (std::size_t i = first; i < s.size(); ++i) {
    const VectorXd bs = b * s[i];
    b += y[i] * y[i].transpose() / y[i].dot(s[i]) - bs * bs.transpose() / s[i].dot(bs);
  }
  return b;
}

std::span<const double> view(const VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

MatrixXd as_matrix(const CompactLbfgs& lbfgs) {
  const auto n = static_cast<Eigen::Index>(lbfgs.rows());
  MatrixXd b(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    std::vector<double> unit(lbfgs.rows(), 0.0);
    unit[static_cast<std::size_t>(j)] = 1.0;
    const auto column = lbfgs.multiply(unit);
    b.col(j) = Eigen::Map<const VectorXd>(column.data(), n);
  }
  return b;
}

TEST(CompactLbfgs, IsTheDenseBfgsMatrixOfItsPairs) {
  for (const std::size_t memory : {1u, 3u, 4u, 8u}) {
    const Pairs pairs(7, memory);
    CompactLbfgs lbfgs(memory);
    lbfgs.reset(kDimension, 2.5);
    for (std::size_t used = 1; used <= pairs.s.size(); ++used) {
      ASSERT_TRUE(lbfgs.update(view(pairs.s[used - 1]), view(pairs.y[used - 1])));
      lbfgs.refresh();
      const std::vector<VectorXd> s(pairs.s.begin(), pairs.s.begin() + static_cast<std::ptrdiff_t>(used));
      const std::vector<VectorXd> y(pairs.y.begin(), pairs.y.begin() + static_cast<std::ptrdiff_t>(used));
      const double gamma = s.back().dot(y.back()) / s.back().squaredNorm();
      EXPECT_NEAR(lbfgs.gamma(), gamma, 1e-12 * gamma);
      const MatrixXd expected = dense_bfgs(s, y, used > memory ? used - memory : 0, gamma);
      const MatrixXd actual = as_matrix(lbfgs);
      EXPECT_LT((actual - expected).norm(), 1e-8 * expected.norm())
          << "memory " << memory << ", pairs " << used;
      for (Eigen::Index j = 0; j < kDimension; ++j)
        EXPECT_NEAR(lbfgs.diagonal(static_cast<std::size_t>(j)), expected(j, j), 1e-8 * expected.norm());
    }
  }
}

TEST(CompactLbfgs, ScalesItsStartByTheLastPair) {
  const Pairs pairs(1, 4);
  const std::pair<GammaRule, double> expected[] = {
      {GammaRule::kLastStep, pairs.s[0].dot(pairs.y[0]) / pairs.s[0].squaredNorm()}, {GammaRule::kNone, 1.0}};
  for (const auto& [scaling, gamma] : expected) {
    CompactLbfgs lbfgs(2, scaling);
    lbfgs.reset(kDimension, 1.0);
    lbfgs.update(view(pairs.s[0]), view(pairs.y[0]));
    lbfgs.refresh(Parallel(2));
    EXPECT_NEAR(lbfgs.gamma(), gamma, 1e-12 * gamma);
    const MatrixXd dense = dense_bfgs(pairs.s, pairs.y, 0, gamma);
    EXPECT_LT((as_matrix(lbfgs) - dense).norm(), 1e-10 * dense.norm());
  }
}

TEST(CompactLbfgs, SatisfiesTheSecantEquation) {
  const Pairs pairs(5, 21);
  CompactLbfgs lbfgs(5);
  lbfgs.reset(kDimension, 1.0);
  for (std::size_t i = 0; i < 5; ++i) lbfgs.update(view(pairs.s[i]), view(pairs.y[i]));
  lbfgs.refresh();
  const auto bs = lbfgs.multiply(view(pairs.s[4]));
  for (Eigen::Index j = 0; j < kDimension; ++j)
    EXPECT_NEAR(bs[static_cast<std::size_t>(j)], pairs.y[4][j], 1e-9 * pairs.y[4].norm());
}

TEST(CompactLbfgs, OnAShrunkenSetIsTheSubmatrix) {
  // After the shrinking, s and y of later pairs are zero outside the kept rows (section 2.3).
  const Pairs pairs(3, 5);
  const std::vector<std::uint32_t> kept = {0, 2, 3, 7, 8, 11};
  CompactLbfgs lbfgs(4);
  lbfgs.reset(kDimension, 1.0);
  for (std::size_t i = 0; i < 2; ++i) lbfgs.update(view(pairs.s[i]), view(pairs.y[i]));
  lbfgs.keep_rows(kept);
  ASSERT_EQ(lbfgs.rows(), kept.size());
  VectorXd full = VectorXd::Zero(kDimension), part(static_cast<Eigen::Index>(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i)
    full[kept[i]] = part[static_cast<Eigen::Index>(i)] = pairs.s[2][kept[i]];
  const VectorXd full_y = pairs.hessian * full;
  VectorXd part_y(part.size());
  for (std::size_t i = 0; i < kept.size(); ++i) part_y[static_cast<Eigen::Index>(i)] = full_y[kept[i]];
  ASSERT_TRUE(lbfgs.update(view(part), view(part_y)));
  lbfgs.refresh();
  const double gamma = full.dot(full_y) / full.squaredNorm();
  const MatrixXd expected =
      dense_bfgs({pairs.s[0], pairs.s[1], full}, {pairs.y[0], pairs.y[1], full_y}, 0, gamma);
  const MatrixXd actual = as_matrix(lbfgs);
  for (std::size_t i = 0; i < kept.size(); ++i)
    for (std::size_t j = 0; j < kept.size(); ++j)
      EXPECT_NEAR(actual(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)),
                  expected(kept[i], kept[j]), 1e-9 * expected.norm());
}

TEST(CompactLbfgs, SkipsPairsWithoutCurvature) {
  const Pairs pairs(1, 3);
  CompactLbfgs lbfgs(3);
  lbfgs.reset(kDimension, 1.5);
  EXPECT_FALSE(lbfgs.update(view(pairs.s[0]), view(VectorXd(-pairs.y[0]))));
  EXPECT_FALSE(lbfgs.update(view(VectorXd(VectorXd::Zero(kDimension))), view(pairs.y[0])));
  EXPECT_EQ(lbfgs.pairs(), 0u);
  lbfgs.refresh();
  EXPECT_TRUE(as_matrix(lbfgs).isApprox(1.5 * MatrixXd::Identity(kDimension, kDimension)));
}

TEST(CompactLbfgs, StaysPositiveDefinite) {
  const Pairs pairs(10, 8);
  CompactLbfgs lbfgs(10);
  lbfgs.reset(kDimension, 1.0);
  for (std::size_t i = 0; i < 10; ++i) lbfgs.update(view(pairs.s[i]), view(pairs.y[i]));
  lbfgs.refresh();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(as_matrix(lbfgs));
  EXPECT_GT(eigen.eigenvalues().minCoeff(), 0.0);
}

TEST(CompactLbfgs, NeedsMemory) {
  EXPECT_THROW(CompactLbfgs(0), Error);
}

/// Covers a first matrix B0 other than the identity.
TEST(CompactLbfgs, StartsFromAnyMatrix) {
  const Pairs pairs(11, 5);
  Random random(12);
  MatrixXd a(kDimension, kDimension);
  for (double& x : a.reshaped()) x = random.normal();
  const MatrixXd first = a * a.transpose() + MatrixXd::Identity(kDimension, kDimension);
  const auto dense = [&](const MatrixXd& start) {
    MatrixXd b = start;
    for (std::size_t i = 0; i < pairs.s.size(); ++i) {
      const VectorXd bs = b * pairs.s[i];
      b += pairs.y[i] * pairs.y[i].transpose() / pairs.y[i].dot(pairs.s[i]) -
           bs * bs.transpose() / pairs.s[i].dot(bs);
    }
    return b;
  };
  // multiply() has gamma*I in place of gamma*B0.
  const auto matrix = [&](const CompactLbfgs& lbfgs, const MatrixXd& start) {
    return MatrixXd(as_matrix(lbfgs) + lbfgs.gamma() * (start - MatrixXd::Identity(kDimension, kDimension)));
  };
  CompactLbfgs lbfgs(pairs.s.size(), GammaRule::kNone);
  lbfgs.reset(kDimension, 1.0);
  for (std::size_t i = 0; i < pairs.s.size(); ++i) {
    const VectorXd b = first * pairs.s[i];
    ASSERT_TRUE(lbfgs.update(view(pairs.s[i]), view(pairs.y[i]), view(b)));
  }
  lbfgs.refresh();
  EXPECT_LT((matrix(lbfgs, first) - dense(first)).norm(), 1e-7 * dense(first).norm());
  lbfgs.set_gamma(3.0);
  lbfgs.refresh();
  EXPECT_LT((matrix(lbfgs, first) - dense(3.0 * first)).norm(), 1e-7 * dense(3.0 * first).norm());
}

TEST(CompactLbfgs, AssignedPairsAreAsGoodAsThoseOfUpdates) {
  const Pairs pairs(5, 17);
  CompactLbfgs updated(6, GammaRule::kNone), assigned(6, GammaRule::kNone);
  std::vector<std::vector<double>> s, y, b;
  updated.reset(kDimension, 2.0);
  assigned.reset(3, 2.0);
  for (std::size_t i = 0; i < pairs.s.size(); ++i) {
    ASSERT_TRUE(updated.update(view(pairs.s[i]), view(pairs.y[i])));
    s.emplace_back(view(pairs.s[i]).begin(), view(pairs.s[i]).end());
    y.emplace_back(view(pairs.y[i]).begin(), view(pairs.y[i]).end());
  }
  assigned.assign(kDimension, s, y, s, Parallel(2));
  for (CompactLbfgs* each : {&updated, &assigned}) each->refresh();
  ASSERT_EQ(assigned.rows(), static_cast<std::size_t>(kDimension));
  ASSERT_EQ(assigned.pairs(), pairs.s.size());
  EXPECT_LT((as_matrix(assigned) - as_matrix(updated)).norm(), 1e-8 * as_matrix(updated).norm());
  for (std::size_t i = 0; i < pairs.s.size(); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(kDimension); ++j)
      EXPECT_EQ(assigned.y(i, j), y[i][j]);
  // If there is no more room, the next pair replaces the oldest.
  const Pairs more(3, 18);
  for (std::size_t i = 0; i < more.s.size(); ++i)
    for (CompactLbfgs* each : {&updated, &assigned})
      ASSERT_TRUE(each->update(view(more.s[i]), view(VectorXd(pairs.hessian * more.s[i]))));
  for (CompactLbfgs* each : {&updated, &assigned}) each->refresh();
  EXPECT_LT((as_matrix(assigned) - as_matrix(updated)).norm(), 1e-7 * as_matrix(updated).norm());
}

TEST(CompactLbfgs, TakesRowsInAnotherOrderAndNewOnes) {
  const Pairs pairs(13, 3);
  CompactLbfgs lbfgs(3), same(3);
  for (CompactLbfgs* each : {&lbfgs, &same}) {
    each->reset(kDimension, 2.0);
    for (std::size_t i = 0; i < pairs.s.size(); ++i) each->update(view(pairs.s[i]), view(pairs.y[i]));
  }
  lbfgs.take_rows(std::vector<std::uint32_t>{2, CompactLbfgs::kNew, 0});
  lbfgs.refresh();
  same.refresh();
  const std::vector<std::size_t> old{2, 0}, now{0, 2};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t c = 0; c < lbfgs.width(); ++c) EXPECT_EQ(lbfgs.q(now[i])[c], same.q(old[i])[c]);
  for (std::size_t c = 0; c < lbfgs.width(); ++c) EXPECT_EQ(lbfgs.q(1)[c], 0.0);
  EXPECT_EQ(lbfgs.diagonal(1), lbfgs.gamma());
}

}  // namespace
}  // namespace proxbench
