#include "solvers/prox_newton/cholesky.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <vector>

#include "core/base/random.h"

namespace proxbench::prox_newton {
namespace {

/// A random symmetric matrix whose smallest eigenvalue is at least 0.1.
std::vector<double> random_matrix(std::size_t n) {
  Random random(n);
  std::vector<double> b(n * n), a(n * n, 0.0);
  for (double& x : b) x = random.normal();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) a[i * n + j] += b[i * n + k] * b[j * n + k];
      if (i == j) a[i * n + j] += 0.1;
    }
  return a;
}

void solve(const Cholesky& cholesky, std::vector<double>& x) {
  cholesky.solve_lower(x);
  cholesky.solve_upper(x);
}

/// The product of the matrix's first x.size() rows and columns with x.
std::vector<double> product(const std::vector<double>& a, std::size_t n, const std::vector<double>& x) {
  std::vector<double> out(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) out[i] += a[i * n + j] * x[j];
  return out;
}

class CholeskyOfSize : public testing::TestWithParam<std::size_t> {};

TEST_P(CholeskyOfSize, SolvesWithTheSameBitsForAnyThreads) {
  const std::size_t n = GetParam();
  const std::vector<double> a = random_matrix(n);
  Random random(3);
  std::vector<double> expected(n);
  for (double& x : expected) x = random.normal();
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 3}) {
    Cholesky cholesky;
    ASSERT_TRUE(cholesky.factor(n, n + 5, Parallel(threads), [&](std::size_t i, double* row) {
      std::copy_n(a.data() + i * n, i + 1, row);
    }));
    EXPECT_EQ(cholesky.size(), n);
    found.push_back(product(a, n, expected));
    solve(cholesky, found.back());
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found.back()[i], expected[i], 1e-7) << i;
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST_P(CholeskyOfSize, GrowsByRows) {
  const std::size_t n = GetParam(), half = n / 2;
  const std::vector<double> a = random_matrix(n);
  Cholesky cholesky;
  ASSERT_TRUE(cholesky.factor(
      half, n, Parallel(2), [&](std::size_t i, double* row) { std::copy_n(a.data() + i * n, i + 1, row); }));
  // A solution that is known in part continues at the new rows.
  std::vector<double> lower(n, 0.0);
  lower[0] = 1.0;
  if (half > 0) cholesky.solve_lower(std::span(lower).first(half));
  for (std::size_t i = half; i < n; ++i)
    ASSERT_TRUE(cholesky.append({a.data() + i * n, i}, a[i * n + i])) << i;
  cholesky.solve_lower(lower, 0, half);
  cholesky.solve_upper(lower);
  const std::vector<double> unit = product(a, n, lower);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(unit[i], i == 0 ? 1.0 : 0.0, 1e-7) << i;
}

INSTANTIATE_TEST_SUITE_P(Sizes, CholeskyOfSize,
                         testing::Values(1u, 2u, 7u, 8u, 9u, 100u, 127u, 128u, 129u, 300u, 513u));

TEST(Cholesky, GivesUpWhereverItIsAskedTo) {
  constexpr std::size_t kSize = 513;
  const std::vector<double> a = random_matrix(kSize);
  Cholesky cholesky;
  std::atomic<int> asked = 0;
  const auto factor = [&](int last) {
    asked = 0;
    return cholesky.factor(
        kSize, kSize, Parallel(2),
        [&](std::size_t i, double* row) { std::copy_n(a.data() + i * kSize, i + 1, row); },
        StopToken([&] { return ++asked > last; }));
  };
  ASSERT_TRUE(factor(std::numeric_limits<int>::max()));
  const int all = asked;
  for (int last = 0; last < all; last += 11) {
    EXPECT_FALSE(factor(last)) << last;
    EXPECT_EQ(cholesky.size(), 0u);
  }
}

TEST(Cholesky, SaysWhatIsNotPositiveDefinite) {
  for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    constexpr std::size_t kSize = 200;
    Cholesky cholesky;
    EXPECT_FALSE(cholesky.factor(kSize, kSize, Parallel(2), [&](std::size_t i, double* row) {
      std::fill_n(row, i, 0.0);
      row[i] = i == 150 ? bad : 1.0;
    }));
    EXPECT_EQ(cholesky.size(), 0u);
  }
  Cholesky cholesky;
  ASSERT_TRUE(cholesky.factor(1, 2, Parallel(), [](std::size_t, double* row) { row[0] = 4.0; }));
  const std::vector<double> row{4.0};
  EXPECT_FALSE(cholesky.append(row, 4.0));
  EXPECT_EQ(cholesky.size(), 1u);
  EXPECT_TRUE(cholesky.append(row, 5.0));
  std::vector<double> x{4.0, 5.0};
  solve(cholesky, x);
  EXPECT_NEAR(x[0], 0.0, 1e-15);
  EXPECT_NEAR(x[1], 1.0, 1e-15);
}

}  // namespace
}  // namespace proxbench::prox_newton
