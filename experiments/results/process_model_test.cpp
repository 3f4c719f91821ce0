#include "experiments/results/process_model.h"

#include <gtest/gtest.h>

namespace proxbench {
namespace {

PhaseCost phase(const char* name, double seconds, std::int64_t sums, double sum_bytes, std::int64_t tree_sums,
                double tree_bytes) {
  PhaseCost out;
  out.phase = name;
  out.seconds = seconds;
  out.loops = {{64, 10}};
  out.sums = sums;
  out.sum_bytes = sum_bytes;
  out.tree_sums = tree_sums;
  out.tree_bytes = tree_bytes;
  return out;
}

TEST(ProcessModel, SharesWorkWhereNothingCrosses) {
  const PhaseCost scores = phase("scores", 8.0, 0, 0.0, 0, 0.0);
  EXPECT_DOUBLE_EQ(predict_processes(scores, {}, 1), 8.0);
  EXPECT_DOUBLE_EQ(predict_processes(scores, {}, 8), 1.0);
  // 64 chunks among 6: the busiest has 11.
  EXPECT_DOUBLE_EQ(predict_processes(scores, {}, 6), 8.0 * 11 / 64);
  EXPECT_DOUBLE_EQ(predict_processes(scores, {.data = 100.0}, 1), 800.0);
}

TEST(ProcessModel, TheSolverIsNotShared) {
  EXPECT_DOUBLE_EQ(predict_processes(phase("solver", 3.0, 0, 0.0, 0, 0.0), {.data = 100.0}, 64), 3.0);
}

TEST(ProcessModel, CountsMessagesByHand) {
  const NetworkModel network{.latency = 1e-3, .bandwidth = 1e6};
  // 5 sums of 1,000 bytes, 4 processes of 16 chunks: 8 nodes each, 2 exchanges of 2 hops.
  EXPECT_NEAR(predict_processes(phase("inference", 0.0, 5, 5000.0, 0, 0.0), network, 4),
              5 * (4e-3 + 4 * 8 * 1e-3), 1e-12);
  // 2 sums of 16,000 bytes: each process gets those of the three others, in 2 hops.
  EXPECT_NEAR(predict_processes(phase("partial gradient", 0.0, 0, 0.0, 2, 32000.0), network, 4),
              2 * 2e-3 + 32e-3 * 3, 1e-12);
  // Of a full gradient each keeps its part: 3 pieces of a megabyte, in 2 hops each.
  EXPECT_NEAR(predict_processes(phase("full gradient", 0.0, 0, 0.0, 2, 2.5 * (1 << 20)), network, 4),
              3 * 2e-3 + 2.5 * 1.048576 * 0.75, 1e-12);
}

}  // namespace
}  // namespace proxbench
