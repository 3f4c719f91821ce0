#include "core/monitor/evaluation_set.h"

namespace proxbench {

EvaluationSet::EvaluationSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel,
                             std::vector<const MetricInfo*> metrics, Decoding decoding)
    : data_(data), oracle_(oracle), parallel_(parallel), metrics_(std::move(metrics)), decoding_(decoding) {}

std::vector<Index> EvaluationSet::decode(const SparseVector& w) const {
  const LinearMap map(data_.x, oracle_, parallel_);
  Scores scores = map.make_scores();
  map.apply(w, scores);
  std::vector<Index> outputs(data_.prediction_size());
  oracle_.decode(scores, decoding_, outputs, parallel_);
  return outputs;
}

void EvaluationSet::measure(const SparseVector& w, Sample& sample) const {
  if (metrics_.empty()) return;
  const std::vector<Index> prediction = decode(w);
  for (const MetricInfo* metric : metrics_) {
    const bool main = metric == metrics_.front();
    (main ? sample.test_accuracy : sample.test_metrics[metric->name]) = metric->measure(data_, prediction);
  }
}

}  // namespace proxbench
