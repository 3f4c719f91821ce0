#pragma once
/// All metrics: the built-in ones, then those of plug-ins.

#include <vector>

#include "core/base/registry.h"
#include "core/metric.h"

namespace proxbench {

/// Built in: one line a source in metrics.cpp.
const Registry<MetricInfo>& metric_registry();
/// One more, from outside. Throws Error (kUsage) where the name is taken.
void add_metric(MetricInfo info);

/// The first of them: what traces show as test_accuracy.
const MetricInfo& trace_metric();

/// All that say anything of such data, trace_metric() first.
std::vector<const MetricInfo*> metrics_for(const Dataset& data);

/// Those of each source.
std::vector<MetricInfo> accuracy_metrics();
std::vector<MetricInfo> chunk_metrics();
std::vector<MetricInfo> ranking_metrics();
std::vector<MetricInfo> label_set_metrics();

}  // namespace proxbench
