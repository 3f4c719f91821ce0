/// The metrics of predicted label sets.
#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

bool has_label_sets(const Dataset& data) {
  return !data.on.empty();
}

double label_f1(const Dataset& data, std::span<const Index> prediction) {
  std::size_t correct = 0, guessed = 0;
  for (const Index on : prediction) guessed += on;
  for (std::size_t p = 0; p < data.positions(); ++p)
    for (const Index k : data.on.at(p)) correct += prediction[p * data.prediction_width() + k];
  return f1_of(static_cast<double>(correct), static_cast<double>(data.on.label.size()),
               static_cast<double>(guessed));
}

}  // namespace

std::vector<MetricInfo> label_set_metrics() {
  return {{.name = "label-f1",
           .help = "micro-averaged F1 of predicted label sets",
           .paper = "2*correct/(gold + guessed), each counted over all labels and positions",
           .measure = label_f1,
           .applies = has_label_sets}};
}

}  // namespace proxbench
