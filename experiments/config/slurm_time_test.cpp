#include <gtest/gtest.h>

#include "experiments/config/config.h"

namespace proxbench {
namespace {

// The forms and their meanings are those of sbatch(1), --time.
TEST(SlurmTime, AllFormsOfSbatch) {
  EXPECT_EQ(slurm_seconds("90"), 5400.0);
  EXPECT_EQ(slurm_seconds("1:30"), 90.0);
  EXPECT_EQ(slurm_seconds("02:00:01"), 7201.0);
  EXPECT_EQ(slurm_seconds("2-12"), 216000.0);
  EXPECT_EQ(slurm_seconds("1-00:30"), 88200.0);
  EXPECT_EQ(slurm_seconds("1-00:00:05"), 86405.0);
}

TEST(SlurmTime, WhatIsNoTimeIsNone) {
  for (const char* text :
       {"", "0", "UNLIMITED", "1h", "1:", ":1", "1:2:3:4", "-1", "1-", "1-2-3", "1:2:3:4-1"})
    EXPECT_EQ(slurm_seconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace proxbench
