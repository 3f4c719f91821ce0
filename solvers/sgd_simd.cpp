/// A row of weights under the cumulative penalty, compiled for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernels.h"
#include "solvers/sgd_kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

void charge(const Vec& u, Vec& w, Vec& q) {
  const Vec zero{}, before = w;
  const Vec down = before - (u + q), up = before + (u - q);
  const Vec positive = down > zero ? down : zero, negative = up < zero ? up : zero;
  w = before > zero ? positive : (before < zero ? negative : before);
  q += w - before;
}

void charge(double u, double* weight, double* received, std::size_t width) {
  for (std::size_t k = 0; k < width; k += kLanes) {
    Vec w = load(weight + k), q = load(received + k);
    charge(splat(u), w, q);
    store(weight + k, w);
    store(received + k, q);
  }
}

bool step_and_charge(double eta, double l2, double u, const double* gradient, double* weight,
                     double* received, std::size_t width) {
  IntVec any{};
  for (std::size_t k = 0; k < width; k += kLanes) {
    Vec w = load(weight + k), q = load(received + k);
    w -= eta * (load(gradient + k) + l2 * w);
    charge(splat(u), w, q);
    store(weight + k, w);
    store(received + k, q);
    any |= w != Vec{};
  }
  for (std::size_t l = 0; l < kLanes; ++l)
    if (any[l] != 0) return true;
  return false;
}

}  // namespace

extern const SgdKernels sgd_kernels;
const SgdKernels sgd_kernels{.charge = charge, .step_and_charge = step_and_charge};

}  // namespace proxbench::PROXBENCH_SIMD
