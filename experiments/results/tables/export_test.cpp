#include "experiments/results/tables/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace proxbench {
namespace {

using testing::ElementsAre;

/// Reads RFC 4180 by its own rules: quoted fields may hold commas, line breaks and doubled quotes.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::string field;
  bool quoted = false, open_row = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!open_row) rows.emplace_back();
    open_row = true;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == ',' || c == '\n')) {
      rows.back().push_back(field);
      field.clear();
      open_row = c == ',';
    } else
      field += c;
  }
  return rows;
}

Run made_up() {
  Run run;
  run.experiment = "e";
  run.dataset = "ocr";
  run.description = "words, \"made\" up";
  run.solver = "prox-qn";
  run.label = "fast";
  run.lambda = 0.1;
  run.repetition = 2;
  run.reference_objective = 100.0;
  run.reference_kkt = 1e-9;
  run.status = "converged";
  run.machine = "m";
  run.summary = {{"status", "converged"},
                 {"objective", 101.0},
                 {"nnz", 7},
                 {"test_accuracy", nullptr},
                 {"seconds", 1.0 / 3.0},
                 {"timing", {{"load_seconds", 0.25}, {"comparable", true}}},
                 {"run", {{"seed", 9007199254740991}, {"options", {{"memory", "20"}}}}}};
  run.trace.resize(2);
  run.trace[0].objective = 200.0;
  run.trace[1].seconds = 1.0 / 3.0;
  run.trace[1].objective = 101.0;
  return run;
}

std::map<std::string, std::string> row_of(const Run& run) {
  const auto rows = parse_csv(csv_of_runs({run}));
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].size(), rows[1].size());
  std::map<std::string, std::string> row;
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    EXPECT_TRUE(row.emplace(rows[0][i], rows[1][i]).second) << "twice: " << rows[0][i];
  return row;
}

TEST(Export, ARunIsOneRow) {
  auto row = row_of(made_up());
  EXPECT_EQ(row["name"], "ocr-lambda0.1-fast-rep2");
  EXPECT_EQ(row["description"], "words, \"made\" up");
  EXPECT_EQ(row["seed"], "9007199254740991");
  EXPECT_EQ(row["seconds"], "0.3333333333333333");
  EXPECT_EQ(row["relative_difference"], "0.01");
  EXPECT_EQ(row["load_seconds"], "0.25");
  EXPECT_EQ(row["warm_up_seconds"], "");
  EXPECT_EQ(row["test_accuracy"], "");
  EXPECT_EQ(row["comparable"], "true");
  EXPECT_EQ(row["machine"], "m");
  EXPECT_EQ(row["options"], "{\"memory\":\"20\"}");
}

TEST(Export, AFailedRunKeepsItsReason) {
  Run run = made_up();
  run.status = "failed(exit status 1)";
  run.comparable = false;
  run.reference_objective = std::numeric_limits<double>::quiet_NaN();
  run.summary = {{"status", run.status}, {"reason", "no memory,\nthen none"}, {"objective", nullptr}};
  auto row = row_of(run);
  EXPECT_EQ(row["status"], "failed(exit status 1)");
  EXPECT_EQ(row["reason"], "no memory,\nthen none");
  EXPECT_EQ(row["objective"], "");
  EXPECT_EQ(row["relative_difference"], "");
  EXPECT_EQ(row["reference_objective"], "");
  EXPECT_EQ(row["comparable"], "false");
}

TEST(Export, SamplesAreRowsOfTheirOwn) {
  Run empty = made_up();
  empty.trace.clear();
  const auto rows = parse_csv(csv_of_samples({empty, made_up()}));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], ElementsAre("name", "seconds", "cpu_seconds", "iteration", "passes", "updates",
                                   "objective", "loss", "nnz", "working_set", "kkt", "gap", "dual_gap",
                                   "estimated_gap", "infeasibility", "test_accuracy", "test_metrics", "relative_difference"));
  EXPECT_THAT(rows[2], ElementsAre("ocr-lambda0.1-fast-rep2", "0.3333333333333333", "0", "0", "0", "", "101",
                                   "0", "0", "0", "", "", "", "", "", "", "", "0.01"));
}

TEST(Export, APathHasItsTextInThePlaceOfALambda) {
  Run run = made_up();
  run.lambda = run.reference_objective = std::numeric_limits<double>::quiet_NaN();
  run.path = "path(20, 10, 2)";
  run.folder = "runs/ocr-path-20-10-2-fast-rep2";
  auto row = row_of(run);
  EXPECT_EQ(row["path"], "path(20, 10, 2)");
  EXPECT_EQ(row["lambda"], "");
  EXPECT_EQ(row["relative_difference"], "");
  EXPECT_EQ(row_of(made_up())["path"], "");
}

TEST(Export, PointsOfPathsAreRowsOfTheirOwn) {
  StoredPath path{made_up(), {PathPoint{.lambda = 20.0}, PathPoint{.lambda = 10.0}}};
  path.run.folder = "runs/a,b";
  path.points[1].certificate.nnz = 7;
  const auto rows = parse_csv(csv_of_points({path}));
  ASSERT_EQ(rows.size(), 3u);
  std::map<std::string, std::string> last;
  for (std::size_t i = 0; i < rows[0].size(); ++i) last[rows[0][i]] = rows[2].at(i);
  EXPECT_EQ(last["name"], "a,b");
  EXPECT_EQ(last["point"], "2");
  EXPECT_EQ(last["lambda"], "10");
  EXPECT_EQ(last["nnz"], "7");
  EXPECT_EQ(last["test_accuracy"], "");
  EXPECT_EQ(last["status"], "converged");
}

}  // namespace
}  // namespace proxbench
