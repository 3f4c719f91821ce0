/// Loops over cliques, compiled for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernels.h"
#include "solvers/sdca/belief_kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

BeliefKernels::Divergences compare(const double* log_p, const double* log_q, std::size_t n, double* p,
                                   double* difference) {
  Vec forward{}, backward{};
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Vec lp = load(log_p + i), lq = load(log_q + i), ep = exp(lp), eq = exp(lq);
    store(p + i, ep);
    store(difference + i, eq - ep);
    forward += ep * (lp - lq);
    backward += eq * (lq - lp);
  }
  return {sum(forward), sum(backward)};
}

BeliefKernels::Derivatives mix(const double* p, const double* difference, const double* log_q, double gamma,
                               std::size_t n, double* log_m) {
  Vec divergence{}, first{}, second{};
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Vec d = load(difference + i), m = load(p + i) + gamma * d;
    const Logarithm l = log_and_inverse(m);
    store(log_m + i, l.log < Vec{} ? l.log : Vec{});
    const Vec ratio = l.log - load(log_q + i);
    divergence += m * ratio;
    first += d * ratio;
    second += d * d * l.inverse;
  }
  return {sum(divergence), sum(first), sum(second)};
}

}  // namespace

extern const BeliefKernels belief_kernels;
const BeliefKernels belief_kernels{.compare = compare, .mix = mix};

}  // namespace proxbench::PROXBENCH_SIMD
