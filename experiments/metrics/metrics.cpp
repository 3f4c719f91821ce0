#include "experiments/metrics/metrics.h"

#include <algorithm>
#include <utility>

namespace proxbench {
namespace {

// ---- accuracy by position and by instance

/// Returns how many of a position's K labels are right in multi-label data.
std::size_t right_labels(const Dataset& data, std::size_t position, std::span<const Index> row) {
  std::size_t guessed = 0, correct = 0;
  for (const Index on : row) guessed += on;
  for (const Index k : data.on.at(position)) correct += row[k];
  return row.size() + 2 * correct - guessed - data.on.at(position).size();
}

double accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  const std::size_t width = data.prediction_width();
  for (std::size_t p = 0; p < data.positions(); ++p)
    right += data.on.empty() ? prediction[p] == data.gold[p] && data.gold[p] != kNoOutput
                             : right_labels(data, p, prediction.subspan(p * width, width));
  return static_cast<double>(right) / static_cast<double>(data.graded());
}

double structure_accuracy(const Dataset& data, std::span<const Index> prediction) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < data.instances(); ++i)
    right += std::equal(prediction.begin() + data.begin[i], prediction.begin() + data.begin[i + 1],
                        data.gold.begin() + data.begin[i]);
  return static_cast<double>(right) / static_cast<double>(data.instances());
}

/// If each instance has only one position to predict, this equals the accuracy by position.
bool has_structures(const Dataset& data) {
  return data.on.empty() && data.graded() > data.instances();
}

// ---- candidates chosen from groups

bool has_candidates(const Dataset& data) {
  return !data.quality.empty();
}
bool has_counts(const Dataset& data) {
  return !data.counts.empty();
}

/// Returns the mean over groups of measure(quality of the chosen candidate, highest quality of the group).
double mean_of_chosen(const Dataset& data, std::span<const Index> prediction,
                      double (*measure)(double chosen, double highest)) {
  double sum = 0.0;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    const std::span<const double> quality(&data.quality[data.begin[i]], data.begin[i + 1] - data.begin[i]);
    for (std::size_t c = 0; c < quality.size(); ++c)
      if (prediction[data.begin[i] + c] != kNoOutput) sum += measure(quality[c], std::ranges::max(quality));
  }
  return sum / static_cast<double>(data.instances());
}

double ranking_accuracy(const Dataset& data, std::span<const Index> prediction) {
  return mean_of_chosen(data, prediction,
                        [](double chosen, double highest) { return chosen == highest ? 1.0 : 0.0; });
}

double mean_quality(const Dataset& data, std::span<const Index> prediction) {
  return mean_of_chosen(data, prediction, [](double chosen, double) { return chosen; });
}

/// Returns F1 of the sums over the chosen candidates.
double ranking_f1(const Dataset& data, std::span<const Index> chosen) {
  double correct = 0.0, gold = 0.0, guessed = 0.0;
  for (std::size_t p = 0; p < data.positions(); ++p) {
    if (chosen[p] == kNoOutput) continue;
    correct += data.counts[p].correct;
    gold += data.counts[p].gold;
    guessed += data.counts[p].guessed;
  }
  return f1_of(correct, gold, guessed);
}

// ---- label sets

double label_f1(const Dataset& data, std::span<const Index> prediction) {
  std::size_t correct = 0, guessed = 0;
  for (const Index on : prediction) guessed += on;
  for (std::size_t p = 0; p < data.positions(); ++p)
    for (const Index k : data.on.at(p)) correct += prediction[p * data.prediction_width() + k];
  return f1_of(static_cast<double>(correct), static_cast<double>(data.on.label.size()),
               static_cast<double>(guessed));
}

Registry<MetricInfo>& registry() {
  static Registry<MetricInfo> all = [] {
    Registry<MetricInfo> r("metric");
    r.add({.name = "accuracy",
           .help = "share of positions predicted right; of groups of candidates, of those whose gold one is "
                   "chosen; of "
                   "multi-label data, of all labels at all positions (one minus the Hamming loss)",
           .paper = "an output that training data lack counts as a miss",
           .measure = accuracy});
    r.add({.name = "structure-accuracy",
           .help = "share of instances with all positions predicted right",
           .paper = "an output that training data lack counts as a miss; not of instances of one position",
           .measure = structure_accuracy,
           .applies = has_structures});
    for (const MetricInfo& metric : chunk_metrics()) r.add(metric);
    r.add({.name = "ranking-accuracy",
           .help = "share of groups whose chosen candidate has the highest quality",
           .paper = "unlike accuracy, any of several that share it is right",
           .measure = ranking_accuracy,
           .applies = has_candidates});
    r.add({.name = "mean-quality",
           .help = "mean over groups of the chosen candidate's quality",
           .paper = "of counts: the mean of F1 by group",
           .measure = mean_quality,
           .applies = has_candidates});
    r.add({.name = "ranking-f1",
           .help = "F1 over the corpus of the chosen candidates' items",
           .paper = "2*correct/(gold + guessed), each summed over groups; Andrew and Gao 2007, section 4.1",
           .measure = ranking_f1,
           .applies = has_counts});
    r.add({.name = "oracle-f1",
           .help = "the same where the gold candidate of each group is chosen: what re-ranking could reach",
           .paper = "Andrew and Gao 2007, table 1",
           .measure = [](const Dataset& data, std::span<const Index>) { return ranking_f1(data, data.gold); },
           .applies = has_counts});
    r.add({.name = "label-f1",
           .help = "micro-averaged F1 of predicted label sets",
           .paper = "2*correct/(gold + guessed), each counted over all labels and positions",
           .measure = label_f1,
           .applies = [](const Dataset& data) { return !data.on.empty(); }});
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
