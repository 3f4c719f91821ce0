#include "experiments/sweep/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/process.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Provenance, SaysWhatItKnowsAndWhatItCannotRead) {
  const Provenance made = provenance();
  for (const std::string& text :
       {made.version, made.git_revision, made.git_dirty, made.compiler, made.flags, made.build_type,
        made.instruction_set, made.machine, made.cpu, made.caches, made.id, made.kernel, made.os})
    EXPECT_FALSE(text.empty());
  EXPECT_EQ(made.cores, usable_cpus().size());
  EXPECT_EQ(made.id, provenance().id);
  for (const auto& [name, version] : made.libraries) EXPECT_TRUE(std::isdigit(version.front())) << name;
  EXPECT_THAT(made.command, HasSubstr("experiments_test"));
  EXPECT_EQ(made.affinity, usable_cpus());
  EXPECT_THAT(made.time, testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
}

TEST(Provenance, TellsWhichSettingsOfTheThreadsAreSet) {
  setenv("OMP_PROXBENCH_TEST", "a b", 1);
  EXPECT_EQ(provenance().settings["OMP_PROXBENCH_TEST"], "a b");
  unsetenv("OMP_PROXBENCH_TEST");
  EXPECT_FALSE(provenance().settings.contains("OMP_PROXBENCH_TEST"));
}

/// Stored runs are told apart by the worker's bytes, and a commit alone must not make them again.
TEST(Provenance, TheWorkerDoesNotHoldTheRevision) {
  const std::string revision = provenance().git_revision;
  if (revision == kUnavailable) GTEST_SKIP() << "the sources are in no git repository";
  const auto beside = std::filesystem::path(PROXBENCH_PROGRAM).parent_path();
  const std::string program = read_text(PROXBENCH_PROGRAM), worker = read_text(beside / "proxbench-worker");
  EXPECT_NE(program.find(revision), std::string::npos) << "else this test sees nothing";
  EXPECT_FALSE(worker.empty());
  EXPECT_EQ(worker.find(revision), std::string::npos);
}

TEST(TimingHazards, NamesTooManyThreadsAndRunsAtATime) {
  EXPECT_THAT(timing_hazards(4096, 1), Contains(HasSubstr("4096 threads at a time on ")));
  EXPECT_THAT(timing_hazards(1, 2), Contains(HasSubstr("2 runs at a time share caches")));
  EXPECT_THAT(timing_hazards(1, 1), Not(Contains(HasSubstr("threads at a time"))));
  EXPECT_THAT(timing_hazards(1, 1), Not(Contains(HasSubstr("which CPUs share a core")))) << "there is one";
}

}  // namespace
}  // namespace proxbench
