#include "solvers/prox_qn/single_kernels.h"

#include "core/kernel_sets.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(SingleKernels, single_kernels, single_kernels_for)

const SingleKernels& single_kernels() {
  return single_kernels_for(instruction_set());
}

}  // namespace proxbench
