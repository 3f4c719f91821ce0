#include "experiments/results/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

std::set<std::string> names_of(const OptionTable& fields) {
  std::set<std::string> out;
  for (const OptionSpec& field : fields) {
    EXPECT_TRUE(out.insert(field.section + "." + field.field_name()).second) << "twice: " << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
  }
  return out;
}

TEST(Fields, HaveNamesOfTheirOwn) {
  names_of(run_fields().specs());
  names_of(trace_columns().specs());
  names_of(path_columns().specs());
  std::set<std::string> columns;
  for (const OptionSpec& field : run_fields().specs())
    EXPECT_TRUE(field.field_use() == FieldUse::kRecord || columns.insert(column_name(field)).second)
        << column_name(field);
}

TEST(Fields, OfASummaryAreTheAgreedKeys) {
  const nlohmann::ordered_json summary = summary_json({}, {});
  for (const char* key : {"solver", "status", "objective", "loss", "l1", "nnz", "kkt", "dual", "gap",
                          "relative_gap", "d", "instances", "positions", "iterations", "passes", "seconds",
                          "cpu_seconds", "peak_rss_bytes", "test_accuracy"}) {
    ASSERT_TRUE(summary.contains(key)) << key;
    EXPECT_TRUE(summary[key].is_null()) << key << " does not apply where nothing was run";
  }
  EXPECT_EQ(summary["lambda"], 0.0);
  EXPECT_EQ(summary["threads"], 1);
}

/// A run with a different value in every field.
proxbench::Run made_up() {
  proxbench::Run run;
  run.parameters.solver = "owl-qn";
  run.parameters.penalty = {kNaN, 0.5};
  run.parameters.path = PenaltyPath{{1.0, true}, {50.0}, 50};
  run.parameters.files.train = {"/a", "/b"};
  run.parameters.files.hierarchy = "/h";
  run.parameters.seed = 18446744073709551615u;
  run.parameters.objective_target = 12.5;
  run.parameters.loss = Loss{Loss::Kind::kHinge, Cost::kHammingMean};
  run.parameters.solver_options = {{"memory", "20"}};
  run.key = {"abc", "d", "e", "", "avx2", 1e-3};
  RunFigures& result = run.result;
  result.status = Status::kStalled;
  result.certificate = {.objective = 4.0, .kkt = 3.0, .dual = 3.0, .nnz = 7};
  result.kkt_at_zero = 6.0;
  result.setup_seconds = 0.25;
  result.audits = 3;
  result.audit_max_difference = 1e-12;
  result.notes = {{"hessians", 2.0}};
  result.test_metrics = {{"accuracy", 0.5}};
  result.tighten = {Status::kGapReached, 1e-9, 12, 0.5};
  result.phases = {{.phase = "scores", .calls = 2, .seconds = 1.5}};
  result.d = 12;
  run.timing = {false, "two at a time", {0, 1}, {0}, {"OMP_PROC_BIND=true"}};
  run.best = {3.5, 1e-9, 1e-10, 6.0};
  run.provenance.git_revision = "0123";
  run.provenance.libraries = {{"fmt", "9.1.0"}};
  run.provenance.load = {0.5, 0.25, 0.125};
  return run;
}

TEST(Fields, StandInTheirSections) {
  const proxbench::Run run = made_up();
  const nlohmann::ordered_json json = run_json(run);
  EXPECT_EQ(json["run"]["solver"], "owl-qn");
  EXPECT_EQ(json["run"]["data"]["train"], (nlohmann::ordered_json{"/a", "/b"}));
  EXPECT_TRUE(json["run"]["lambda"].is_null());
  EXPECT_EQ(json["run"]["path"], "path(max, 50, 50)");
  EXPECT_FALSE(json.contains("lambda")) << "it is stated once";
  EXPECT_EQ(json["status"], "stalled");
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["nnz"], 7);
  EXPECT_EQ(json["relative_kkt"], 0.5);
  EXPECT_EQ(json["gap"], 1.0);
  EXPECT_EQ(json["relative_gap"], 0.25);
  EXPECT_EQ(json["timing"]["setup_seconds"], 0.25);
  EXPECT_FALSE(json.contains("setup_seconds"));
  EXPECT_EQ(json["reference"]["objective"], 3.5);
  EXPECT_EQ(json["provenance"]["program"]["git_revision"], "0123");
  const nlohmann::ordered_json summary = summary_json(run.parameters, run.result);
  EXPECT_EQ(summary["setup_seconds"], 0.25);
  EXPECT_EQ(summary["solver"], "owl-qn");
}

TEST(Fields, OfARunAreAllReadBack) {
  for (const proxbench::Run& run : {made_up(), proxbench::Run{}}) {
    const nlohmann::ordered_json json = run_json(run);
    const nlohmann::json parsed = nlohmann::json::parse(json.dump());
    EXPECT_EQ(nlohmann::json(run_json(run_from(parsed, "a test"))), parsed);
  }
  proxbench::Run failed = made_up();
  failed.set_status("crashed(SIGSEGV)");
  EXPECT_EQ(run_from(run_json(failed), "a test").result.status, Status::kCrashed);
  EXPECT_TRUE(run_from(run_json(failed), "a test").failed());
}

TEST(Fields, ARunThatDivergedHasFailed) {
  proxbench::Run run;
  run.set_status("diverged");
  EXPECT_TRUE(run.failed());
  run.set_status("stalled");
  EXPECT_FALSE(run.failed());
  for (const auto& status : fields_json()["statuses"]) EXPECT_NE(status, "diverged");
}

TEST(Fields, ANumberThatWasNotFiniteProvesNothingWhenItIsReadBack) {
  proxbench::Run run = made_up();
  run.result.certificate.rounding = std::numeric_limits<double>::infinity();
  ASSERT_FALSE(run.result.certificate.proves());
  const proxbench::Run back = run_from(nlohmann::json::parse(run_json(run).dump()), "a test");
  EXPECT_FALSE(back.result.certificate.proves());
  EXPECT_TRUE(std::isnan(back.result.certificate.gap()));
}

TEST(Fields, RefuseANullThatNoRecordHas) {
  for (const char* key : {"threads", "seed", "solver", "loss_function"}) {
    nlohmann::json json = run_json(made_up());
    json.at("run").at(key) = nullptr;
    try {
      run_from(json, "a test");
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("/run/") + key + " = null"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Fields, AreAllExpectedInARecordButThoseThatMayBeNull) {
  const nlohmann::json json = run_json(made_up());
  for (const OptionSpec& field : run_fields().specs()) {
    nlohmann::json without = json;
    nlohmann::json* at = &without;
    std::istringstream sections(field.section);
    for (std::string section; std::getline(sections, section, '.');) at = &at->at(section);
    at->erase(field.field_name());
    if (field.nullable)
      EXPECT_NO_THROW(run_from(without, "a test")) << field.name;
    else
      EXPECT_THROW(run_from(without, "a test"), Error) << field.name;
  }
}

}  // namespace
}  // namespace proxbench
