#include "experiments/run/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/process.h"

namespace proxbench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Provenance, SaysWhatItKnowsAndWhatItCannotRead) {
  const nlohmann::ordered_json made = provenance();
  for (const char* key :
       {"version", "git_revision", "git_dirty", "compiler", "flags", "build_type", "instruction_set"})
    EXPECT_FALSE(made["program"][key].get<std::string>().empty()) << key;
  for (const char* key : {"name", "cpu", "caches", "id", "kernel", "os"})
    EXPECT_FALSE(made["machine"][key].get<std::string>().empty()) << key;
  EXPECT_EQ(made["machine"]["cores"], usable_cpus().size());
  EXPECT_EQ(made["machine"]["id"], provenance()["machine"]["id"]);
  for (const auto& [name, version] : made["libraries"].items())
    EXPECT_TRUE(std::isdigit(version.get<std::string>().front())) << name;
  EXPECT_THAT(made["command"].get<std::string>(), HasSubstr("experiments_test"));
  const nlohmann::ordered_json now = provenance_now();
  EXPECT_EQ(now["affinity"], usable_cpus());
  EXPECT_THAT(now["time"].get<std::string>(), testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
}

TEST(Provenance, TellsWhichSettingsOfTheThreadsAreSet) {
  setenv("OMP_PROXBENCH_TEST", "a b", 1);
  EXPECT_EQ(provenance()["settings"]["OMP_PROXBENCH_TEST"], "a b");
  unsetenv("OMP_PROXBENCH_TEST");
  EXPECT_FALSE(provenance()["settings"].contains("OMP_PROXBENCH_TEST"));
}

TEST(TimingHazards, NamesTooManyThreadsAndRunsAtATime) {
  EXPECT_THAT(timing_hazards(4096, 1), Contains(HasSubstr("4096 threads at a time on ")));
  EXPECT_THAT(timing_hazards(1, 2), Contains(HasSubstr("2 runs at a time share caches")));
  EXPECT_THAT(timing_hazards(1, 1), Not(Contains(HasSubstr("threads at a time"))));
  EXPECT_THAT(timing_hazards(1, 1), Not(Contains(HasSubstr("which CPUs share a core")))) << "there is one";
}

}  // namespace
}  // namespace proxbench
