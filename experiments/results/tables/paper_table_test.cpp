#include "experiments/results/tables/paper_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

proxbench::Run optimum(const std::string& dataset, double lambda, std::uint64_t nnz, double accuracy,
                       double relative_kkt = 1e-8, const std::string& label = "prox-newton") {
  proxbench::Run run;
  run.parameters.dataset = dataset;
  run.parameters.solver = run.parameters.label = label;
  run.parameters.lambda = lambda;
  run.set_status(relative_kkt <= 1e-7 ? "converged" : "time-limit");
  run.parameters.tol = 1e-7;
  run.result.certificate.objective = 1.0;
  run.result.certificate.nnz = nnz;
  run.result.certificate.kkt = relative_kkt;
  run.result.kkt_at_zero = 1.0;
  run.result.test_accuracy = accuracy;
  return run;
}

/// Two splits that differ by their seed, and an unrelated data set. The paper prints nothing for lambda = 9.
Presentation presentation() {
  Presentation out;
  out.title = "Five splits";
  out.paper.item = "Table 1";
  out.paper.lambdas = {50, 100};
  out.paper.nnz = {2000, 1000};
  out.paper.accuracy = {0.8, 0.7};
  out.sources = {{"seed1", "ocr"}, {"other", "words"}, {"seed2", "ocr"}};
  return out;
}

TEST(PaperTable, StandsTheOptimumBesideThePapersNumbers) {
  const auto rows = compare_with_paper({optimum("seed1", 50, 2100, 0.75)}, presentation());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].paper_nnz, 2000);
  EXPECT_NEAR(rows[0].nnz_difference(), 0.05, 1e-15);
  EXPECT_NEAR(rows[0].accuracy_difference(), -0.05, 1e-15);
  EXPECT_TRUE(rows[0].optimal);
}

TEST(PaperTable, TakesTheRunNearestToTheOptimum) {
  const auto rows = compare_with_paper(
      {optimum("a", 50, 1, 0.1, 1e-2, "owl-qn"), optimum("a", 50, 2, 0.2, 1e-9, "prox-newton"),
       optimum("a", 50, 3, 0.3, std::nan(""), "sgd")},
      presentation());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].label, "prox-newton");
  EXPECT_EQ(rows[0].nnz, 2);
}

TEST(PaperTable, DataSetsThatDifferBySeedGetMeanAndDeviation) {
  const auto rows = compare_with_paper(
      {optimum("seed1", 50, 1990, 0.80), optimum("seed1", 100, 900, 0.6), optimum("other", 50, 5, 0.5),
       optimum("seed2", 50, 2030, 0.84), optimum("seed2", 100, 1100, 0.7)},
      presentation());
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[0].dataset, "seed1");
  EXPECT_EQ(rows[1].dataset, "seed2");
  EXPECT_EQ(rows[2].kind, kMeanRow);
  EXPECT_EQ(rows[2].lambda, 50);
  EXPECT_EQ(rows[2].nnz, 2010);
  EXPECT_NEAR(rows[2].accuracy_difference(), 0.02, 1e-15);
  EXPECT_EQ(rows[3].kind, kDeviationRow);
  EXPECT_NEAR(rows[3].nnz, std::sqrt(2.0) * 20, 1e-12);
  EXPECT_TRUE(std::isnan(rows[3].paper_nnz));
  EXPECT_EQ(rows[4].lambda, 100);
  EXPECT_EQ(rows[8].dataset, "other") << "no mean of one";
}

TEST(PaperTable, WhatIsNoOptimumIsMarkedAndInNoMean) {
  const std::vector<proxbench::Run> runs{optimum("seed1", 50, 1990, 0.80),
                                         optimum("seed2", 50, 10, 0.1, 1e-3)};
  const auto rows = compare_with_paper(runs, presentation());
  ASSERT_EQ(rows.size(), 3u) << "one optimum has no deviation";
  EXPECT_FALSE(rows[1].optimal);
  EXPECT_EQ(rows[2].nnz, 1990);
  EXPECT_EQ(rows[2].used, 1u);
  EXPECT_EQ(rows[2].total, 2u);
  const std::string text = markdown_grid(paper_table(runs, presentation()).tables[0]);
  EXPECT_THAT(text,
              HasSubstr("| seed1, lambda = 50 | prox-newton: converged | 2000 | 1990 | -0.5 % | 0.800000 | "
                        "0.800000 | +0.0000 | 1.0e-08 |"));
  EXPECT_THAT(
      text,
      HasSubstr("| seed2, lambda = 50 | prox-newton: time-limit, NOT AN OPTIMUM | 2000 | (10) | (-99.5 %) | "
                "0.800000 | (0.100000) | (-0.7000) | 1.0e-03 |"));
  EXPECT_THAT(text, HasSubstr("| mean of 1 of 2, lambda = 50 |"));
  EXPECT_THAT(paper_table(runs, presentation()).tables[0].notes,
              testing::ElementsAre(HasSubstr("are in no mean")));
  EXPECT_EQ(compare_with_paper({optimum("seed1", 50, 1, 0.1, 1.0), optimum("seed2", 50, 1, 0.1, 1.0)},
                               presentation())
                .size(),
            2u);
}

TEST(PaperTable, WhatThePaperDoesNotPrintIsLeftOpen) {
  proxbench::Run run = optimum("a", 9, 7, 0.5);
  run.result.test_accuracy = std::nan("");
  const TableSet set = paper_table({run}, presentation());
  EXPECT_THAT(markdown_grid(set.tables[0]),
              HasSubstr("| a, lambda = 9 | prox-newton: converged | - | 7 | - | - | - | - | 1.0e-08 |"));
  EXPECT_THAT(set.text("csv"), HasSubstr("\nrun,a,9,0,prox-newton,converged,true,1,1,,7,,,,,1e-08\n"));
}

TEST(PaperTable, IsWrittenInAllFormats) {
  const TestFolder folder;
  const std::vector<proxbench::Run> runs{optimum("seed1", 50, 2100, 0.75)};
  paper_table(runs, presentation()).write(folder / "tables");
  EXPECT_THAT(read_text(folder / "tables/paper.md"),
              HasSubstr("## Five splits\n\n### Table 1 of the paper, and ours\n\n| data | "));
  EXPECT_THAT(read_text(folder / "tables/paper.tex"), HasSubstr("\\begin{tabular}{llrrrrrrr}"));
  EXPECT_THAT(read_text(folder / "tables/paper.tex"), HasSubstr("+5.0 \\%"));
  EXPECT_THAT(read_text(folder / "tables/paper.csv"),
              HasSubstr("run,seed1,50,0,prox-newton,converged,true,1,1,2000,2100,0.05"));
}

}  // namespace
}  // namespace proxbench
