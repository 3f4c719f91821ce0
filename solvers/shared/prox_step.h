#pragma once
/// One proximal-gradient step with backtracking, shared by prox-gd and prox-gd-acc. With f = l +
/// (mu/2)*||.||^2 and an anchor y (the iterate, or the extrapolated point of FISTA),
///
///     w+ = soft_threshold(y - grad f(y)/L, lambda/L),
///
/// with the first L, L*backtrack, L*backtrack^2, ... for which f(w+) <= f(y) + grad f(y)^T (w+ - y) + L/2
/// ||w+ - y||^2 (Beck and Teboulle, "A fast iterative shrinkage-thresholding algorithm", SIAM J. Imaging Sci.
/// 2009, section 4).
///
/// Rounding: f is a sum of thousands of terms, so once L/2 ||w+ - y||^2 falls below kReliable * eps * |f(y)|
/// the values of f can no longer tell. Then the test is
///
///     (grad f(w+) - grad f(y))^T (w+ - y) <= L ||w+ - y||^2,
///
/// the same test where f is quadratic. Both factors are linear in what inference gives, so the left side is
/// <R(w+) - R(y), S(w+) - S(y)> + mu*||w+ - y||^2 on residuals R and scores S: it needs no gradient.

#include <functional>

#include "core/base/option_rows.h"
#include "core/base/stop_token.h"
#include "core/oracle.h"
#include "solvers/shared/dense.h"

namespace proxbench::dense {

/// The anchor: w, gradient and value of f there, its scores as a ScorePoint, and its residual.
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
OptionRows<ProxStepSettings> prox_step_rows();

class ProxStep {
 public:
  explicit ProxStep(const ProxStepSettings& settings)
      : lipschitz(settings.lipschitz), backtrack_(settings.backtrack) {}

  /// The estimate that the next step begins with.
  double lipschitz;

  /// Where the options give no first estimate, makes one from the curvature of f along a step of about
  /// the length 1/(typical value) (core/data/typical_value.h); `scratch` is overwritten. One pass.
  void initialise(Objective& objective, const Anchor& anchor, Point& scratch);

  /// Fills next, and raises `lipschitz` as needed. next has its residual where wants_residual(bound) says so,
  /// with bound = L*||w+ - y||_inf known before the inference. False: no trial passed, or w+ = y within
  /// rounding, or the token asked to stop before a trial.
  bool take(Objective& objective, const Anchor& anchor, Point& next,
            const std::function<bool(double)>& wants_residual, const StopToken& stop);

  /// Of the last trial.
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
