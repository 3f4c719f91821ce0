#pragma once
/// The statistics of benchmarks over repetitions and problems. A cost that was never paid off (a target that
/// was never reached) is infinity; what was not measured is NaN.

#include <vector>

namespace proxbench {

/// The p-quantile, 0 <= p <= 1, by linear interpolation between order statistics (type 7 of Hyndman and Fan,
/// "Sample quantiles in statistical packages", 1996: h = (n - 1)*p; the default of R and NumPy). A quantile
/// that would interpolate towards infinity is infinity. NaN where there are no values; no value may be NaN.
double quantile(std::vector<double> values, double p);

/// What is told of one quantity over repetitions. All NaN where n = 0.
struct Spread {
  double q25, median, q75, min, max;
  int n;  ///< values that were measured
};
/// Leaves NaNs out.
Spread spread_of(const std::vector<double>& values);

/// exp(mean(log(x + shift))) - shift: a mean of costs that neither the longest nor the shortest decide alone.
/// Infinity where one of them is; NaN where there are none. Each x + shift > 0.
double shifted_geometric_mean(const std::vector<double>& values, double shift);

/// Performance ratios (Dolan and More, "Benchmarking optimization software with performance profiles", 2002,
/// eq. 2.1): costs[problem][solver] over the least cost on that problem, r_ps = t_ps / min_s t_ps. Infinity
/// where a solver failed, also where all did. A least cost of 0 gives 1 to those who share it, and infinity
/// to the others.
std::vector<std::vector<double>> performance_ratios(const std::vector<std::vector<double>>& costs);

/// A step of a right-continuous distribution function: at x it rises to `share`.
struct Step {
  double x, share;
};
/// The share of all values, infinite ones included, that are <= x. One step for each distinct finite value.
/// Of one solver's performance ratios it is its performance profile rho_s (eq. 2.3 there: the share of
/// problems with r_ps <= tau); of the costs of all (problem, target) pairs it is the fixed-target
/// distribution of COCO (Hansen et al., "COCO: performance assessment", 2016).
std::vector<Step> distribution_of(std::vector<double> values);

}  // namespace proxbench
