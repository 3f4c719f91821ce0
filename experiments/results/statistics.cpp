#include "experiments/results/statistics.h"

#include <algorithm>
#include <cmath>

#include "core/base/numbers.h"

namespace proxbench {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return kNaN;
  const double h = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<std::size_t>(h);
  const double weight = h - static_cast<double>(below);
  // Avoids 0 * infinity and infinity - infinity.
  if (weight == 0.0 || sorted[below] == sorted[below + 1]) return sorted[below];
  return sorted[below] + weight * (sorted[below + 1] - sorted[below]);
}

}  // namespace

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, p);
}

Spread spread_of(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::erase_if(sorted, [](double value) { return std::isnan(value); });
  std::ranges::sort(sorted);
  return {.q25 = sorted_quantile(sorted, 0.25),
          .median = sorted_quantile(sorted, 0.5),
          .q75 = sorted_quantile(sorted, 0.75),
          .min = sorted_quantile(sorted, 0.0),
          .max = sorted_quantile(sorted, 1.0),
          .n = static_cast<int>(sorted.size())};
}

double shifted_geometric_mean(const std::vector<double>& values, double shift) {
  if (values.empty()) return kNaN;
  double sum = 0.0;
  for (const double value : values) sum += std::log(value + shift);
  return std::exp(sum / static_cast<double>(values.size())) - shift;
}

std::vector<std::vector<double>> performance_ratios(const std::vector<std::vector<double>>& costs) {
  std::vector<std::vector<double>> ratios = costs;
  for (std::vector<double>& row : ratios) {
    double best = kInfinity;
    for (const double cost : row) best = std::min(best, cost);
    for (double& cost : row) cost = std::isinf(cost) ? kInfinity : cost == best ? 1.0 : cost / best;
  }
  return ratios;
}

std::vector<Step> distribution_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<Step> steps;
  for (std::size_t i = 0; i < values.size() && std::isfinite(values[i]); ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(values.size());
    if (!steps.empty() && steps.back().x == values[i])
      steps.back().share = share;
    else
      steps.push_back({values[i], share});
  }
  return steps;
}

}  // namespace proxbench
