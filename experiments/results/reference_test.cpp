#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/results/results.h"

namespace proxbench {
namespace {

proxbench::Run reference(Status status, Status tighten_status) {
  proxbench::Run run;
  run.parameters.penalty.lambda = 2.0;
  run.parameters.tol = 1e-9;
  run.parameters.tighten = 1e-9;
  run.parameters.time_limit = 60.0;
  run.result.status = status;
  run.result.certificate = {.objective = 100.0, .l1 = 50.0, .kkt = 1e-7, .dual = 100.0 - 1e-6};
  run.result.kkt_at_zero = 10.0;
  run.result.tighten = {tighten_status, 1e-9, 0, 0.0};
  return run;
}

using enum Status;

ExperimentConfig asked(double tol, double gap, double time_limit) {
  ExperimentConfig config;
  config.reference_tol = tol;
  config.reference_gap = gap;
  config.reference_time_limit = time_limit;
  return config;
}

TEST(Reference, IsAsUncertainAsTheBetterOfItsTwoBounds) {
  proxbench::Run one = reference(kConverged, kGapReached);
  Certificate& c = one.result.certificate;
  EXPECT_NEAR(best_of(one).relative_gap, 1e-8, 1e-14);
  EXPECT_NEAR(slack(one), 1e-6, 1e-12) << "its gap";
  EXPECT_NEAR(best_of(one).relative_bound, 1e-8, 1e-14);
  c.kkt = 1e-10;
  EXPECT_NEAR(slack(one), 1e-10 * (50.0 + 50.0), 1e-15) << "what kkt allows";
  c.dual = 100.0 + 1e-14;
  EXPECT_EQ(slack(one), 0.0) << "rounding";
  c.dual = std::nan("");
  EXPECT_NEAR(slack(one), 1e-8, 1e-15) << "of one without a bound";
}

TEST(Reference, ServesWhereItIsGoodEnough) {
  const proxbench::Run one = reference(kConverged, kGapReached);
  EXPECT_TRUE(serves(one, asked(1e-8, 2e-8, 60.0)));
  EXPECT_TRUE(serves(one, asked(1e-8, 0.0, 60.0))) << "no gap is wanted";
  EXPECT_FALSE(serves(one, asked(1e-9, 2e-8, 60.0)));
  EXPECT_FALSE(serves(one, asked(1e-8, 1e-9, 60.0)));
}

TEST(Reference, ServesWhereItWouldGetNoBetter) {
  EXPECT_TRUE(serves(reference(kStalled, kStalled), asked(1e-9, 1e-9, 600.0)));
  EXPECT_FALSE(serves(reference(kStalled, kStalled), asked(1e-10, 1e-9, 600.0))) << "was asked for less";
  EXPECT_FALSE(serves(reference(kStalled, kStalled), asked(1e-9, 1e-10, 600.0))) << "was asked for less";
  EXPECT_TRUE(serves(reference(kTimeLimit, kTimeLimit), asked(1e-9, 1e-9, 60.0)));
  EXPECT_FALSE(serves(reference(kTimeLimit, kTimeLimit), asked(1e-9, 1e-9, 61.0))) << "would have more time";
  EXPECT_FALSE(serves(reference(kTimeLimit, kTimeLimit), asked(1e-9, 1e-9, 0.0))) << "would have more time";
  EXPECT_TRUE(serves(reference(kConverged, kTimeLimit), asked(1e-8, 1e-9, 60.0)));
  EXPECT_FALSE(serves(reference(kConverged, kInterrupted), asked(1e-8, 1e-9, 60.0)));
}

TEST(Reference, SaysWhetherItsTimeLimitEndedIt) {
  EXPECT_FALSE(ended_by_time_limit(reference(kConverged, kGapReached)));
  EXPECT_FALSE(ended_by_time_limit(reference(kStalled, kStalled)));
  EXPECT_TRUE(ended_by_time_limit(reference(kTimeLimit, kTimeLimit)));
  EXPECT_TRUE(ended_by_time_limit(reference(kConverged, kTimeLimit))) << "while it looked for a bound";
}

TEST(Reference, OfASolverThatGoesByTheGapServesWhereItWouldGetNoBetter) {
  proxbench::Run one = reference(kTimeLimit, kTimeLimit);
  one.parameters.tol = 0.0;
  one.parameters.tighten = 0.0;
  one.parameters.gap_target = 1e-9;
  one.result.tighten.reset();
  one.result.certificate.dual = 99.0;
  EXPECT_TRUE(serves(one, asked(1e-8, 1e-9, 60.0))) << "it had no more time";
  EXPECT_FALSE(serves(one, asked(1e-8, 1e-9, 61.0))) << "it would have more";
}

}  // namespace
}  // namespace proxbench
