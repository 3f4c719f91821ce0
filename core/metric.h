#pragma once
/// What predictions are worth: functions of a data set and of what was predicted for it. An oracle knows no
/// label names; a metric may use them.

#include <functional>
#include <span>
#include <string>

#include "core/base/types.h"
#include "core/data/dataset.h"

namespace proxbench {

/// A registered metric.
struct MetricInfo {
  enum class Better { kHigher, kLower };
  std::string name;  ///< without spaces and '='
  std::string help;
  std::string paper;  ///< or the definition
  Better better = Better::kHigher;
  /// prediction.size() == data.prediction_size() > 0. May not use X. An unknown gold output is never right.
  std::function<double(const Dataset& data, std::span<const Index> prediction)> measure;
  /// Whether it says anything of such data; null: of all.
  std::function<bool(const Dataset&)> applies = nullptr;
};

}  // namespace proxbench
