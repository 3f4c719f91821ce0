/// Accuracy by instance.
#include <algorithm>

#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

double structure_accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < data.instances(); ++i)
    right += std::equal(prediction.begin() + data.begin[i], prediction.begin() + data.begin[i + 1],
                        data.gold.begin() + data.begin[i]);
  return static_cast<double>(right) / static_cast<double>(data.instances());
}

/// Where an instance has one position to predict, this is the accuracy by position.
bool has_structures(const Dataset& data) {
  return data.on.empty() && data.graded() > data.instances();
}

}  // namespace

MetricInfo structure_accuracy_metric() {
  return {.name = "structure-accuracy",
          .help = "share of instances with all positions predicted right",
          .paper = "an output that training data lack counts as a miss; not of instances of one position",
          .measure = structure_accuracy,
          .applies = has_structures};
}

}  // namespace proxbench
