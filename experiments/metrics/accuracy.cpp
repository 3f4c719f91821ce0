/// Accuracy by position and by instance.
#include <algorithm>

#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

/// Returns how many of a position's K labels are right in multi-label data.
std::size_t right_labels(const Dataset& data, std::size_t position, std::span<const Index> row) {
  std::size_t guessed = 0, correct = 0;
  for (const Index on : row) guessed += on;
  for (const Index k : data.on.at(position)) correct += row[k];
  return row.size() + 2 * correct - guessed - data.on.at(position).size();
}

double accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  const std::size_t width = data.prediction_width();
  for (std::size_t p = 0; p < data.positions(); ++p)
    right += data.on.empty() ? prediction[p] == data.gold[p] && data.gold[p] != kNoOutput
                             : right_labels(data, p, prediction.subspan(p * width, width));
  return static_cast<double>(right) / static_cast<double>(data.graded());
}

double structure_accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < data.instances(); ++i)
    right += std::equal(prediction.begin() + data.begin[i], prediction.begin() + data.begin[i + 1],
                        data.gold.begin() + data.begin[i]);
  return static_cast<double>(right) / static_cast<double>(data.instances());
}

/// If each instance has only one position to predict, this equals the accuracy by position.
bool has_structures(const Dataset& data) {
  return data.on.empty() && data.graded() > data.instances();
}

}  // namespace

std::vector<MetricInfo> accuracy_metrics() {
  return {
      {.name = "accuracy",
       .help = "share of positions predicted right; of groups of candidates, of those whose gold one is "
               "chosen; of "
               "multi-label data, of all labels at all positions (one minus the Hamming loss)",
       .paper = "an output that training data lack counts as a miss",
       .measure = accuracy},
      {.name = "structure-accuracy",
       .help = "share of instances with all positions predicted right",
       .paper = "an output that training data lack counts as a miss; not of instances of one position",
       .measure = structure_accuracy,
       .applies = has_structures},
  };
}

}  // namespace proxbench
