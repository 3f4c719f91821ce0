#include "experiments/results/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "experiments/base/test_folder.h"
#include "experiments/results/run_columns.h"

namespace proxbench {
namespace {

template <class Record>
std::set<std::string> names_of(const std::vector<Field<Record>>& fields) {
  std::set<std::string> out;
  for (const Field<Record>& field : fields) {
    EXPECT_TRUE(out.insert(field.section + "." + field.name).second) << "twice: " << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
  }
  return out;
}

TEST(Fields, HaveNamesOfTheirOwn) {
  names_of(run_parameters());
  names_of(run_figures());
  names_of(trace_columns());
  std::set<std::string> columns;
  for (const RunColumn& column : run_columns())
    EXPECT_TRUE(columns.insert(column.name).second) << column.name;
  for (const Field<RunFigures>& figure : run_figures())
    EXPECT_EQ(columns.contains(figure.name), figure.use != FieldUse::kRecord) << figure.name;
}

TEST(Fields, OfASummaryAreTheAgreedKeys) {
  const nlohmann::ordered_json summary = summary_json({}, {});
  for (const char* key : {"solver", "status", "objective", "loss", "l1", "nnz", "kkt", "dual", "gap",
                          "relative_gap", "d", "instances", "positions", "iterations", "passes", "seconds",
                          "cpu_seconds", "peak_rss_bytes", "test_accuracy"}) {
    ASSERT_TRUE(summary.contains(key)) << key;
    EXPECT_TRUE(summary[key].is_null()) << key << " does not apply where nothing was run";
  }
  EXPECT_EQ(summary["lambda"], 1.0);
  EXPECT_EQ(summary["threads"], 1);
}

TEST(Fields, OfAResultStandInTheirSections) {
  RunParameters parameters;
  parameters.solver = "owl-qn";
  parameters.gap_target = 0.5;
  RunFigures figures;
  figures.status = Status::kStalled;
  figures.certificate = {.objective = 4.0, .kkt = 3.0, .dual = 3.0, .nnz = 7};
  figures.kkt_at_zero = 6.0;
  figures.setup_seconds = 0.25;
  const nlohmann::ordered_json result = result_json(parameters, figures);
  EXPECT_EQ(result["solver"], "owl-qn");
  EXPECT_EQ(result["gap_target"], 0.5);
  EXPECT_EQ(result["status"], "stalled");
  EXPECT_EQ(result["nnz"], 7);
  EXPECT_EQ(result["relative_kkt"], 0.5);
  EXPECT_EQ(result["gap"], 1.0);
  EXPECT_EQ(result["relative_gap"], 0.25);
  EXPECT_EQ(result["timing"]["setup_seconds"], 0.25);
  EXPECT_FALSE(result.contains("setup_seconds"));
  EXPECT_EQ(summary_json(parameters, figures)["setup_seconds"], 0.25);
}

TEST(Fields, OfAJobAreAllReadBack) {
  RunParameters job;
  job.path = "path(max, 50, 50)";
  job.files.train = {"/a", "/b"};
  job.files.hierarchy = "/h";
  job.seed = 18446744073709551615u;
  job.objective_target = 12.5;
  job.sample_kkt = true;
  const nlohmann::ordered_json json = job_json(job);
  const RunParameters read = job_from(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(read.path, job.path);
  EXPECT_EQ(read.files.train, job.files.train);
  EXPECT_EQ(read.files.hierarchy, "/h");
  EXPECT_EQ(read.seed, job.seed);
  EXPECT_EQ(read.objective_target, 12.5);
  EXPECT_TRUE(read.sample_kkt);
  EXPECT_EQ(job_json(read), json);
  for (const auto& item : json.items()) {
    nlohmann::json without = nlohmann::json::parse(json.dump());
    without.erase(item.key());
    EXPECT_THROW(job_from(without), nlohmann::json::exception) << item.key();
  }
}

TEST(Fields, TheReadmeHoldsTheTables) {
  const std::string readme = read_text(PROXBENCH_SOURCE_DIR "/experiments/results/README.md");
  for (const DocBlock& block : field_blocks())
    EXPECT_NE(readme.find("\n" + block.text), std::string::npos)
        << block.name << ": experiments/results/README.md is behind the tables: run scripts/update-docs";
}

}  // namespace
}  // namespace proxbench
