#include "core/kernels/instruction_set.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/options.h"

namespace proxbench {

namespace {

std::vector<InstructionSet> find_supported() {
  std::vector<InstructionSet> out{InstructionSet::kBaseline};
#ifdef PROXBENCH_X86_LEVELS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2")) {
    out.push_back(InstructionSet::kAvx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      out.push_back(InstructionSet::kAvx512);
  }
#endif
  return out;
}

InstructionSet require_supported(std::string_view name) {
  std::vector<std::string> choices;
  for (const InstructionSet set : supported_instruction_sets()) {
    if (instruction_set_name(set) == name) return set;
    choices.emplace_back(instruction_set_name(set));
  }
  throw Error::usage("instruction set (environment variable PROXBENCH_ISA): found '", name,
                     "', expected one that this program and machine have: ", joined(choices));
}

InstructionSet choose() {
  const char* forced = std::getenv("PROXBENCH_ISA");
  return forced != nullptr ? require_supported(forced) : supported_instruction_sets().back();
}

std::atomic<InstructionSet>& in_use() {
  static std::atomic<InstructionSet> set{choose()};
  return set;
}

}  // namespace

std::string_view instruction_set_name(InstructionSet set) {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(set)];
}

std::span<const InstructionSet> supported_instruction_sets() {
  static const std::vector<InstructionSet> sets = find_supported();
  return sets;
}

InstructionSet instruction_set() {
  return in_use().load(std::memory_order_relaxed);
}

void use_instruction_set(InstructionSet set) {
  const InstructionSet found = require_supported(instruction_set_name(set));
  in_use().store(found, std::memory_order_relaxed);
}

}  // namespace proxbench
