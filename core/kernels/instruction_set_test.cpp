#include "core/kernels/instruction_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.h"

namespace proxbench {
namespace {

TEST(InstructionSet, TheBaselineIsOnEveryMachine) {
  EXPECT_EQ(supported_instruction_sets().front(), InstructionSet::kBaseline);
}

TEST(InstructionSet, TheOneInUseIsSupported) {
  EXPECT_THAT(supported_instruction_sets(), testing::Contains(instruction_set()));
}

TEST(InstructionSet, CanBeChanged) {
  const InstructionSet before = instruction_set();
  for (const InstructionSet set : supported_instruction_sets()) {
    use_instruction_set(set);
    EXPECT_EQ(instruction_set(), set);
  }
  use_instruction_set(before);
}

/// Runs in a separate process, because the choice is made only once in a process.
TEST(InstructionSetDeathTest, TheEnvironmentForcesOneOrIsRefused) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto exit_with_set = [](const char* name) {
    setenv("PROXBENCH_ISA", name, 1);
    try {
      std::fputs(std::string(instruction_set_name(instruction_set())).c_str(), stderr);
      std::exit(0);
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::exit(error.kind() == ErrorKind::kUsage ? 2 : 1);
    }
  };
  EXPECT_EXIT(exit_with_set("baseline"), testing::ExitedWithCode(0), "^baseline$");
  EXPECT_EXIT(exit_with_set("sse9"), testing::ExitedWithCode(2),
              "found 'sse9', expected one that this program and machine have: baseline");
}

}  // namespace
}  // namespace proxbench
