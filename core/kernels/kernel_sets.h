#pragma once
/// Selects, by the instruction set in use, the table of functions that a source *_simd.cpp defines once for
/// each set. Write
///
///     PROXBENCH_KERNEL_SETS(ChainKernels, chain_kernels)
///
/// in namespace proxbench, in a source of the same library as the *_simd.cpp. It defines
///
///     const ChainKernels& chain_kernels();    // for the instruction set in use

#include "core/kernels/instruction_set.h"

#ifdef PROXBENCH_X86_LEVELS
#define PROXBENCH_X86_CASES(table) \
  case InstructionSet::kAvx2:      \
    return avx2::table;            \
  case InstructionSet::kAvx512:    \
    return avx512::table;
#else
#define PROXBENCH_X86_CASES(table)
#endif

#define PROXBENCH_KERNEL_SETS(Table, table) \
  namespace baseline {                      \
  extern const Table table;                 \
  }                                         \
  namespace avx2 {                          \
  extern const Table table;                 \
  }                                         \
  namespace avx512 {                        \
  extern const Table table;                 \
  }                                         \
  const Table& table() {                    \
    switch (instruction_set()) {            \
      PROXBENCH_X86_CASES(table)            \
      default:                              \
        return baseline::table;             \
    }                                       \
  }
