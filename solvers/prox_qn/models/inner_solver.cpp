#include "solvers/prox_qn/models/inner_solver.h"

#include <algorithm>

namespace proxbench::prox_qn {

namespace {

/// The model is trusted after a whole step along which it was right about the curvature within this factor;
/// then the inner problem is solved with conjugate gradients, and may take so many times max_inner passes.
constexpr double kTrusted = 1.6;
constexpr std::uint64_t kTrustedPasses = 5;
/// With a diagonal as many passes are made, at least, as find the coordinates that change.
constexpr std::uint64_t kFewestPasses = 2;
/// Operations of one visit of a coordinate for each number in its row of [S Y].
constexpr double kVisitFlops = 4.0;

}  // namespace

InnerLimits InnerSolver::limits(const CompactLbfgs& lbfgs, bool diagonal, const Iterate& at) const {
  const std::size_t n = at.set.size();
  auto passes = static_cast<std::uint64_t>(settings_.max_inner);
  if (settings_.inner_cap)  // Algorithm 2, line 20
    passes = std::min<std::uint64_t>(
        passes, std::max<std::uint64_t>(at.objective.dimension() / std::max<std::size_t>(n, 1), 1));
  InnerLimits limits{.tolerance = settings_.inner_tol,
                     .visits = passes * n,
                     .subspace = settings_.subspace && trusted_,
                     .curvature = settings_.subspace,
                     .stop = at.stop};
  if (limits.subspace) limits.visits *= kTrustedPasses;
  const double visit_flops = kVisitFlops * static_cast<double>(lbfgs.width());
  if (settings_.inner_tol > 0.0 && diagonal && inference_flops_ > 0.0 && visit_flops > 0.0)
    limits.visits = std::min(
        limits.visits, std::max<std::uint64_t>(kFewestPasses * n,
                                               static_cast<std::uint64_t>(inference_flops_ / visit_flops)));
  return limits;
}

double InnerSolver::minimise(CompactLbfgs& lbfgs, BlockMetric* metric, bool diagonal, Iterate& at) {
  lbfgs.refresh(at.parallel());
  return inner_.solve(lbfgs, metric, at.set.w, at.set.g, at.lambda(), limits(lbfgs, diagonal, at), random_,
                      at.parallel(), at.d);
}

void InnerSolver::judge(const Step& step) {
  if (!settings_.subspace) return;
  double found = 0.0;
  for (std::size_t j = 0; j < step.d.size(); ++j) found += step.d[j] * step.change[j];
  const double ratio = found / inner_.curvature();
  trusted_ = step.alpha == 1.0 && ratio > 1.0 / kTrusted && ratio < kTrusted;
}

}  // namespace proxbench::prox_qn
