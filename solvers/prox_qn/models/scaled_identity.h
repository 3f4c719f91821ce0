#pragma once
/// The paper's model: B starts from gamma*I (Zhong et al. 2014, section 2.1).

#include "core/quasi_newton/lbfgs.h"
#include "solvers/prox_qn/models/inner_solver.h"
#include "solvers/prox_qn/models/model.h"

namespace proxbench::prox_qn {

class ScaledIdentity final : public Model {
 public:
  ScaledIdentity(const Settings& settings, InnerSolver& inner)
      : settings_(settings), lbfgs_(settings.memory, settings.scaling), inner_(inner) {}

  /// Before the first step. With the first gamma from the curvature along the direction that B = I gives:
  /// without it the first line search pays for a wrong guess with many inferences, the first of them at huge
  /// scores.
  void start_first(Iterate& at);
  /// On a new working set after this model: with its last gamma.
  void start_again(const Iterate& at) { lbfgs_.reset(at.set.size(), lbfgs_.gamma()); }
  /// After another model: with the first gamma.
  void start_after_other(const Iterate& at) { lbfgs_.reset(at.set.size(), first_gamma_); }

  double minimise(Iterate& at) override { return inner_.minimise(lbfgs_, nullptr, at); }
  bool measured() const override { return lbfgs_.pairs() > 0; }
  void learn(const Step& step, const Iterate&) override {
    inner_.judge(step);
    lbfgs_.update(step.d, step.change);
  }
  void keep_rows(std::span<const std::uint32_t> kept) override { lbfgs_.keep_rows(kept); }
  void stop() override { lbfgs_ = CompactLbfgs(settings_.memory, settings_.scaling); }

 private:
  const Settings& settings_;
  CompactLbfgs lbfgs_;
  InnerSolver& inner_;
  double first_gamma_ = 1.0;
};

}  // namespace proxbench::prox_qn
