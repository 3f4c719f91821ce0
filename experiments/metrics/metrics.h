#pragma once
/// All metrics: first the built-in ones, then those of plug-ins.

#include <vector>

#include "core/base/registry.h"
#include "core/metric.h"

namespace proxbench {

/// Each source of built-in metrics has one line in metrics.cpp.
const Registry<MetricInfo>& metric_registry();
/// Adds a metric of a plug-in. Throws Error (kUsage) if the name is taken.
void add_metric(MetricInfo info);

/// Returns the first metric, which traces show as test_accuracy.
const MetricInfo& trace_metric();

/// Returns all metrics that apply to such data, trace_metric() first.
std::vector<const MetricInfo*> metrics_for(const Dataset& data);

/// Return the metrics of each source.
std::vector<MetricInfo> accuracy_metrics();
std::vector<MetricInfo> chunk_metrics();
std::vector<MetricInfo> ranking_metrics();
std::vector<MetricInfo> label_set_metrics();

}  // namespace proxbench
