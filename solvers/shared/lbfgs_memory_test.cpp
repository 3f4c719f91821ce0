#include "solvers/shared/lbfgs_memory.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/quasi_newton/lbfgs.h"

namespace proxbench::dense {
namespace {

using Vector = std::vector<double>;
using Pair = std::pair<Vector, Vector>;

/// Pairs with y = A s for a diagonal A > 0.
std::vector<Pair> some_pairs(std::size_t n, std::size_t d) {
  Random random(5);
  std::vector<Pair> out(n, Pair(Vector(d), Vector(d)));
  for (auto& [s, y] : out)
    for (std::size_t j = 0; j < d; ++j) {
      s[j] = random.normal();
      y[j] = s[j] * (1.0 + static_cast<double>(j));
    }
  return out;
}

Vector applied(LbfgsMemory& memory, Vector r) {
  memory.apply(r);
  return r;
}

TEST(LbfgsMemory, KeepsTheNewestPairs) {
  const Parallel parallel;
  const std::vector<Pair> pairs = some_pairs(9, 6);
  const Vector r{1.0, -2.0, 3.0, 0.5, 0.0, 1.5};
  LbfgsMemory three(3, 6, parallel), many(20, 6, parallel), cut(5, 6, parallel);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i >= 6) many.update(pairs[i].first, pairs[i].second);
    three.update(pairs[i].first, pairs[i].second);
    cut.update(pairs[i].first, pairs[i].second);
    cut.keep_newest(3);
    cut.keep_newest(4);  // there are no more than three
  }
  EXPECT_EQ(applied(three, r), applied(many, r));
  EXPECT_EQ(applied(cut, r), applied(many, r));
  EXPECT_NE(applied(cut, r), r);
}

/// The pairs after a change of coordinates, moved by hand. The product y^T s of a pair stays what it was.
TEST(LbfgsMemory, TakesRows) {
  const Parallel parallel(2);
  constexpr std::uint32_t kNew = CompactLbfgs::kNew;
  const std::vector<Pair> pairs = some_pairs(4, 5);
  for (const std::vector<std::uint32_t>& from : std::vector<std::vector<std::uint32_t>>{
           {0, 2, 3}, {1, 2, 3, 4}, {kNew, 0, 1, 2, 3, 4, kNew}, {0, kNew, 4}, {}}) {
    LbfgsMemory memory(6, 5, parallel);
    for (const auto& [s, y] : pairs) memory.update(s, y);
    memory.take_rows(from);
    const Vector r(from.size(), 1.0);
    // The two-loop recursion on the moved pairs.
    Vector expected = r;
    std::vector<Pair> moved;
    Vector alpha(pairs.size()), rho(pairs.size());
    for (const auto& [s, y] : pairs) {
      Pair pair;
      for (const std::uint32_t i : from) {
        pair.first.push_back(i == kNew ? 0.0 : s[i]);
        pair.second.push_back(i == kNew ? 0.0 : y[i]);
      }
      moved.push_back(pair);
    }
    const auto dot = [](const Vector& a, const Vector& b) {
      double sum = 0.0;
      for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
      return sum;
    };
    for (std::size_t i = pairs.size(); i-- > 0;) {
      rho[i] = 1.0 / dot(pairs[i].first, pairs[i].second);
      alpha[i] = rho[i] * dot(moved[i].first, expected);
      for (std::size_t j = 0; j < r.size(); ++j) expected[j] -= alpha[i] * moved[i].second[j];
    }
    for (double& x : expected) x *= memory.scale();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double beta = rho[i] * dot(moved[i].second, expected);
      for (std::size_t j = 0; j < r.size(); ++j) expected[j] += (alpha[i] - beta) * moved[i].first[j];
    }
    const Vector found = applied(memory, r);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t j = 0; j < r.size(); ++j) EXPECT_NEAR(found[j], expected[j], 1e-12);
    // Pairs of the new length can follow.
    if (from.empty()) continue;
    memory.update(r, r);
    EXPECT_EQ(applied(memory, r).size(), r.size());
  }
}

}  // namespace
}  // namespace proxbench::dense
