#include "core/base/processes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/process_team_test.h"
#include "core/base/random.h"
#include "core/base/sum.h"

namespace proxbench {
namespace {

/// Numbers whose sum depends on the order.
std::vector<double> wild_numbers(std::size_t n) {
  Random random(3);
  std::vector<double> out(n);
  for (double& x : out) x = random.normal() * std::exp(20.0 * random.normal());
  return out;
}

/// Where process r begins with n things, the shares of different sizes; some may be empty.
std::size_t begin_of(std::size_t n, int r, int count) {
  const double part = static_cast<double>(r) / static_cast<double>(count);
  return static_cast<std::size_t>(std::pow(part, 1.3) * static_cast<double>(n));
}

TEST(Processes, ChunksHaveTheSameSumForAnyNumber) {
  for (const std::size_t chunks : {0, 1, 2, 3, 5, 8, 13, 64, 100}) {
    const std::vector<double> numbers = wild_numbers(3 * chunks);
    const auto sum = [&](const Parallel& parallel, std::size_t first, std::size_t last) {
      std::vector<double> out(3);
      sum_chunks(parallel, last - first, 3, out.data(), [&](std::size_t chunk, double* part) {
        for (std::size_t i = 0; i < 3; ++i) part[i] = numbers[3 * (first + chunk) + i];
      });
      return out;
    };
    const std::vector<double> once = sum(Parallel(), 0, chunks);
    for (const int count : {1, 2, 3, 4, 7})
      run_process_team(count, [&](const Processes& processes) {
        const int r = processes.rank();
        EXPECT_EQ(sum(Parallel(2, Backend::kOpenMP, &processes), begin_of(chunks, r, count),
                      begin_of(chunks, r + 1, count)),
                  once)
            << chunks << " chunks, " << count << " processes";
      });
  }
}

TEST(Processes, SumsInOrderGoOnWhereTheProcessBeforeStopped) {
  constexpr std::size_t kTerms = 50;
  const std::vector<double> numbers = wild_numbers(kTerms);
  double once = 0.0;
  for (const double x : numbers) once += x;
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      const InOrder in_order(Parallel(1, Backend::kOpenMP, &processes));
      std::vector<double> sum(1);
      in_order.add(std::span(sum), [&] {
        for (std::size_t i = begin_of(kTerms, processes.rank(), count);
             i < begin_of(kTerms, processes.rank() + 1, count); ++i)
          sum[0] += numbers[i];
      });
      in_order.hand_back(std::span(sum));
      EXPECT_EQ(sum[0], once);
    });
}

TEST(Processes, SumsOnAGridAreTheSameInAnyOrder) {
  constexpr std::size_t kTerms = 1000;
  Random random(5);
  std::vector<double> numbers(kTerms);
  double total = 0.0, off = 0.0;
  for (double& x : numbers) total += std::abs(x = random.normal());
  const Grid grid(total);
  double once = 0.0, backwards = 0.0;
  for (const double x : numbers) {
    once += grid.round(x);
    off += x;
  }
  for (std::size_t i = kTerms; i-- > 0;) backwards += grid.round(numbers[i]);
  EXPECT_EQ(backwards, once);
  EXPECT_NEAR(once, off, kTerms * total * 0x1p-51);
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      const Parallel parallel(1, Backend::kOpenMP, &processes);
      std::vector<double> sums(2);
      for (std::size_t i = begin_of(kTerms, processes.rank(), count);
           i < begin_of(kTerms, processes.rank() + 1, count); ++i)
        sums[0] += grid.round(numbers[i]);
      add_exact(parallel, sums);
      EXPECT_EQ(sums, (std::vector<double>{once, 0.0}));
      EXPECT_EQ(whole_max(parallel, processes.rank()), count - 1);
      EXPECT_TRUE(std::isnan(whole_max(parallel, processes.first() ? std::nan("") : 1.0)));
      // Parts of 3 numbers: those of process r are r, r + 1 and r + 2, from each.
      std::vector<double> all, own(3);
      for (int r = 0; r < count; ++r)
        for (int i = 0; i < 3; ++i) all.push_back(r + i);
      processes.sum_parts(all, std::vector<std::size_t>(static_cast<std::size_t>(count), 3), own);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(own[static_cast<std::size_t>(i)], count * (processes.rank() + i));
    });
}

TEST(Processes, WithoutASizeToGoByNothingIsRounded) {
  EXPECT_EQ(Grid(0.0).round(0.1), 0.1);
  EXPECT_TRUE(std::isnan(Grid(std::nan("")).round(0.1)));
}

TEST(Processes, AgreeOnWhatTheFirstSays) {
  run_process_team(3, [](const Processes& processes) {
    EXPECT_EQ(agree(&processes, 10 * processes.rank() + 7), 7);
    std::vector<int> numbers(static_cast<std::size_t>(processes.rank()), processes.rank());
    share(&processes, 2, numbers);
    EXPECT_EQ(numbers, (std::vector<int>{2, 2}));
    std::string text = processes.last() ? "last" : "";
    share(&processes, 2, text);
    EXPECT_EQ(text, "last");
  });
  EXPECT_EQ(agree<int>(nullptr, 5), 5);
}

TEST(Processes, EndTogetherWhereOneFails) {
  EXPECT_THROW(
      run_process_team(3,
                       [](const Processes& processes) {
                         if (processes.rank() == 1) throw Error("no memory");
                         agree(&processes, 1);
                         agree(&processes, 2);
                         InOrder(Parallel(1, Backend::kOpenMP, &processes)).hand_back(std::span<double>{});
                       }),
      Error);
}

}  // namespace
}  // namespace proxbench
