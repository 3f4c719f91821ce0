#include "core/base/processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

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
      std::vector<double> sum(1);
      add_in_order(Parallel(1, Backend::kOpenMP, &processes), sum, [&] {
        for (std::size_t i = begin_of(kTerms, processes.rank(), count);
             i < begin_of(kTerms, processes.rank() + 1, count); ++i)
          sum[0] += numbers[i];
      });
      EXPECT_EQ(sum[0], once);
    });
}

/// Sequences of 1 to 5 positions.
std::vector<Index> sequences(Index positions) {
  Random random(7);
  std::vector<Index> begin{0};
  while (begin.back() < positions)
    begin.push_back(std::min(positions, begin.back() + 1 + static_cast<Index>(4.0 * random.uniform())));
  return begin;
}

TEST(Processes, LeavesAreThoseOfTheWhole) {
  const std::vector<Index> begin = sequences(9000);
  const SumLeaves whole = sum_leaves(begin);
  EXPECT_GT(whole.size(), 20u);
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      const std::vector<Index> chunks = instance_chunks(begin);
      const std::size_t first = chunks[begin_of(chunks.size() - 1, processes.rank(), count)],
                        last = chunks[begin_of(chunks.size() - 1, processes.rank() + 1, count)];
      std::vector<Index> own;
      for (std::size_t i = first; i <= last; ++i) own.push_back(begin[i] - begin[first]);
      const SumLeaves leaves = sum_leaves(own, &processes);
      EXPECT_EQ(leaves.begin.back(), own.back());
      for (std::size_t l = 0; l < leaves.size(); ++l) {
        const auto at = std::ranges::lower_bound(whole.number, leaves.number[l]) - whole.number.begin();
        EXPECT_EQ(whole.number[static_cast<std::size_t>(at)], leaves.number[l]);
        EXPECT_LE(leaves.begin[l + 1] + begin[first], whole.begin[static_cast<std::size_t>(at) + 1]);
        if (l > 0) {
          EXPECT_EQ(leaves.begin[l] + begin[first], whole.begin[static_cast<std::size_t>(at)]);
        }
      }
    });
}

TEST(Processes, LeavesHaveTheSameSumForAnyNumber) {
  constexpr std::size_t kWidth = 3;
  for (const std::size_t missing : {1, 2, 3, 7}) {
    std::vector<std::uint32_t> numbers;  // some leaves have no positions
    for (std::uint32_t number = 0; number < kSumLeaves; ++number)
      if (number % missing == missing / 2) numbers.push_back(number);
    const std::vector<double> terms = wild_numbers(kWidth * numbers.size());
    // The tree by definition: [begin, begin + size) is the sum of its halves.
    const std::function<double(std::size_t, std::size_t, std::size_t)> node =
        [&](std::size_t begin, std::size_t size, std::size_t i) {
          if (size > 1) return node(begin, size / 2, i) + node(begin + size / 2, size / 2, i);
          const auto at = std::ranges::find(numbers, begin) - numbers.begin();
          return at == std::ssize(numbers) ? 0.0 : terms[static_cast<std::size_t>(at) * kWidth + i];
        };
    std::vector<double> once;
    for (std::size_t i = 0; i < kWidth; ++i) once.push_back(node(0, kSumLeaves, i));
    for (const int count : {1, 2, 3, 4, 7})
      run_process_team(count, [&](const Processes& processes) {
        const int r = processes.rank();
        const std::size_t first = begin_of(numbers.size(), r, count),
                          last = begin_of(numbers.size(), r + 1, count);
        if (begin_of(numbers.size(), 1, count) == 0) return;  // process 0 would have no leaf
        const std::span<const std::uint32_t> all_numbers(numbers);
        const LeafTree tree(all_numbers.subspan(first, last - first), count == 1 ? nullptr : &processes);
        std::vector<double> own(tree.nodes() * kWidth), out(kWidth);
        for (std::size_t i = 0; i < kWidth; ++i) {
          std::vector<double> sums;
          for (std::size_t l = first; l < last; ++l) sums.push_back(terms[l * kWidth + i]);
          tree.add_leaves(sums.data(), own.data() + i, kWidth);
        }
        tree.add_nodes(own, out);
        EXPECT_EQ(out, once) << missing << ", " << count << " processes";
        if (count == 1) return;
        // Each process gets the same sums, followed by twice these sums: 2 * kWidth numbers.
        std::vector<double> all;
        for (int to = 0; to < count; ++to)
          for (std::size_t n = 0; n < tree.nodes(); ++n)
            for (const double factor : {1.0, 2.0})
              for (std::size_t i = 0; i < kWidth; ++i) all.push_back(factor * own[n * kWidth + i]);
        std::vector<double> part(2 * kWidth);
        tree.add_nodes(all, std::vector<std::size_t>(static_cast<std::size_t>(count), 2 * kWidth), part);
        for (std::size_t i = 0; i < kWidth; ++i) {
          EXPECT_EQ(part[i], once[i]);
          EXPECT_EQ(part[kWidth + i], 2.0 * once[i]);
        }
      });
  }
}

TEST(Processes, ALeafOfTwoProcessesIsRefused) {
  EXPECT_THROW(run_process_team(2,
                                [](const Processes& processes) {
                                  const std::vector<std::uint32_t> numbers{0};
                                  const LeafTree tree(numbers, &processes);
                                }),
               Error);
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
    std::string text = processes.last() ? "last" : "";
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
                                  add_in_order(Parallel(1, Backend::kOpenMP, &processes), std::span<double>{},
                                               [] {});
                                }),
               Error);
}

}  // namespace
}  // namespace proxbench
