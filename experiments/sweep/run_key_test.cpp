#include "experiments/sweep/run_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/sweep/plan.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RunParameters a_job() {
  RunParameters job;
  job.name = "words-lambda1-prox-newton-rep1";
  job.format = "crfsuite";
  job.decoding = "structure";
  job.files.train = {"/data/train.txt"};
  job.solver = "prox-newton";
  job.solver_options = {{"memory", "10"}, {"max_inner", "10"}};
  job.backend = "openmp";
  job.threads = 2;
  job.seed = 3;
  return job;
}

/// Returns the run of a job, with its key.
proxbench::Run run_of(const RunParameters& job, double stop_at = 0.0) {
  proxbench::Run run;
  run.parameters = job;
  run.key = key_of(job, stop_at, "data", "program");
  return run;
}

/// Writes the run as a manifest and reads it back.
proxbench::Run stored(const proxbench::Run& run) {
  return run_from(nlohmann::json::parse(run_json(run).dump()), "a test");
}

TEST(RunKey, IsTheSameForTheSameRun) {
  EXPECT_EQ(run_of(a_job()).key.digest, run_of(a_job()).key.digest);
  EXPECT_THAT(changes_from(stored(run_of(a_job())), run_of(a_job())), IsEmpty());
}

TEST(RunKey, DoesNotDependOnNamesOfFilesOnTheBestKnownOptimumOrOnTheRevision) {
  RunParameters job = a_job();
  job.files.train = {"/elsewhere/train.txt"};
  job.name = "again";
  job.objective_target = 12.5;
  proxbench::Run other = run_of(job, 1e-6);
  other.provenance.git_revision = "another";
  EXPECT_EQ(run_of(a_job(), 1e-6).key.digest, other.key.digest);
  EXPECT_THAT(changes_from(stored(other), run_of(a_job(), 1e-6)), IsEmpty());
}

TEST(RunKey, EveryComponentMakesAnotherRunAndIsNamed) {
  const proxbench::Run before = stored(run_of(a_job()));
  RunParameters job = a_job();
  job.solver_options["memory"] = "20";
  job.tol = 1e-7;
  EXPECT_THAT(changes_from(before, run_of(job)),
              ElementsAre("config options memory: 10 -> 20", "config tol: 1e-06 -> 1e-07"));
  job = a_job();
  job.threads = 1;
  job.seed = 4;
  EXPECT_THAT(changes_from(before, run_of(job)), ElementsAre("threads: 2 -> 1", "seed: 3 -> 4"));
  EXPECT_THAT(changes_from(before, run_of(a_job(), 0.5)), ElementsAre("config stop_at: 0 -> 0.5"));
  const auto with_key = [](const RunKey& key) {
    proxbench::Run run;
    run.parameters = a_job();
    run.key = key;
    return run;
  };
  const RunKey data = key_of(a_job(), 0, "other", "program"), program = key_of(a_job(), 0, "data", "other");
  EXPECT_THAT(changes_from(before, with_key(data)), ElementsAre("data: other bytes in the files"));
  EXPECT_THAT(changes_from(before, with_key(program)),
              ElementsAre("program: another build or other plug-ins"));
  RunKey elsewhere = before.key;
  elsewhere.instruction_set = "of another machine";
  EXPECT_THAT(changes_from(before, with_key(elsewhere)),
              ElementsAre(testing::HasSubstr("-> of another machine")));
  for (const std::string& digest :
       {run_of(job).key.digest, run_of(a_job(), 0.5).key.digest, data.digest, program.digest})
    EXPECT_NE(digest, before.key.digest);
}

TEST(RunKey, HoldsWhatIsInTheModelToStartFrom) {
  const TestFolder folder;
  RunParameters job = a_job();
  job.start = folder.write("one.tsv", "first");
  const proxbench::Run before = stored(run_of(job));
  EXPECT_NE(before.key.digest, run_of(a_job()).key.digest);
  job.start = folder.write("two.tsv", "first");
  EXPECT_THAT(changes_from(before, run_of(job)), IsEmpty()) << "the same model under another name";
  folder.write("two.tsv", "second");
  EXPECT_THAT(changes_from(before, run_of(job)), ElementsAre(testing::HasSubstr("config start: ")));
}

TEST(RunKey, StatesOptionsThatCameOrWent) {
  RunParameters job = a_job();
  job.solver_options.erase("memory");
  job.solver_options["sigma"] = "0.5";
  EXPECT_THAT(changes_from(stored(run_of(a_job())), run_of(job)),
              ElementsAre("config options memory: 10 -> (none)", "config options sigma: (none) -> 0.5"));
}

TEST(SourceDigest, IsOfTheBytesTheirRolesTheOptionsAndTheOracle) {
  const TestFolder folder;
  folder.write("a", "some text");
  folder.write("b", "some text");
  folder.write("c", "some more");
  const auto digest = [&](const std::string& train, const std::string& test, const char* seed,
                          const char* oracle = "") {
    RunParameters job;
    job.format = "ocr";
    job.oracle = oracle;
    job.data_options = {{"seed", seed}};
    job.files.train = {(folder / train).string()};
    if (!test.empty()) job.files.test = {(folder / test).string()};
    return source_digest(job);
  };
  EXPECT_EQ(digest("a", "c", "1"), digest("b", "c", "1"));
  EXPECT_NE(digest("a", "c", "1"), digest("a", "b", "1"));
  EXPECT_NE(digest("a", "c", "1"), digest("c", "a", "1"));
  EXPECT_NE(digest("a", "c", "1"), digest("a", "", "1"));
  EXPECT_NE(digest("a", "c", "1"), digest("a", "c", "2"));
  EXPECT_NE(digest("a", "c", "1"), digest("a", "c", "1", "independent"));
  EXPECT_THROW(digest("gone", "", "1"), Error);
}

TEST(SourceDigest, IsOfTheContentOfFilesThatOptionsName) {
  const TestFolder folder;
  for (const char* name : {"data", "one.txt", "same.txt"}) folder.write(name, "U:%x[0,0]\n");
  folder.write("other.txt", "U:%x[1,0]\n");
  const auto digest = [&](const std::string& name) {
    RunParameters job;
    job.format = "conll";
    job.files.train = {(folder / "data").string()};
    job.data_options = {{"template", name.empty() ? "" : (folder / name).string()}};
    return source_digest(job);
  };
  EXPECT_EQ(digest("one.txt"), digest("same.txt"));
  EXPECT_NE(digest("one.txt"), digest("other.txt"));
  EXPECT_NE(digest("one.txt"), digest(""));
  EXPECT_THROW(digest("gone.txt"), Error);

  RunParameters job;
  job.format = "conll";
  const auto key = [&](const char* name) {
    job.data_options = {{"template", (folder / name).string()}, {"pad", "1"}};
    return key_of(job, 0.0, digest(name), "program").digest;
  };
  EXPECT_EQ(key("one.txt"), key("same.txt")) << "where it lies says nothing";
  EXPECT_NE(key("one.txt"), key("other.txt"));
}

}  // namespace
}  // namespace proxbench
