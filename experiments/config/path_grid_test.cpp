#include "experiments/config/path_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace proxbench {
namespace {

using testing::HasSubstr;

TEST(PathGrid, MayBeASingleValue) {
  const PathGrid grid{.start = {1e-6}};
  EXPECT_FALSE(grid.is_path());
  EXPECT_EQ(grid.value(), 1e-6);
  EXPECT_EQ(grid.text(), "1e-6");
}

TEST(PathGrid, OverMuHasNumbersAlone) {
  const PathGrid grid = parse_path("path(10, 0.1, 3)", PathOf::kMu);
  EXPECT_EQ(grid.text(), "path(10, 0.1, 3)");
  EXPECT_EQ(grid.file_text(), "mu-path-10-0.1-3");
  const std::vector<Penalty> penalties = grid.penalties(0.5, 7.0);
  ASSERT_EQ(penalties.size(), 3u);
  EXPECT_EQ(penalties.front(), (Penalty{0.5, 10.0}));
  EXPECT_EQ(penalties.back(), (Penalty{0.5, 0.1}));
  for (const char* text : {"path(max, 1, 3)", "path(2*max, 1, 3)"}) {
    try {
      parse_path(text, PathOf::kMu);
      FAIL();
    } catch (const ValueError& error) {
      EXPECT_EQ(error.offset, 5u);
      EXPECT_THAT(error.what(), HasSubstr("over mu, expected a number, e.g. path(10, 0.1, 20)"));
    }
  }
}

TEST(PathGrid, GoesDownByAConstantFactor) {
  const std::vector<double> lambdas = parse_path("path(100, 0.01, 5)", PathOf::kLambda).values(1.0);
  ASSERT_EQ(lambdas.size(), 5u);
  const double expected[] = {100.0, 10.0, 1.0, 0.1, 0.01};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(lambdas[i], expected[i], 1e-12 * expected[i]);
  EXPECT_EQ(lambdas.front(), 100.0);
  EXPECT_EQ(lambdas.back(), 0.01);
}

TEST(PathGrid, TakesMultiplesOfLambdaMax) {
  const PathGrid grid = parse_path("path(max,0.01 * max, 3)", PathOf::kLambda);
  EXPECT_EQ(grid.text(), "path(max, 0.01*max, 3)");
  EXPECT_EQ(grid.file_text(), "path-max-0.01max-3");
  const std::vector<double> lambdas = grid.values(200.0);
  EXPECT_EQ(lambdas.front(), 200.0);
  EXPECT_NEAR(lambdas[1], 20.0, 1e-12);
  EXPECT_EQ(lambdas.back(), 2.0);
  EXPECT_EQ(parse_path("path(max, 50, 2)", PathOf::kLambda).values(80.0), (std::vector<double>{80.0, 50.0}));
  EXPECT_THROW(parse_path("path(max, 50, 2)", PathOf::kLambda).values(40.0), Error);
}

TEST(PathGrid, TellsWhatIsWrongAndWhere) {
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
      parse_path(text, PathOf::kLambda);
      FAIL();
    } catch (const ValueError& error) {
      EXPECT_EQ(error.offset, offset);
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  }
}

}  // namespace
}  // namespace proxbench
