#include "core/base/sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/random.h"

namespace proxbench {
namespace {

TEST(SumOfChunks, IsTheSumOfAllParts) {
  for (const std::size_t chunks : {0, 1, 2, 3, 7, 8, 100}) {
    std::vector<double> out(200, -1.0);
    sum_chunks(Parallel(2), chunks, out.size(), out.data(), [&](std::size_t chunk, double* part) {
      for (std::size_t i = 0; i < out.size(); ++i) part[i] += static_cast<double>(chunk * i);
    });
    const double n = static_cast<double>(chunks);
    for (std::size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i], static_cast<double>(i) * n * (n - 1.0) / 2.0) << chunks << " chunks";
  }
}

TEST(SumOfChunks, HasTheSameBitsForAnyThreads) {
  Random random(3);
  std::vector<double> numbers(1001);
  for (double& x : numbers) x = random.normal() * std::exp(20.0 * random.normal());
  const auto sum = [&](const Parallel& parallel) {
    return sum_chunks(parallel, numbers.size(), [&](std::size_t chunk) { return numbers[chunk]; });
  };
  const double once = sum(Parallel(1));
  for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
    for (const int threads : {2, 3, 5}) EXPECT_EQ(sum(Parallel(threads, backend)), once);
}

TEST(SumOfChunks, LosesNothingOfSmallChunksBesideLargeOnes) {
  const double numbers[] = {1.0, 1e16, -1e16, 1.0, 0.5};
  EXPECT_EQ(sum_chunks(Parallel(), 5, [&](std::size_t chunk) { return numbers[chunk]; }), 2.5);
}

TEST(SumOfChunks, IsInfiniteIfAChunkIs) {
  EXPECT_EQ(sum_chunks(Parallel(), 3, [](std::size_t chunk) { return chunk == 1 ? kInfinity : 1.0; }),
            kInfinity);
}

TEST(SumOfChunks, MayBeMadeOfSums) {
  const double sum = sum_chunks(Parallel(2), 4, [](std::size_t outer) {
    return sum_chunks(Parallel(), 3, [&](std::size_t inner) { return static_cast<double>(outer * inner); });
  });
  EXPECT_EQ(sum, 18.0);
}

}  // namespace
}  // namespace proxbench
