#include "experiments/config/path_grid.h"

#include <gtest/gtest.h>

#include <tuple>

#include "core/base/error.h"

namespace proxbench {
namespace {

TEST(PathGrid, GoesDownByAConstantFactor) {
  const std::vector<double> lambdas = parse_path("path(100, 0.01, 5)", "--lambda").lambdas(1.0);
  ASSERT_EQ(lambdas.size(), 5u);
  const double expected[] = {100.0, 10.0, 1.0, 0.1, 0.01};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(lambdas[i], expected[i], 1e-12 * expected[i]);
  EXPECT_EQ(lambdas.front(), 100.0);
  EXPECT_EQ(lambdas.back(), 0.01);
}

TEST(PathGrid, TakesMultiplesOfLambdaMax) {
  const PathGrid grid = parse_path(" path(max,0.01 * max, 3) ", "--lambda");
  EXPECT_EQ(grid.text(), "path(max, 0.01*max, 3)");
  EXPECT_EQ(grid.file_text(), "path-max-0.01max-3");
  const std::vector<double> lambdas = grid.lambdas(200.0);
  EXPECT_EQ(lambdas.front(), 200.0);
  EXPECT_NEAR(lambdas[1], 20.0, 1e-12);
  EXPECT_EQ(lambdas.back(), 2.0);
  EXPECT_EQ(parse_path("path(max, 50, 2)", "").lambdas(80.0), (std::vector<double>{80.0, 50.0}));
  EXPECT_THROW(parse_path("path(max, 50, 2)", "").lambdas(40.0), Error);
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
    PathProblem problem;
    EXPECT_FALSE(parse_path(text, problem));
    EXPECT_EQ(problem.offset, offset);
    EXPECT_NE(problem.text.find(expected), std::string::npos) << problem.text;
  }
}

}  // namespace
}  // namespace proxbench
