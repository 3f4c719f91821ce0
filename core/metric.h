#pragma once
/// Metrics: how good predictions are, as functions of a data set and the predictions for it. A metric may use
/// label names, which an oracle does not know.

#include <functional>
#include <span>
#include <string>

#include "core/base/types.h"
#include "core/data/dataset.h"

namespace proxbench {

/// A registered metric.
struct MetricInfo {
  enum class Better { kHigher, kLower };
  std::string name;  ///< contains no space and no '='
  std::string help;
  std::string paper;  ///< the paper, or the definition
  Better better = Better::kHigher;
  /// prediction.size() == data.prediction_size() > 0. Must not use X. Where the gold output is unknown, no
  /// prediction is right.
  std::function<double(const Dataset& data, std::span<const Index> prediction)> measure;
  /// Whether the metric is defined for this data. Null: for all data.
  std::function<bool(const Dataset&)> applies = nullptr;
};

}  // namespace proxbench
