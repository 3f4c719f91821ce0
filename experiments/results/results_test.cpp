#include "experiments/results/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/csv.h"
#include "experiments/results/test_results.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Sample sample(double seconds, double objective) {
  Sample s;
  s.seconds = seconds;
  s.objective = objective;
  return s;
}

void write_run(const TestFolder& out, const std::string& name, const std::string& dataset, double lambda,
               const std::string& label, int repetition, const std::string& status = "converged") {
  proxbench::Run run;
  run.parameters.dataset = dataset;
  run.parameters.penalty.lambda = lambda;
  run.parameters.label = label;
  run.parameters.repetition = repetition;
  run.set_status(status);
  make_folder(out / "runs" / name);
  write_record(out / "runs" / name / kManifestFile, run);
  out.write("runs/" + name + "/trace.csv",
            csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), sample(0, 5)) + "\n");
}

TEST(Trace, ReadsBackToTheSameBits) {
  const TestFolder folder;
  Sample s = sample(1.0 / 3.0, 12345.678901234567);
  s.cpu_seconds = 0.6;
  s.iteration = 12;
  s.passes = 13.25;
  s.updates = 11.5;
  s.loss = 1e-17;
  s.nnz = 1544;
  s.working_set = 2000;
  s.kkt = 0.125;
  s.gap = 0.25;
  s.dual_gap = 0.5;
  s.estimated_gap = 0.75;
  s.infeasibility = 0.125;
  s.test_metrics = {{"structure-accuracy", 0.75}, {"chunk-f1", 0.1}};
  EXPECT_EQ(csv_header(trace_columns()),
            "seconds,cpu_seconds,iteration,passes,updates,objective,loss,nnz,working_set,kkt,gap,dual_gap,"
            "estimated_gap,infeasibility,test_accuracy,test_metrics");
  EXPECT_EQ(
      csv_line(trace_columns(), s),
      "0.3333333333333333,0.6,12,13.25,11.5,12345.678901234567,1e-17,1544,2000,0.125,0.25,0.5,0.75,0.125,,"
      "chunk-f1=0.1 structure-accuracy=0.75");
  folder.write("t.csv", csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), s) + "\n");
  const std::vector<Sample> trace = read_trace(folder / "t.csv");
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(csv_line(trace_columns(), trace[0]), csv_line(trace_columns(), s));
  EXPECT_TRUE(std::isnan(trace[0].test_accuracy));
}

TEST(Trace, MalformedLinesAreErrorsWithFileAndLine) {
  const TestFolder folder;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      read_trace(folder.write("t.csv", text));
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  const std::string file = (folder / "t.csv").string();
  EXPECT_EQ(error("seconds\n"), file + ":1: found 'seconds', expected '" + csv_header(trace_columns()) + "'");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n1,2\n"), file + ":2: found 2 fields, expected 16");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n0,0,0,0,0,x,0,0,0,,,,,,,\n"),
            file + ":2: found objective 'x', expected a number or an empty field");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n0,0,-1,0,0,0,0,0,0,,,,,,,\n"),
            file + ":2: found iteration '-1', expected a count");
  EXPECT_EQ(error(csv_header(trace_columns()) + "\n0,0,0,0,0,0,0,0,0,,,,,,,chunk-f1\n"),
            file + ":2: found test_metrics 'chunk-f1', expected NAME=NUMBER, separated by spaces");
}

/// Reads these results. Returns the message of the error, or "" if there is none.
std::string error_of(const TestFolder& out) {
  try {
    stored_runs(out.path());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Results, ThatAreMissingOrMalformedAreErrors) {
  const TestFolder out;
  const auto error = [&] { return error_of(out); };
  write_run(out, "x", "d", 1, "a", 1);
  const std::string file = (out / "runs/x/manifest.json").string(), whole = read_text(file);
  EXPECT_EQ(error(), "");
  const std::string expected =
      ", expected the record of a run, version 3; delete it, and `proxbench run` makes the run again";
  out.write("runs/x/manifest.json", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(error(), file + ": found no complete JSON object" + expected);
  out.write("runs/x/manifest.json", R"({"status": "converged", "run": {}})");
  EXPECT_EQ(error(), file + ": found version 1" + expected) << "of the version before";
  nlohmann::json changed = nlohmann::json::parse(whole);
  changed["run"].erase("tol");
  out.write("runs/x/manifest.json", changed.dump());
  EXPECT_EQ(error(), file + ": found no key /run/tol" + expected);
  changed["run"]["tol"] = "small";
  out.write("runs/x/manifest.json", changed.dump());
  EXPECT_EQ(error(), file + ": found /run/tol = \"small\"" + expected);
}

TEST(Results, AFailedRunHasWhatItsTraceGotTo) {
  const TestFolder out;
  write_run(out, "1", "d", 1, "gone", 1, "crashed(SIGKILL)");
  write_run(out, "2", "d", 1, "cut", 1, "crashed(SIGKILL)");
  write_run(out, "3", "d", 1, "empty", 1, "crashed(SIGKILL)");
  std::filesystem::remove(out / "runs/1/trace.csv");
  repair_csv(csv_header(trace_columns()),
             out.write("runs/2/trace.csv", read_text(out / "runs/2/trace.csv") + "1,2,3"));
  repair_csv(csv_header(trace_columns()),
             out.write("runs/3/trace.csv", csv_header(trace_columns()).substr(0, 9)));
  std::map<std::string, std::size_t> samples;
  for (const StoredRun& run : stored_runs(out.path())) samples[run.parameters.label] = run.trace.size();
  EXPECT_EQ(samples, (std::map<std::string, std::size_t>{{"gone", 0}, {"cut", 1}, {"empty", 0}}));
}

TEST(Results, FilesAppearWholeOrNotAtAll) {
  const TestFolder folder;
  write_file_atomically(folder / "a", "one");
  write_file_atomically(folder / "a", "two");
  EXPECT_EQ(read_text(folder / "a"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  try {
    write_file_atomically(folder / "a/b", "three");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr((folder / "a/b").string() + ": cannot be written: open: Not a directory"));
  }
  write_file_atomically("/dev/null", "a device stays a device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_symlink(folder / "a", folder / "link");
  write_file_atomically(folder / "link", "four");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "a"), "four");
}

}  // namespace
}  // namespace proxbench
