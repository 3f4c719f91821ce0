/// The loops of bounds.h for one instruction set.
#include "core/kernels/kernels.h"
#include "experiments/bench/bounds.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

double multiply_adds(std::size_t steps, double start, double* flops) {
  constexpr int kRegisters = 10;
  Vec a[kRegisters];
  for (Vec& each : a) each = splat(start);
  const Vec x = splat(1e-9), y = splat(0.999999);
  for (std::size_t i = 0; i < steps; ++i)
    for (Vec& each : a) each = each * y + x;
  Vec total{};
  for (const Vec& each : a) total += each;
  *flops = 2.0 * kRegisters * kLanes * static_cast<double>(steps);
  return sum(total);
}

double read(const double* x, std::size_t n) {
  constexpr int kRegisters = 8;
  Vec a[kRegisters] = {};
  for (std::size_t i = 0; i < n; i += kRegisters * kLanes)
    for (std::size_t v = 0; v < kRegisters; ++v) a[v] += load(x + i + v * kLanes);
  Vec total{};
  for (const Vec& each : a) total += each;
  return sum(total);
}

}  // namespace

extern const Bounds bounds;
const Bounds bounds{.multiply_adds = multiply_adds, .read = read};

}  // namespace proxbench::PROXBENCH_SIMD
