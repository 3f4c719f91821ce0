#include "experiments/config/run_penalty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "experiments/config/ini_values.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

TEST(Strength, MayBeANumber) {
  const Strength number = 1e-6;
  EXPECT_FALSE(number.is_path());
  EXPECT_EQ(number.number(), 1e-6);
  EXPECT_EQ(number.text(), "1e-6");
  EXPECT_THROW(parse_path("path(2, 1, 2)", "lambda").number(), Error);
}

TEST(Strength, IsANumberOrATextInARecord) {
  for (const Strength& one : {Strength(0.25), parse_path("path(max, 0.01*max, 50)", "lambda")})
    EXPECT_EQ(Strength::from_value(one.to_value()), one);
  EXPECT_EQ(Strength(0.25).to_value().as<double>(), 0.25);
}

TEST(RunPenalty, NamesFiles) {
  EXPECT_EQ(RunPenalty(100.0, 0.0).file_text(false), "lambda100");
  EXPECT_EQ(RunPenalty(100.0, 0.5).file_text(true), "lambda100-mu0.5");
  EXPECT_THROW(RunPenalty(parse_path("path(2, 1, 2)", "lambda"), 0.0).single(), Error);
  EXPECT_EQ(RunPenalty(2.0, 0.5).single(), (Penalty{2.0, 0.5}));
}

TEST(RunPenalty, OverMuHasNumbersAlone) {
  const RunPenalty penalty(0.5, parse_path("path(10, 0.1, 3)", "mu"));
  EXPECT_EQ(penalty.path().text(), "path(10, 0.1, 3)");
  EXPECT_EQ(penalty.file_text(false), "lambda0.5-mu-path-10-0.1-3");
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

TEST(Strength, GoesDownByAConstantFactor) {
  const std::vector<double> lambdas = parse_path("path(100, 0.01, 5)", "lambda").values(1.0);
  ASSERT_EQ(lambdas.size(), 5u);
  const double expected[] = {100.0, 10.0, 1.0, 0.1, 0.01};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(lambdas[i], expected[i], 1e-12 * expected[i]);
  EXPECT_EQ(lambdas.front(), 100.0);
  EXPECT_EQ(lambdas.back(), 0.01);
}

TEST(Strength, TakesMultiplesOfLambdaMax) {
  const Strength grid = parse_path("path(max,0.01 * max, 3)", "lambda");
  EXPECT_EQ(grid.text(), "path(max, 0.01*max, 3)");
  EXPECT_EQ(RunPenalty(grid, 0.0).file_text(true), "path-max-0.01max-3-mu0");
  const std::vector<double> lambdas = grid.values(200.0);
  EXPECT_EQ(lambdas.front(), 200.0);
  EXPECT_NEAR(lambdas[1], 20.0, 1e-12);
  EXPECT_EQ(lambdas.back(), 2.0);
  EXPECT_EQ(parse_path("path(max, 50, 2)", "lambda").values(80.0), (std::vector<double>{80.0, 50.0}));
  EXPECT_THROW(parse_path("path(max, 50, 2)", "lambda").values(40.0), Error);
}

TEST(Strength, StatesWhatIsWrongAndWhere) {
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
