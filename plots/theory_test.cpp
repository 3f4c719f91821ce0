#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TheoryIteration iteration(int number, double error, double ratio, double order) {
  return {.iteration = number,
          .passes = 2.0 * number,
          .objective = 1.0,
          .nnz = 7,
          .kkt = 0.5,
          .error = error,
          .ratio = ratio,
          .order = order,
          .dennis_more = 0.25};
}

/// An arm whose error halves, and ends below the errors that count.
std::vector<TheoryProblem> made_up() {
  TheoryArm arm{
      .label = "fast", .support_settled_at = 3, .steps_since = 3, .unit_steps = 2, .iterations = {}};
  arm.iterations.push_back(iteration(1, 1.0, kNaN, kNaN));
  for (int t = 1; t < 4; ++t) arm.iterations.push_back(iteration(t + 1, std::pow(0.5, t), 0.5, 1.0));
  arm.iterations.push_back(iteration(5, 1e-12, 8e-12, 37.0));
  return {{.dataset = "d",
           .description = "made-up words",
           .lambda = 10.0,
           .optimum = {.nnz = 7},
           .stretch = {{"constant over labels", 1e-15}, {"random on the support", kNaN}},
           .face = {.rank = 5, .smallest = 0.5, .largest = 20.0},
           .arms = {arm}}};
}

TEST(TheoryFigures, AreOneForEachProblem) {
  const TestFolder folder;
  EXPECT_THAT(draw_all(theory_charts(made_up()), folder.path()), ElementsAre(folder / "theory-d-10.png"));
  EXPECT_THAT(read_text(folder / "theory-d-10.tsv"), HasSubstr("fast\t2\t0.5\t0.5\t0.25\t7\n"));
  for (const char* extension : {".svg", ".pdf", ".gp"})
    EXPECT_TRUE(fs::exists(folder / (std::string("theory-d-10") + extension))) << extension;
}

TEST(TheoryTables, JudgeTheEndOfAnArmWhereTheErrorIsExact) {
  const std::vector<TextTable> tables = theory_tables(made_up());
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_THAT(tables[0].rows, ElementsAre(ElementsAre("d, λ = 10", "fast", "5", "10", "3", "2 of 3",
                                                      "1.0e-12", "0.500", "1.00", "2.5e-01")));
  EXPECT_THAT(tables[1].rows, ElementsAre(ElementsAre("d, λ = 10", "7", "5", "5.0e-01", "2.0e+01",
                                                      "constant over labels", "1.0e-15"),
                                          ElementsAre("", "", "", "", "", "random on the support", "-")));
}

TEST(TheoryFile, IsReadAsItWasWritten) {
  const TestFolder folder;
  std::vector<TheoryProblem> written = made_up();
  written[0].stretch.erase("random on the support");
  folder.write("theory.json", nlohmann::json{{"problems", written}}.dump());
  const std::vector<TheoryProblem> read = read_theory(folder.path());
  ASSERT_EQ(read.size(), 1u);
  const std::vector<TextTable> expected = theory_tables(written), found = theory_tables(read);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found[i].rows, expected[i].rows);
  EXPECT_EQ(theory_charts(read).at(0).data_text(), theory_charts(written).at(0).data_text());
}

TEST(TheoryFile, IsNothingWhereMissingAndAnErrorWhereBroken) {
  const TestFolder folder;
  EXPECT_TRUE(read_theory(folder.path()).empty());
  for (const char* text : {"[]", R"({"problems": 3})", R"({"problems": [{"dataset": "d", "arms": []}]})",
                           R"({"problems": [{"dataset": "d", "lambda": "x", "arms": []}]})", "{"}) {
    folder.write("theory.json", text);
    try {
      read_theory(folder.path());
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("theory.json")) << text;
    }
  }
}

}  // namespace
}  // namespace proxbench
