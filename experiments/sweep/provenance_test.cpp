#include "experiments/sweep/provenance.h"

#include <fmt/format.h>
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

TEST(Provenance, StatesWhichSettingsOfTheThreadsAreSet) {
  setenv("OMP_PROXBENCH_TEST", "a b", 1);
  EXPECT_EQ(provenance().settings["OMP_PROXBENCH_TEST"], "a b");
  unsetenv("OMP_PROXBENCH_TEST");
  EXPECT_FALSE(provenance().settings.contains("OMP_PROXBENCH_TEST"));
}

/// The digest of these sources decides whether stored runs are made again.
TEST(DecidingCode, IsOfTheSourcesThatDecideResults) {
  EXPECT_EQ(deciding_code().find(provenance().git_revision), std::string::npos);
  const TestFolder folder;
  const auto digest = [&] {
    const std::string command =
        fmt::format("cmake '-DSOURCE={0}' '-DOUTPUT={0}/facts.h' -P '{1}/scripts/source-facts.cmake'",
                    folder.path().string(), PROXBENCH_SOURCE_DIR);
    EXPECT_EQ(std::system(command.c_str()), 0);
    const std::string facts = read_text(folder / "facts.h");
    return facts.substr(facts.find("#define PROXBENCH_DECIDING_SOURCES"));
  };
  folder.write("core/loss.cpp", "double loss = 1;\n");
  folder.write("experiments/results/table.cpp", "int digits = 3;\n");
  const std::string before = digest();
  EXPECT_EQ(digest(), before);
  folder.write("core/loss.cpp", "// Of one instance.\n\ndouble loss =\n    1;  // its loss\n");
  folder.write("core/loss_test.cpp", "double expected = 1;\n");
  folder.write("experiments/results/table.cpp", "int digits = 4;\n");
  EXPECT_EQ(digest(), before);
  folder.write("core/loss.cpp", "double loss = 2;\n");
  EXPECT_NE(digest(), before);
}

TEST(TimingHazards, NamesTooManyThreadsAndRunsAtATime) {
  EXPECT_THAT(timing_hazards(4096, 1), Contains(HasSubstr("4096 threads at a time on ")));
  EXPECT_THAT(timing_hazards(1, 2), Contains(HasSubstr("2 runs at a time share caches")));
  EXPECT_THAT(timing_hazards(1, 1), Not(Contains(HasSubstr("threads at a time"))));
  EXPECT_THAT(timing_hazards(1, 1), Not(Contains(HasSubstr("which CPUs share a core")))) << "there is one";
}

}  // namespace
}  // namespace proxbench
