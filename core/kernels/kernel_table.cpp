#include "core/kernels/kernel_table.h"

#include "core/kernels/kernel_sets.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(KernelTable, kernels_in_use)

}  // namespace proxbench
