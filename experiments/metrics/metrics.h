#pragma once
/// All metrics: first the built-in ones, then the metrics of plug-ins.

#include <vector>

#include "core/base/registry.h"
#include "core/metric.h"

namespace proxbench {

/// The built-in metrics are in metrics.cpp and chunks.cpp.
const Registry<MetricInfo>& metric_registry();
/// Adds a metric of a plug-in. Throws Error (kUsage) if the name is taken.
void add_metric(MetricInfo info);

/// Returns the first metric, which traces show as test_accuracy.
const MetricInfo& trace_metric();

/// Returns all metrics that apply to such data, trace_metric() first.
std::vector<const MetricInfo*> metrics_for(const Dataset& data);

/// Returns the metrics of chunks.cpp.
std::vector<MetricInfo> chunk_metrics();

}  // namespace proxbench
