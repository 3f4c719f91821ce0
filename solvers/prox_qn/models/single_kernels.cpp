#include "solvers/prox_qn/models/single_kernels.h"

#include "core/kernels/kernel_sets.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(SingleKernels, single_kernels, single_kernels_for)

const SingleKernels& single_kernels() {
  return single_kernels_for(instruction_set());
}

}  // namespace proxbench
