#include "experiments/metrics/metrics.h"

#include <utility>

namespace proxbench {
namespace {

Registry<MetricInfo>& registry() {
  static Registry<MetricInfo> all = [] {
    Registry<MetricInfo> r("metric");
    for (const auto& metrics : {accuracy_metrics(), chunk_metrics(), ranking_metrics(), label_set_metrics()})
      for (const MetricInfo& metric : metrics) r.add(metric);
    return r;
  }();
  return all;
}

}  // namespace

const Registry<MetricInfo>& metric_registry() {
  return registry();
}

void add_metric(MetricInfo info) {
  registry().add(std::move(info));
}

const MetricInfo& trace_metric() {
  return registry().items().front();
}

std::vector<const MetricInfo*> metrics_for(const Dataset& data) {
  std::vector<const MetricInfo*> out;
  for (const MetricInfo& metric : registry().items())
    if (!metric.applies || metric.applies(data)) out.push_back(&metric);
  return out;
}

}  // namespace proxbench
