#pragma once
/// All metrics: the built-in ones, then those of plug-ins.

#include "core/base/registry.h"
#include "core/metric.h"

namespace proxbench {

/// Built in: one line a metric in metrics.cpp.
const Registry<MetricInfo>& metric_registry();
/// One more, from outside. Throws Error (kUsage) where the name is taken.
void add_metric(MetricInfo info);

/// The first of them: what traces show as test_accuracy.
const MetricInfo& trace_metric();

MetricInfo accuracy_metric();
MetricInfo structure_accuracy_metric();
MetricInfo ranking_accuracy_metric();
MetricInfo mean_quality_metric();
MetricInfo ranking_f1_metric();
MetricInfo oracle_f1_metric();

}  // namespace proxbench
