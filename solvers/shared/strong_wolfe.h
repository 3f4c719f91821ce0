#pragma once
/// Line search for the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 3.5 and 3.6, with cubic
/// interpolation, equation 3.59),
///
///     phi(alpha) <= phi(0) + decrease * alpha * phi'(0) + rounding * eps * |phi(0)|
///     |phi'(alpha)| <= curvature * |phi'(0)|,
///
/// where phi(alpha) = F(w + alpha*p) for a smooth F. The allowance for rounding is explained in
/// core/quasi_newton/line_search.h: near the optimum only the slopes are exact enough.

#include <functional>

namespace proxbench::dense {

struct WolfeOptions {
  double decrease = 1e-4;  ///< c1, 0 < c1 < c2
  double curvature = 0.9;  ///< c2 < 1
  int max_trials = 40;     ///< >= 1
  double rounding = 4.0;   ///< allowance, in units of eps * |phi(0)|, >= 0
};

/// phi and phi' at a trial.
struct LineValue {
  double value, slope;
};

struct WolfeResult {
  /// True if both conditions hold at alpha, or if the trials ran out and the first condition holds at alpha.
  bool accepted = false;
  double alpha = 0.0;  ///< the last trial
  int trials = 0;
};

/// Requires at_zero.slope < 0 and first > 0. The result has the alpha of the last call of `trial`. Values
/// that are not finite count as too high.
WolfeResult strong_wolfe(const LineValue& at_zero, double first, const WolfeOptions& options,
                         const std::function<LineValue(double alpha)>& trial);

}  // namespace proxbench::dense
