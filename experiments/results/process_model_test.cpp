#include "experiments/results/process_model.h"

#include <gtest/gtest.h>

namespace proxbench {
namespace {

PhaseCost phase(const char* name, double seconds, std::int64_t sums, double sum_bytes, std::int64_t ordered,
                double ordered_bytes) {
  PhaseCost out;
  out.phase = name;
  out.seconds = seconds;
  out.loops = {{64, 10}};
  out.sums = sums;
  out.sum_bytes = sum_bytes;
  out.ordered_sums = ordered;
  out.ordered_bytes = ordered_bytes;
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
  // 2 sums in order of 16,000 bytes: 19 pieces of 1,000 bytes in turn, then all of it over 2 hops.
  EXPECT_NEAR(predict_processes(phase("partial gradient", 0.0, 0, 0.0, 2, 32000.0), network, 4),
              2 * (19 * (1e-3 + 1e-3) + 2 * (1e-3 + 16e-3)), 1e-12);
  // And while a process waits for the first piece, it does nothing.
  EXPECT_NEAR(predict_processes(phase("partial gradient", 16.0, 0, 0.0, 1, 0.0), {.latency = 0.0}, 4),
              4.0 * 19 / 16, 1e-12);
}

}  // namespace
}  // namespace proxbench
