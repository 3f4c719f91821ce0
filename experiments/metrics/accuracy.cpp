/// Accuracy by position.
#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

double accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  if (!data.on.empty()) {
    const std::size_t width = data.prediction_width();
    for (std::size_t p = 0; p < data.positions(); ++p) {
      const auto row = prediction.subspan(p * width, width);
      std::size_t guessed = 0, correct = 0;
      for (const Index on : row) guessed += on;
      for (const Index k : data.on.at(p)) correct += row[k];
      right += width + 2 * correct - guessed - data.on.at(p).size();
    }
    return static_cast<double>(right) / static_cast<double>(data.graded());
  }
  for (std::size_t p = 0; p < prediction.size(); ++p)
    right += prediction[p] == data.gold[p] && data.gold[p] != kNoOutput;
  return static_cast<double>(right) / static_cast<double>(data.graded());
}

}  // namespace

MetricInfo accuracy_metric() {
  return {
      .name = "accuracy",
      .help =
          "share of positions predicted right; of groups of candidates, of those whose gold one is chosen; of "
          "multi-label data, of all labels at all positions (one minus the Hamming loss)",
      .paper = "an output that training data lack counts as a miss",
      .measure = accuracy};
}

}  // namespace proxbench
