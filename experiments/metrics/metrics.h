#pragma once
/// All metrics: the built-in ones, then those of plug-ins.

#include <vector>

#include "core/base/registry.h"
#include "core/metric.h"

namespace proxbench {

/// Built in: one line a metric in metrics.cpp.
const Registry<MetricInfo>& metric_registry();
/// One more, from outside. Throws Error (kUsage) where the name is taken.
void add_metric(MetricInfo info);

/// The first of them: what traces show as test_accuracy.
const MetricInfo& trace_metric();

/// All that say anything of such data, trace_metric() first.
std::vector<const MetricInfo*> metrics_for(const Dataset& data);

MetricInfo accuracy_metric();
MetricInfo structure_accuracy_metric();
MetricInfo chunk_precision_metric();
MetricInfo chunk_recall_metric();
MetricInfo chunk_f1_metric();
MetricInfo ranking_accuracy_metric();
MetricInfo mean_quality_metric();
MetricInfo ranking_f1_metric();
MetricInfo oracle_f1_metric();
MetricInfo label_f1_metric();

}  // namespace proxbench
