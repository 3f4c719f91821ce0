/// A step of Viterbi, compiled for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernels.h"
#include "oracles/max_plus_kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

/// The number of registers that hold the maxima of a strip of columns.
constexpr std::size_t kStrip = 4;

template <std::size_t kVectors>
void strip(const double* row, std::size_t n, const double* matrix, std::size_t width, double* out) {
  Vec best[kVectors];
  PROXBENCH_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) best[v] = row[0] + load(matrix + v * kLanes);
  for (std::size_t j = 1; j < n; ++j) {
    PROXBENCH_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      best[v] = larger(row[j] + load(matrix + j * width + v * kLanes), best[v]);
  }
  PROXBENCH_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) store(out + v * kLanes, best[v]);
}

void row_times_matrix(const double* row, std::size_t n, const double* matrix, std::size_t width,
                      double* out) {
  std::size_t k = 0;
  for (; k + kStrip * kLanes <= width; k += kStrip * kLanes)
    strip<kStrip>(row, n, matrix + k, width, out + k);
  for (; k < width; k += kLanes) strip<1>(row, n, matrix + k, width, out + k);
}

}  // namespace

extern const MaxPlusKernels max_plus_kernels;
const MaxPlusKernels max_plus_kernels{.row_times_matrix = row_times_matrix};

}  // namespace proxbench::PROXBENCH_SIMD
