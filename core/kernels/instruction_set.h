#pragma once
/// The instruction set of the hot loops. They (sources named *_simd.cpp) are compiled once for each set, so
/// that one program is fast on any machine. The first use chooses the best set of the machine.
///
/// Results on two instruction sets differ by rounding: sums are taken in a different order, and multiply-adds
/// round once or twice. On one instruction set, results have the same bits for any number of threads.

#include <span>
#include <string_view>

namespace proxbench {

enum class InstructionSet {
  kBaseline,  ///< the set for which the whole program is compiled
  kAvx2,      ///< x86-64-v3: AVX2 and FMA
  kAvx512     ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

/// "baseline", "avx2" or "avx512".
std::string_view instruction_set_name(InstructionSet set);

/// The sets that both this program and this machine have, worst first.
std::span<const InstructionSet> supported_instruction_sets();

/// The set in use: the last supported one, or the one that the environment variable PROXBENCH_ISA names.
/// Throws Error (kUsage) if that one is not supported.
InstructionSet instruction_set();

/// Sets the instruction set from now on, for tests and benchmarks. Must not be called while a kernel runs.
/// Throws Error (kUsage) if it is not supported.
void use_instruction_set(InstructionSet set);

}  // namespace proxbench
