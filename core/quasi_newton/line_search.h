#pragma once
/// Backtracking line search with Armijo's condition of sufficient decrease,
///
///     F(alpha) <= F(0) + sigma * Delta(alpha) + rounding * eps * |F(0)|,   alpha = alpha0 * beta^k,
///
/// with the smallest k = 0, 1, ... that satisfies it.
///
/// Delta(alpha) < 0 is the predicted change. In a straight search, Delta(alpha) = alpha * slope (Zhong et al.
/// 2014, section 2.3; Tseng and Yun 2009). A search along a projected path has a prediction of its own
/// (OWL-QN, section 3.2).
///
/// The last term allows for rounding. F is a sum of thousands of terms, so near the optimum a good step
/// predicts a decrease below the last digits of F. Without the allowance, chance would decide whether the
/// step is taken.

#include <cmath>
#include <limits>

namespace proxbench {

struct ArmijoOptions {
  double sigma = 1e-3;    ///< required share of the predicted decrease, 0 < sigma < 1
  double beta = 0.5;      ///< factor between trials, 0 < beta < 1
  int max_trials = 60;    ///< >= 1
  double rounding = 4.0;  ///< allowance, in units of eps * |F(0)|, >= 0
};

struct ArmijoResult {
  bool accepted = false;
  double alpha = 0.0;  ///< of the last trial
  double value = 0.0;  ///< F at the last trial
  int trials = 0;
};

/// One trial of a search along a curved path.
struct ArmijoTrial {
  double value;      ///< F(alpha)
  double predicted;  ///< Delta(alpha), negative if the step predicts a decrease
};

/// trial(alpha) returns an ArmijoTrial. A trial whose value or prediction is not finite is rejected.
template <class Trial>
ArmijoResult backtrack(double f0, double alpha0, const ArmijoOptions& options, Trial&& trial) {
  const double allowance = options.rounding * std::numeric_limits<double>::epsilon() * std::abs(f0);
  ArmijoResult result;
  double alpha = alpha0;
  while (result.trials < options.max_trials && !result.accepted) {
    const ArmijoTrial at = trial(alpha);
    result.alpha = alpha;
    result.value = at.value;
    ++result.trials;
    // The condition compares decreases, which keeps its digits if |f0| is large.
    result.accepted = std::isfinite(at.value) && at.value - f0 <= options.sigma * at.predicted + allowance;
    alpha *= options.beta;
  }
  return result;
}

/// The straight search. value(alpha) returns F at the trial, and `slope` < 0 is the predicted change per unit
/// of alpha.
template <class Value>
ArmijoResult armijo(double f0, double slope, double alpha0, const ArmijoOptions& options, Value&& value) {
  return backtrack(f0, alpha0, options, [&](double alpha) {
    return ArmijoTrial{value(alpha), alpha * slope};
  });
}

}  // namespace proxbench
