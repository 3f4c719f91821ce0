#pragma once
/// For tests that run on every instruction set of this machine.

#include <gtest/gtest.h>

#include <string>

#include "core/kernels/instruction_set.h"

namespace proxbench {

/// Runs each test on the instruction set that is its parameter, and restores the previous set afterwards.
class EachInstructionSet : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override { use_instruction_set(GetParam()); }
  void TearDown() override { use_instruction_set(before_); }

 private:
  InstructionSet before_ = instruction_set();
};

inline std::string name_of_set(const testing::TestParamInfo<InstructionSet>& info) {
  return std::string(instruction_set_name(info.param));
}

}  // namespace proxbench

/// Instantiates the tests of a fixture on every instruction set of this machine.
#define PROXBENCH_ON_EACH_INSTRUCTION_SET(fixture)                                                    \
  INSTANTIATE_TEST_SUITE_P(Sets, fixture, testing::ValuesIn(proxbench::supported_instruction_sets()), \
                           proxbench::name_of_set)
