#pragma once

#include "core/linear_map.h"
#include "core/metric.h"
#include "core/monitor/sample.h"

namespace proxbench {

/// The data set on which an iterate's predictions are measured, with its metrics.
class EvaluationSet {
 public:
  /// All arguments are borrowed. The oracle must be that of the data. A Sample stores the first metric as
  /// test_accuracy.
  EvaluationSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel,
                std::vector<const MetricInfo*> metrics, Decoding decoding = Decoding::kStructure);
  /// Returns data.prediction_size() outputs.
  std::vector<Index> decode(const SparseVector& w) const;
  /// Sets test_accuracy and test_metrics. Sets neither if there is no metric.
  void measure(const SparseVector& w, Sample& sample) const;

 private:
  const Dataset& data_;
  const Oracle& oracle_;
  Parallel parallel_;
  std::vector<const MetricInfo*> metrics_;
  Decoding decoding_;
};

}  // namespace proxbench
