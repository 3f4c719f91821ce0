/// Accuracy by position.
#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

double accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  for (std::size_t p = 0; p < prediction.size(); ++p)
    right += prediction[p] == data.gold[p] && data.gold[p] != kNoOutput;
  return static_cast<double>(right) / static_cast<double>(data.graded());
}

}  // namespace

MetricInfo accuracy_metric() {
  return {
      .name = "accuracy",
      .help =
          "share of positions predicted right; of groups of candidates, of those whose gold one is chosen",
      .paper = "an output that training data lack counts as a miss",
      .measure = accuracy};
}

}  // namespace proxbench
