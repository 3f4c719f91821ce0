#include "solvers/shared/simplex.h"

#include <algorithm>
#include <functional>

namespace proxbench {

void project_onto_simplex(std::span<double> x, std::vector<double>& sorted) {
  sorted.assign(x.begin(), x.end());
  std::ranges::sort(sorted, std::greater<>());
  double sum = 0.0, shift = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1.0) / static_cast<double>(i + 1);
    if (sorted[i] > candidate) shift = candidate;
  }
  for (double& value : x) value = std::max(value - shift, 0.0);
}

}  // namespace proxbench
