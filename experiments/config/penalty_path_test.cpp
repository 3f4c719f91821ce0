#include "experiments/config/penalty_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "experiments/config/ini_values.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

PenaltyPath path_of(const std::string& text) {
  return parse_path(text, "lambda");
}

TEST(PenaltyPath, IsATextInARecord) {
  const PenaltyPath path = path_of("path(max, 0.01*max, 50)");
  EXPECT_EQ(PenaltyPath::from_value(path.to_value()), path);
}

TEST(PenaltyList, HasNumbersAndPaths) {
  const PenaltyList list{{2.0, 0.25}, {path_of("path(max, 0.1*max, 2)")}};
  const PenaltyList again = PenaltyList::from_value(list.to_value());
  EXPECT_EQ(again.numbers, list.numbers);
  EXPECT_EQ(again.paths, list.paths);
  EXPECT_EQ(list.values(10.0), (std::vector<double>{10.0, 2.0, 1.0, 0.25}));
  EXPECT_EQ(PenaltyList().values(10.0), std::vector<double>{0.0});
  EXPECT_EQ(list.largest(), 2.0);
}

TEST(RunPenalty, NamesFiles) {
  EXPECT_EQ((RunPenalty{{100.0, 0.0}}).file_text(), "lambda100");
  EXPECT_EQ((RunPenalty{{1e5, 1e-5}}).file_text(), "lambda100000-mu1e-05");
  EXPECT_EQ((RunPenalty{{kNaN, 0.0}, path_of("path(max, 0.01*max, 3)")}).file_text(), "path-max-0.01max-3");
}

TEST(RunPenalty, OverMuHasNumbersAlone) {
  const RunPenalty penalty{{0.5, kNaN}, parse_path("path(10, 0.1, 3)", "mu")};
  EXPECT_EQ(penalty.path->text(), "path(10, 0.1, 3)");
  EXPECT_EQ(penalty.file_text(), "lambda0.5-mu-path-10-0.1-3");
  const std::vector<Penalty> penalties = penalty.penalties(7.0);
  ASSERT_EQ(penalties.size(), 3u);
  EXPECT_EQ(penalties.front(), (Penalty{0.5, 10.0}));
  EXPECT_EQ(penalties.back(), (Penalty{0.5, 0.1}));
  for (const char* text : {"path(max, 1, 3)", "path(2*max, 1, 3)"}) {
    try {
      parse_path(text, "mu");
      FAIL();
    } catch (const ValueError& error) {
      EXPECT_EQ(error.offset, 5u);
      EXPECT_THAT(error.what(), HasSubstr("over mu, expected a number, e.g. path(10, 0.1, 20)"));
    }
  }
}

TEST(PenaltyPath, GoesDownByAConstantFactor) {
  const std::vector<double> lambdas = path_of("path(100, 0.01, 5)").values(1.0);
  ASSERT_EQ(lambdas.size(), 5u);
  const double expected[] = {100.0, 10.0, 1.0, 0.1, 0.01};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(lambdas[i], expected[i], 1e-12 * expected[i]);
  EXPECT_EQ(lambdas.front(), 100.0);
  EXPECT_EQ(lambdas.back(), 0.01);
}

TEST(PenaltyPath, TakesMultiplesOfLambdaMax) {
  const PenaltyPath grid = path_of("path(max,0.01 * max, 3)");
  EXPECT_EQ(grid.text(), "path(max, 0.01*max, 3)");
  const std::vector<double> lambdas = grid.values(200.0);
  EXPECT_EQ(lambdas.front(), 200.0);
  EXPECT_NEAR(lambdas[1], 20.0, 1e-12);
  EXPECT_EQ(lambdas.back(), 2.0);
  EXPECT_EQ(path_of("path(max, 50, 2)").values(80.0), (std::vector<double>{80.0, 50.0}));
  EXPECT_THROW(path_of("path(max, 50, 2)").values(40.0), Error);
}

TEST(PenaltyPath, StatesWhatIsWrongAndWhere) {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> cases = {
      {"path", 0, "found 'path', expected path(START, END, COUNT)"},
      {"path(max, 50", 0, "expected path(START, END, COUNT)"},
      {"path(max, 50)", 0, "with 2 values"},
      {"path(most, 50, 9)", 5, "found 'most' as START"},
      {"path(max, -50, 9)", 10, "found '-50' as END"},
      {"path(max, 2max, 9)", 10, "found '2max' as END"},
      {"path(max, 50, 1)", 14, "found '1' as COUNT"},
      {"path(max, 50, 2.5)", 14, "found '2.5' as COUNT"},
      {"path(50, 100, 9)", 9, "found END = 100 of a path from 50"},
      {"path(max, 2*max, 9)", 10, "found END = 2*max of a path from max"},
  };
  for (const auto& [text, offset, expected] : cases) {
    SCOPED_TRACE(text);
    try {
      parse_path(text, "lambda");
      FAIL();
    } catch (const ValueError& error) {
      EXPECT_EQ(error.offset, offset);
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  }
}

}  // namespace
}  // namespace proxbench
