#pragma once
/// B starts from gamma*D. The paper's D is I (Zhong et al. 2014, section 2.1). With `metric = blocks` it
/// holds square roots of counts (block_metric.h): features, and transitions, differ by orders of magnitude in
/// how often they are on, and steps along gamma*I are far too long for the frequent ones.

#include "core/quasi_newton/lbfgs.h"
#include "solvers/prox_qn/models/block_metric.h"
#include "solvers/prox_qn/models/inner_solver.h"
#include "solvers/prox_qn/models/model.h"

namespace proxbench::prox_qn {

class ScaledDiagonal final : public Model {
 public:
  ScaledDiagonal(const Settings& settings, InnerSolver& inner)
      : settings_(settings),
        lbfgs_(settings.memory, settings.blocks ? GammaRule::kNone : settings.scaling),
        inner_(inner) {}

  /// Before the first step. With the first gamma from the curvature along the direction that B = D gives:
  /// without it the first line search pays for a wrong guess with many inferences, the first of them at huge
  /// scores.
  void start_first(Iterate& at);
  /// On a new working set after this model: with its last gamma.
  void start_again(const Iterate& at) { start(at, lbfgs_.gamma()); }
  /// After another model: with the first gamma.
  void start_after_other(const Iterate& at) { start(at, first_gamma_); }

  double minimise(Iterate& at) override { return inner_.minimise(lbfgs_, metric(), true, at); }
  bool measured() const override { return settings_.blocks || lbfgs_.pairs() > 0; }
  void learn(const Step& step, const Iterate& at) override;
  void keep_rows(std::span<const std::uint32_t> kept) override;
  void stop() override;

 private:
  void start(const Iterate& at, double gamma);
  BlockMetric* metric() { return settings_.blocks ? &metric_ : nullptr; }

  const Settings& settings_;
  CompactLbfgs lbfgs_;
  BlockMetric metric_;
  InnerSolver& inner_;
  double first_gamma_ = 1.0;
  std::vector<double> product_;
};

}  // namespace proxbench::prox_qn
