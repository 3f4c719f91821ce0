#include "experiments/results/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/field_csv.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// Stores a run in OUT/runs/NAME.
void write_run(const TestFolder& folder, const std::string& out, const std::string& name, double objective,
               const std::string& machine = "here") {
  proxbench::Run run;
  run.set_status("converged");
  run.result.certificate.objective = objective;
  run.provenance.machine = machine;
  run.provenance.id = machine + "-id";
  const std::string at = out + "/runs/" + name;
  make_folder(folder / at);
  write_record(folder / at / kManifestFile, run);
  folder.write(at + "/trace.csv",
               csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), Sample{}) + "\n");
  folder.write(at + "/model.tsv", "# proxbench model 1\n");
}

/// Stores a reference with this relative kkt.
void write_reference(const TestFolder& folder, const std::string& out, double kkt) {
  proxbench::Run run;
  run.result.certificate = {.objective = 10.0, .kkt = kkt, .dual = std::nan("")};
  run.result.kkt_at_zero = 1.0;
  make_folder(folder / out / "references");
  write_record(folder / out / "references/r.json", run);
}

class Merge : public testing::Test {
 protected:
  fs::path out() const { return folder / "out"; }
  TestFolder folder;
};

TEST_F(Merge, KeepsTheRunsOfDifferentMachinesApart) {
  write_run(folder, "one", "a", 12.0, "here");
  write_run(folder, "two", "a", 12.5, "there");
  write_run(folder, "two", "b", 13.0, "there");
  folder.write("one/config.ini", "[experiment]\nname = e\nlambda = 1\n");
  folder.write("two/config.ini", "[experiment]\nname = e\nlambda = 1\n");
  write_reference(folder, "one", 1e-6);
  write_reference(folder, "two", 1e-9);
  const MergeResult result = merge_results({folder / "one", folder / "two"}, out());
  EXPECT_EQ(result.runs, 3u);
  EXPECT_EQ(result.references, 1u);
  EXPECT_THAT(result.notes, testing::IsEmpty());
  std::vector<std::string> runs;
  for (const fs::path& run : run_folders(out()))
    runs.push_back(run.filename().string() + " " + read_run(out(), run).provenance.machine);
  EXPECT_THAT(runs, ElementsAre("a here", "a@there there", "b there"));
  EXPECT_EQ(read_record(out() / "references/r.json").result.certificate.kkt, 1e-9) << "the better one";
  EXPECT_EQ(read_text(out() / "runs/b/model.tsv"), "# proxbench model 1\n");
  EXPECT_TRUE(fs::exists(out() / "config.ini"));
}

TEST_F(Merge, CopiesTheSameRunOnceAndRefusesTwoThatDiffer) {
  write_run(folder, "one", "a", 12.0);
  write_run(folder, "two", "a", 12.0);
  const MergeResult result = merge_results({folder / "one", folder / "two"}, out());
  EXPECT_EQ(result.runs, 1u);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("two/runs/a: the same run is there already")));
  write_run(folder, "two", "a", 12.5);
  try {
    merge_results({folder / "one", folder / "two"}, folder / "other");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("are different results of the same run, a on here"));
  }
  EXPECT_FALSE(fs::exists(folder / "other"));
  EXPECT_THROW(merge_results({folder / "one"}, out()), Error);  // not empty
}

}  // namespace
}  // namespace proxbench
