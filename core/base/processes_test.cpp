#include "core/base/processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/sum.h"
#include "core/base/test_process_team.h"

namespace proxbench {
namespace {

/// Numbers whose sum depends on the order of addition.
std::vector<double> wild_numbers(std::size_t n) {
  Random random(3);
  std::vector<double> out(n);
  for (double& x : out) x = random.normal() * std::exp(20.0 * random.normal());
  return out;
}

/// Where the part of process r begins among n items. The parts have different sizes, and some may be empty.
std::size_t begin_of(std::size_t n, int r, int count) {
  const double part = static_cast<double>(r) / static_cast<double>(count);
  return static_cast<std::size_t>(std::pow(part, 1.3) * static_cast<double>(n));
}

TEST(Processes, AddInTheOrderOfRanks) {
  constexpr std::size_t kNumbers = 1000;
  for (const int count : {1, 2, 3, 4, 7}) {
    const std::vector<double> numbers = wild_numbers(kNumbers * static_cast<std::size_t>(count));
    const auto part = [&](int r) {
      return std::span(numbers).subspan(kNumbers * static_cast<std::size_t>(r), kNumbers);
    };
    std::vector<double> once(kNumbers);
    for (int r = 0; r < count; ++r)
      for (std::size_t i = 0; i < kNumbers; ++i) once[i] += part(r)[i];
    run_process_team(count, [&](const Processes& processes) {
      const std::span<const double> own = part(processes.rank());
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, kNumbers}) {
        std::vector<double> sum(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n));
        processes.add(sum);
        EXPECT_TRUE(std::ranges::equal(sum, std::span(once).first(n))) << n << ", " << count << " processes";
      }
      // Process 0 owns 10 of the sums, process 1 the next 11, and so on.
      std::vector<std::size_t> sizes;
      std::size_t begin = 0, total = 0;
      for (int r = 0; r < count; ++r) {
        if (r == processes.rank()) begin = total;
        total += sizes.emplace_back(10 + static_cast<std::size_t>(r));
      }
      std::vector<double> sums(sizes[static_cast<std::size_t>(processes.rank())]);
      processes.add_to_owners(own.first(total), sizes, sums);
      EXPECT_TRUE(std::ranges::equal(sums, std::span(once).subspan(begin, sums.size())));
    });
  }
}

TEST(Processes, MoreNumbersThanAreAddedAtOnce) {
  constexpr std::size_t kNumbers = (std::size_t{1} << 20) + 7;
  run_process_team(2, [&](const Processes& processes) {
    std::vector<double> numbers(kNumbers);
    for (std::size_t i = 0; i < kNumbers; ++i) numbers[i] = static_cast<double>(i) + processes.rank();
    processes.add(numbers);
    for (std::size_t i = 0; i < kNumbers; ++i) ASSERT_EQ(numbers[i], 2.0 * static_cast<double>(i) + 1.0);
  });
}

TEST(Processes, SumsOfChunksAreThoseOfAll) {
  const std::vector<double> numbers = wild_numbers(100);
  const auto sum = [&](const Parallel& parallel, std::size_t first, std::size_t last) {
    return sum_chunks(parallel, last - first, [&](std::size_t chunk) { return numbers[first + chunk]; });
  };
  double sizes = 0.0;
  for (const double x : numbers) sizes += std::abs(x);
  for (const int count : {1, 2, 3, 4, 7})
    run_process_team(count, [&](const Processes& processes) {
      const std::size_t first = begin_of(100, processes.rank(), count),
                        last = begin_of(100, processes.rank() + 1, count);
      EXPECT_NEAR(sum(Parallel(2, Backend::kOpenMP, &processes), first, last), sum(Parallel(), 0, 100),
                  count * 0x1p-53 * sizes);
    });
}

TEST(Processes, TakeTurns) {
  constexpr std::size_t kTerms = 50;
  const std::vector<double> numbers = wild_numbers(kTerms);
  double once = 0.0;
  for (const double x : numbers) once += x;
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      std::vector<double> sum(1);
      in_turn(&processes, sum, [&] {
        for (std::size_t i = begin_of(kTerms, processes.rank(), count);
             i < begin_of(kTerms, processes.rank() + 1, count); ++i)
          sum[0] += numbers[i];
      });
      EXPECT_EQ(sum[0], once);
    });
}

TEST(Processes, CountsAndLargestAreOfAll) {
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      const Parallel parallel(1, Backend::kOpenMP, &processes);
      EXPECT_EQ(whole_count(parallel, 3), 3u * static_cast<std::size_t>(count));
      EXPECT_EQ(whole_max(parallel, processes.rank()), count - 1);
      EXPECT_TRUE(std::isnan(whole_max(parallel, processes.first() ? std::nan("") : 1.0)));
    });
}

TEST(Processes, AgreeOnWhatTheFirstSays) {
  run_process_team(3, [](const Processes& processes) {
    EXPECT_EQ(agree(&processes, 10 * processes.rank() + 7), 7);
    std::vector<int> numbers(static_cast<std::size_t>(processes.rank()), processes.rank());
    share(&processes, 2, numbers);
    EXPECT_EQ(numbers, (std::vector<int>{2, 2}));
    std::string text = processes.rank() == 2 ? "last" : "";
    share(&processes, 2, text);
    EXPECT_EQ(text, "last");
  });
  EXPECT_EQ(agree<int>(nullptr, 5), 5);
}

TEST(Processes, EndTogetherWhereOneFails) {
  EXPECT_THROW(run_process_team(3,
                                [](const Processes& processes) {
                                  if (processes.rank() == 1) throw Error("no memory");
                                  agree(&processes, 1);
                                  agree(&processes, 2);
                                  processes.add({});
                                }),
               Error);
}

}  // namespace
}  // namespace proxbench
