#include "experiments/results/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

Reference reference(const std::string& status, const std::string& tighten_status) {
  return {.objective = 100.0,
          .kkt = 1e-7,
          .kkt_at_zero = 10.0,
          .relative_kkt = 1e-8,
          .l1 = 50.0,
          .dual = 100.0 - 1e-6,
          .wanted = {.tol = 1e-9, .gap = 1e-9, .time_limit = 60.0},
          .status = status,
          .tighten_status = tighten_status};
}

TEST(Reference, IsAsUncertainAsTheBetterOfItsTwoBounds) {
  Reference one = reference("converged", "gap-reached");
  EXPECT_NEAR(one.relative_gap(), 1e-8, 1e-14);
  EXPECT_NEAR(one.slack(2.0), 1e-6, 1e-12) << "its gap";
  one.kkt = 1e-10;
  EXPECT_NEAR(one.slack(2.0), 1e-10 * (50.0 + 50.0), 1e-15) << "what kkt allows";
  one.dual = 100.0 + 1e-14;
  EXPECT_EQ(one.slack(2.0), 0.0) << "rounding";
  one.dual = std::nan("");
  EXPECT_NEAR(one.slack(2.0), 1e-8, 1e-15) << "of one without a bound";
}

TEST(Reference, ServesWhereItIsGoodEnough) {
  const Reference one = reference("converged", "gap-reached");
  EXPECT_TRUE(one.serves({1e-8, 2e-8, 60.0}));
  EXPECT_TRUE(one.serves({1e-8, 0.0, 60.0})) << "no gap is wanted";
  EXPECT_FALSE(one.serves({1e-9, 2e-8, 60.0}));
  EXPECT_FALSE(one.serves({1e-8, 1e-9, 60.0}));
}

TEST(Reference, ServesWhereItWouldGetNoBetter) {
  EXPECT_TRUE(reference("stalled", "stalled").serves({1e-9, 1e-9, 600.0}));
  EXPECT_FALSE(reference("stalled", "stalled").serves({1e-10, 1e-9, 600.0})) << "was asked for less";
  EXPECT_FALSE(reference("stalled", "stalled").serves({1e-9, 1e-10, 600.0})) << "was asked for less";
  EXPECT_TRUE(reference("time-limit", "time-limit").serves({1e-9, 1e-9, 60.0}));
  EXPECT_FALSE(reference("time-limit", "time-limit").serves({1e-9, 1e-9, 61.0})) << "would have more time";
  EXPECT_FALSE(reference("time-limit", "time-limit").serves({1e-9, 1e-9, 0.0})) << "would have more time";
  EXPECT_TRUE(reference("converged", "time-limit").serves({1e-8, 1e-9, 60.0}));
  EXPECT_FALSE(reference("converged", "interrupted").serves({1e-8, 1e-9, 60.0}));
}

TEST(Reference, SaysWhetherItsTimeLimitEndedIt) {
  EXPECT_FALSE(reference("converged", "gap-reached").ended_by_time_limit());
  EXPECT_FALSE(reference("stalled", "stalled").ended_by_time_limit());
  EXPECT_TRUE(reference("time-limit", "time-limit").ended_by_time_limit());
  EXPECT_TRUE(reference("converged", "time-limit").ended_by_time_limit()) << "while it looked for a bound";
}

TEST(Reference, OfASolverThatGoesByTheGapServesWhereItWouldGetNoBetter) {
  const Reference one = Reference::from({{"objective", 100.0},
                                         {"kkt", 1e-7},
                                         {"kkt_at_zero", 10.0},
                                         {"relative_kkt", 1e-8},
                                         {"l1", 50.0},
                                         {"tol", 0.0},
                                         {"reference_gap", 1e-9},
                                         {"time_limit", 60.0},
                                         {"status", "time-limit"},
                                         {"dual", 99.0}});
  EXPECT_TRUE(one.serves({1e-8, 1e-9, 60.0})) << "it had no more time";
  EXPECT_FALSE(one.serves({1e-8, 1e-9, 61.0})) << "it would have more";
}

TEST(Reference, OfBeforeThereWereBoundsIsReadAndServesWhoWantsNone) {
  nlohmann::ordered_json json = {{"objective", 100.0},    {"kkt", 1e-7},    {"kkt_at_zero", 10.0},
                                 {"relative_kkt", 1e-8},  {"l1", 50.0},     {"tol", 1e-8},
                                 {"status", "converged"}, {"dual", nullptr}};
  json["time_limit"] = 60.0;
  const Reference older = Reference::from(json);
  EXPECT_TRUE(std::isnan(older.relative_gap()));
  EXPECT_GT(older.slack(1.0), 0.0);
  EXPECT_TRUE(older.serves({1e-8, 0.0, 60.0}));
  EXPECT_FALSE(older.serves({1e-8, 1e-9, 60.0})) << "so that it is made again";
  json.erase("dual");
  EXPECT_TRUE(std::isnan(Reference::from(json).dual));
}

TEST(Reference, AFileThatIsNoneIsAnError) {
  const TestFolder folder;
  try {
    read_reference(folder.write("r.json", R"({"objective": 1.0})"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("expected a stored reference (delete the file"));
  }
}

}  // namespace
}  // namespace proxbench
