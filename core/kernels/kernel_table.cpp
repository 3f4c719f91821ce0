#include "core/kernels/kernel_table.h"

#include "core/kernels/kernel_sets.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(KernelTable, kernel_table, kernels_for)

const KernelTable& kernels_in_use() {
  return kernels_for(instruction_set());
}

}  // namespace proxbench
