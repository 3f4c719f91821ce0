#pragma once
/// One proximal-gradient step with backtracking, shared by prox-gd and prox-gd-acc. Let f = l +
/// (mu/2)*||.||^2, and let y be an anchor (the iterate, or the extrapolated point of FISTA). The step is
///
///     w+ = soft_threshold(y - grad f(y)/L, lambda/L),
///
/// with the first L of L, L*backtrack, L*backtrack^2, ... that satisfies f(w+) <= f(y) + grad f(y)^T (w+ - y)
/// + L/2 ||w+ - y||^2 (Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm", SIAM J.
/// Imaging Sci. 2009, section 4).
///
/// Rounding: f is a sum of thousands of terms. Once L/2 ||w+ - y||^2 falls below kReliable * eps * |f(y)|,
/// the values of f are too inexact for this test. It is then replaced by
///
///     (grad f(w+) - grad f(y))^T (w+ - y) <= L ||w+ - y||^2,
///
/// which is equivalent if f is quadratic. The left side needs no gradient: with residuals R and scores S it
/// is <R(w+) - R(y), S(w+) - S(y)> + mu*||w+ - y||^2.

#include <functional>

#include "core/base/schema.h"
#include "core/base/stop_token.h"
#include "core/oracle.h"
#include "solvers/shared/dense.h"

namespace proxbench::dense {

/// The anchor: its w, gradient, value of f, scores and residual.
struct Anchor {
  std::span<const double> w;
  std::span<const double> gradient;
  double smooth;
  ScorePoint scores;
  const Residual& residual;
};

struct ProxStepSettings {
  double lipschitz, backtrack;
};
Schema<ProxStepSettings> prox_step_rows();

class ProxStep {
 public:
  explicit ProxStep(const ProxStepSettings& settings)
      : lipschitz(settings.lipschitz), backtrack_(settings.backtrack) {}

  /// The estimate of L that the next step starts from.
  double lipschitz;

  /// If the options give no first estimate, makes one from the curvature of f along a step of length about
  /// 1/(typical value) (core/data/typical_value.h). Overwrites `scratch`. Costs one pass.
  void initialise(Objective& objective, const Anchor& anchor, Point& scratch);

  /// Fills `next`, and raises `lipschitz` as needed. Before each inference it calls wants_residual(bound)
  /// with bound = L*||w+ - y||_inf. If the call returns true, `next` gets its residual. Returns false if no
  /// trial passed, if w+ = y within rounding, or if `stop` was requested before a trial.
  bool take(Objective& objective, const Anchor& anchor, Point& next,
            const std::function<bool(double)>& wants_residual, const StopToken& stop);

  /// Whether the last trial computed the residual.
  bool has_residual() const { return has_residual_; }

 private:
  struct Move {
    double squared;  ///< ||w+ - y||^2
    double linear;   ///< gradient^T (w+ - y)
    double largest;  ///< ||w+ - y||_inf
  };
  Move move(const Objective& objective, const Anchor& anchor, Point& next) const;
  static double curvature(const Objective& objective, const Anchor& anchor, const Point& next,
                          double squared);

  double backtrack_;
  bool has_residual_ = false;
};

}  // namespace proxbench::dense
