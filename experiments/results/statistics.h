#pragma once
/// Statistics of benchmarks over repetitions and problems. A cost is infinity if its target was never
/// reached, and NaN if it was not measured.

#include <vector>

namespace proxbench {

/// The p-quantile, 0 <= p <= 1, by linear interpolation between order statistics (type 7 of Hyndman and Fan,
/// "Sample quantiles in statistical packages", 1996: h = (n - 1)*p; the default of R and NumPy). A quantile
/// that would interpolate towards infinity is infinity. Returns NaN if there are no values. No value may be
/// NaN.
double quantile(std::vector<double> values, double p);

/// The spread of one quantity over repetitions. All NaN if n = 0.
struct Spread {
  double q25, median, q75, min, max;
  int n;  ///< number of measured values
};
/// Ignores NaNs.
Spread spread_of(const std::vector<double>& values);

/// Returns exp(mean(log(x + shift))) - shift: a mean that neither the longest nor the shortest costs
/// dominate. Returns infinity if a value is, and NaN if there are no values. Each x + shift must be > 0.
double shifted_geometric_mean(const std::vector<double>& values, double shift);

/// Performance ratios (Dolan and More, "Benchmarking optimization software with performance profiles", 2002,
/// eq. 2.1): costs[problem][solver] divided by the least cost on that problem, r_ps = t_ps / min_s t_ps. The
/// ratio is infinity if a solver failed, even if all did. If the least cost is 0, the ratio is 1 for the
/// solvers that have it, and infinity for the others.
std::vector<std::vector<double>> performance_ratios(const std::vector<std::vector<double>>& costs);

/// A step of a right-continuous distribution function: at x it rises to `share`.
struct Step {
  double x, share;
};
/// Returns the share of all values, infinite ones included, that are <= x, with one step for each distinct
/// finite value. For the performance ratios of one solver, this is its performance profile rho_s (eq. 2.3
/// there: the share of problems with r_ps <= tau). For the costs of all (problem, target) pairs, it is the
/// fixed-target distribution of COCO (Hansen et al., "COCO: performance assessment", 2016).
std::vector<Step> distribution_of(std::vector<double> values);

}  // namespace proxbench
