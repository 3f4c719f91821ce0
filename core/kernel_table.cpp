#include "core/kernel_table.h"

namespace proxbench {

namespace baseline {
extern const KernelTable kernel_table;
}
namespace avx2 {
extern const KernelTable kernel_table;
}
namespace avx512 {
extern const KernelTable kernel_table;
}

const KernelTable& kernels_for(InstructionSet set) {
  switch (set) {
#ifdef PROXBENCH_X86_LEVELS
    case InstructionSet::kAvx2:
      return avx2::kernel_table;
    case InstructionSet::kAvx512:
      return avx512::kernel_table;
#endif
    default:
      return baseline::kernel_table;
  }
}

const KernelTable& kernels_in_use() {
  return kernels_for(instruction_set());
}

}  // namespace proxbench
