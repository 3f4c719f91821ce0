#include "experiments/results/tables/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "experiments/config/ini.h"

namespace proxbench {
namespace {

using testing::EndsWith;
using testing::StartsWith;

proxbench::Run made_up() {
  proxbench::Run run;
  RunParameters& p = run.parameters;
  p.experiment = "e";
  p.dataset = "ocr";
  p.solver = "prox-newton";
  p.label = "fast";
  p.lambda = 0.1;
  p.repetition = 2;
  p.seed = 9007199254740991;
  p.solver_options = {{"memory", "20"}, {"sigma", "0.5"}};
  run.result.description = "words, \"made\" up";
  run.result.certificate.objective = 101.0;
  run.result.certificate.nnz = 7;
  run.result.seconds = 1.0 / 3.0;
  run.result.load_seconds = 0.25;
  run.result.notes = {{"hessians", 2.0}, {"restarts", 1.0}};
  run.set_status("converged");
  run.best.objective = 100.0;
  run.best.relative_kkt = 1e-9;
  run.provenance.machine = "m";
  run.trace.resize(2);
  run.trace[0].objective = 200.0;
  run.trace[1].seconds = 1.0 / 3.0;
  run.trace[1].objective = 101.0;
  return run;
}

/// Returns the last row of a table's CSV, by column.
std::map<std::string, std::string> last_row(const ExportTable& table) {
  std::istringstream lines(csv_text(table));
  std::string head, line, last;
  std::getline(lines, head);
  while (std::getline(lines, line)) last = line;
  const std::vector<std::string> names = split_list(head), cells = split_list(last);
  EXPECT_EQ(names.size(), cells.size());
  std::map<std::string, std::string> row;
  for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i)
    EXPECT_TRUE(row.emplace(names[i], cells[i]).second) << "twice: " << names[i];
  return row;
}

TEST(Export, ARunIsOneRow) {
  auto row = last_row(table_of_runs({made_up()}));
  EXPECT_EQ(row["name"], "ocr-lambda0.1-fast-rep2");
  EXPECT_EQ(row["description"], "words;  made  up") << "no field is quoted";
  EXPECT_EQ(row["seed"], "9007199254740991");
  EXPECT_EQ(row["seconds"], "0.3333333333333333");
  EXPECT_EQ(row["relative_difference"], "0.01");
  EXPECT_EQ(row["load_seconds"], "0.25");
  EXPECT_EQ(row["warm_up_seconds"], "");
  EXPECT_EQ(row["test_accuracy"], "");
  EXPECT_EQ(row["comparable"], "true");
  EXPECT_EQ(row["machine_name"], "m");
  EXPECT_EQ(row["options"], "memory=20 sigma=0.5");
  EXPECT_EQ(row["notes"], "hessians=2 restarts=1");
  EXPECT_EQ(row["reference_objective"], "100");
  EXPECT_EQ(row["reference_relative_kkt"], "1e-09");
}

TEST(Export, HoldsEveryFieldThatIsAColumnAndNoJson) {
  const ExportTable table = table_of_runs({made_up()});
  auto row = last_row(table);
  for (const Field<proxbench::Run>& field : run_fields())
    EXPECT_TRUE(field.use == FieldUse::kRecord || row.contains(column_name(field))) << column_name(field);
  EXPECT_FALSE(row.contains("phases")) << "a list of objects is no cell";
  for (const auto& cell : table.rows.front()) EXPECT_FALSE(cell.is_structured()) << cell;
}

TEST(Export, AFailedRunKeepsItsReason) {
  proxbench::Run run = made_up();
  run.result = {};
  run.set_status("failed");
  run.result.reason = "no memory,\nthen none";
  run.timing.comparable = false;
  run.best = {};
  auto row = last_row(table_of_runs({run}));
  EXPECT_EQ(row["status"], "failed");
  EXPECT_EQ(row["reason"], "no memory; then none");
  EXPECT_EQ(row["objective"], "");
  EXPECT_EQ(row["relative_difference"], "");
  EXPECT_EQ(row["reference_objective"], "");
  EXPECT_EQ(row["comparable"], "false");
}

TEST(Export, SamplesAreRowsThatNameTheirRun) {
  proxbench::Run empty = made_up();
  empty.trace.clear();
  const ExportTable table = table_of_samples({empty, made_up()});
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(
      csv_text(table),
      StartsWith("name,experiment,dataset,lambda,mu,path,solver,label,repetition,seconds,cpu_seconds,"));
  EXPECT_THAT(
      csv_text(table),
      EndsWith("\nocr-lambda0.1-fast-rep2,e,ocr,0.1,0,,prox-newton,fast,2,0.3333333333333333,0,0,0,,101,"
               "0,0,0,,,,,,,,0.01\n"));
}

TEST(Export, APathHasItsTextInThePlaceOfALambda) {
  proxbench::Run run = made_up();
  run.parameters.lambda = 0.0;
  run.best = {};
  run.parameters.path = "path(20, 10, 2)";
  run.folder = "runs/ocr-path-20-10-2-fast-rep2";
  auto row = last_row(table_of_runs({run}));
  EXPECT_EQ(row["path"], "path(20; 10; 2)");
  EXPECT_EQ(row["lambda"], "");
  EXPECT_EQ(row["mu"], "0");
  EXPECT_EQ(row["relative_difference"], "");
  EXPECT_EQ(last_row(table_of_runs({made_up()}))["path"], "");
}

TEST(Export, ASampleOfAPathHasTheLambdaOfItsPoint) {
  proxbench::Run path = made_up();
  path.parameters.path = "path(20, 10, 2)";
  path.parameters.mu = 0.5;
  path.points = {PathPoint{.number = 1, .lambda = 20.0, .mu = 0.5, .seconds = 1.0},
                 PathPoint{.number = 2, .lambda = 10.0, .mu = 0.5, .seconds = 2.0}};
  path.trace.resize(4);
  for (std::size_t i = 0; i < 4; ++i) path.trace[i].seconds = static_cast<double>(i + 1) * 0.75;
  path.trace[1].seconds = 1.0;  // at the end of the first point
  std::vector<std::string> lambdas;
  for (const Json& row : table_of_samples({path}).rows) {
    lambdas.push_back(row["lambda"].dump());
    EXPECT_EQ(row["mu"], 0.5);
  }
  EXPECT_THAT(lambdas, testing::ElementsAre("20.0", "20.0", "null", "null")) << "samples after 2 s";
  path.points[1].seconds = 2.5;
  EXPECT_EQ(table_of_samples({path}).rows[2]["lambda"], 10.0);
}

TEST(Export, PointsOfPathsAreRowsOfTheirOwn) {
  proxbench::Run path = made_up();
  path.points = {PathPoint{.number = 1, .lambda = 20.0}, PathPoint{.number = 2, .lambda = 10.0}};
  path.folder = "runs/a,b";
  path.points[1].certificate.nnz = 7;
  const ExportTable table = table_of_points({path});
  EXPECT_EQ(table.rows.size(), 2u);
  auto last = last_row(table);
  EXPECT_EQ(last["name"], "a;b");
  EXPECT_EQ(last["label"], "fast");
  EXPECT_EQ(last["point"], "2");
  EXPECT_EQ(last["lambda"], "10");
  EXPECT_EQ(last["nnz"], "7");
  EXPECT_EQ(last["test_accuracy"], "");
  EXPECT_EQ(last["status"], "converged");
}

}  // namespace
}  // namespace proxbench
