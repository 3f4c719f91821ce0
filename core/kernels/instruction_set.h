#pragma once
/// Which instruction set the hot loops run on. They are compiled once for each (sources named *_simd.cpp), so
/// that one program is fast on any machine: the best that this one has is chosen at the first use.
///
/// Results on two instruction sets differ within rounding: sums are taken in another order, and multiply-adds
/// round once or twice. On one of them they are the same bits for any number of threads.

#include <span>
#include <string_view>

namespace proxbench {

enum class InstructionSet {
  kBaseline,  ///< what the whole program is compiled for
  kAvx2,      ///< x86-64-v3: AVX2 and FMA
  kAvx512     ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

/// "baseline", "avx2" or "avx512".
std::string_view instruction_set_name(InstructionSet set);

/// What this program and this machine both have, worst first.
std::span<const InstructionSet> supported_instruction_sets();

/// The one in use: the last of those, or what the environment variable PROXBENCH_ISA names. Throws Error
/// (kUsage) where that is none of them.
InstructionSet instruction_set();

/// The one to use from now on; for tests and benchmarks. Not while a kernel runs. Throws Error (kUsage) where
/// it is not supported.
void use_instruction_set(InstructionSet set);

}  // namespace proxbench
