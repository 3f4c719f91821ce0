#include "experiments/metrics/metrics.h"

#include <utility>

namespace proxbench {
namespace {

Registry<MetricInfo>& registry() {
  static Registry<MetricInfo> all = [] {
    Registry<MetricInfo> r("metric");
    r.add(accuracy_metric());
    r.add(structure_accuracy_metric());
    r.add(ranking_accuracy_metric());
    r.add(mean_quality_metric());
    r.add(ranking_f1_metric());
    r.add(oracle_f1_metric());
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

}  // namespace proxbench
