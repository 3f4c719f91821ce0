#include "experiments/metrics/metrics.h"

#include <utility>

namespace proxbench {
namespace {

Registry<MetricInfo>& registry() {
  static Registry<MetricInfo> all = [] {
    Registry<MetricInfo> r("metric");
    r.add(accuracy_metric());
    r.add(structure_accuracy_metric());
    r.add(chunk_precision_metric());
    r.add(chunk_recall_metric());
    r.add(chunk_f1_metric());
    r.add(ranking_accuracy_metric());
    r.add(mean_quality_metric());
    r.add(ranking_f1_metric());
    r.add(oracle_f1_metric());
    r.add(label_f1_metric());
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
