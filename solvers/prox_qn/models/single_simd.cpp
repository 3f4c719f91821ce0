/// Products in single precision for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernels.h"
#include "solvers/prox_qn/models/single_kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using kernels::Floats;
using kernels::kFloats;
using kernels::load;

/// Halves are added until one number is left.
float sum(const Floats& v) {
#if defined(__AVX512F__)
  const auto eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#elif defined(__AVX__)
  const auto& eight = v;
#endif
#if defined(__AVX__)
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
  const auto& four = v;
#endif
  const auto two = __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
}

/// R rows at once: x is loaded once for all of them, and no sum waits for its own last step.
template <std::size_t R>
void rows_times_tile(const float* rows, std::size_t width, const float* x, float* out) {
  Floats a[R] = {};
  for (std::size_t k = 0; k < width; k += kFloats) {
    const Floats v = load(x + k);
    PROXBENCH_UNROLL
    for (std::size_t r = 0; r < R; ++r) a[r] += load(rows + r * width + k) * v;
  }
  for (std::size_t r = 0; r < R; ++r) out[r] = sum(a[r]);
}

void rows_times(const float* rows, std::size_t width, std::size_t count, const float* x, float* out) {
  constexpr std::size_t kRows = 4;
  std::size_t r = 0;
  for (; r + kRows <= count; r += kRows) rows_times_tile<kRows>(rows + r * width, width, x, out + r);
  for (; r < count; ++r) rows_times_tile<1>(rows + r * width, width, x, out + r);
}

void combine_rows(const float* rows, std::size_t width, std::size_t count, const float* x, float* sum) {
  // Few enough sums to stay in registers.
  constexpr std::size_t kTile = 4;
  for (std::size_t k = 0; k < width; k += kTile * kFloats) {
    const std::size_t left = (width - k) / kFloats, n = left < kTile ? left : kTile;
    if (n == kTile) {
      Floats a[kTile];
      PROXBENCH_UNROLL
      for (std::size_t v = 0; v < kTile; ++v) a[v] = load(sum + k + v * kFloats);
      for (std::size_t r = 0; r < count; ++r) PROXBENCH_UNROLL
      for (std::size_t v = 0; v < kTile; ++v) a[v] += x[r] * load(rows + r * width + k + v * kFloats);
      std::memcpy(sum + k, a, sizeof a);
    } else {
      for (std::size_t v = 0; v < n; ++v) {
        Floats a = load(sum + k + v * kFloats);
        for (std::size_t r = 0; r < count; ++r) a += x[r] * load(rows + r * width + k + v * kFloats);
        std::memcpy(sum + k + v * kFloats, &a, sizeof a);
      }
    }
  }
}

}  // namespace

extern const SingleKernels single_kernels;
const SingleKernels single_kernels{.rows_times = rows_times, .combine_rows = combine_rows};

}  // namespace proxbench::PROXBENCH_SIMD
