#pragma once
/// How well the inner problem of an L-BFGS model is solved: to a tolerance and within so many visits of
/// coordinates, with conjugate gradients where the model is trusted (inner_problem.h does it).

#include <cstdint>

#include "core/quasi_newton/lbfgs.h"
#include "core/base/random.h"
#include "solvers/prox_qn/models/block_metric.h"
#include "solvers/prox_qn/models/inner_problem.h"
#include "solvers/prox_qn/iterate.h"
#include "solvers/prox_qn/settings.h"

namespace proxbench::prox_qn {

class InnerSolver {
 public:
  InnerSolver(const Settings& settings, std::uint64_t seed) : settings_(settings), random_(seed) {}

  /// As Model::minimise(), with B of `lbfgs` and of `metric` (null: gamma*I). `diagonal`: what L-BFGS starts
  /// from is.
  double minimise(CompactLbfgs& lbfgs, BlockMetric* metric, bool diagonal, Iterate& at);
  /// After a step on the direction that was found last: whether the model had the curvature along it. Only
  /// then is the inner problem worth solving well.
  void judge(const Step& step);

  bool trusted() const { return trusted_; }
  void set_trusted(bool trusted) { trusted_ = trusted; }
  /// With a diagonal a solution is to cost no more than this.
  void set_inference_flops(double flops) { inference_flops_ = flops; }
  double passes() const { return inner_.passes(); }

 private:
  InnerLimits limits(const CompactLbfgs& lbfgs, bool diagonal, const Iterate& at) const;

  const Settings& settings_;
  InnerProblem inner_;
  Random random_;
  bool trusted_ = false;
  double inference_flops_ = 0.0;
};

}  // namespace proxbench::prox_qn
