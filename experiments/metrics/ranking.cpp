/// The metrics of the candidates chosen from groups.
#include <algorithm>

#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

bool has_candidates(const Dataset& data) {
  return !data.quality.empty();
}
bool has_counts(const Dataset& data) {
  return !data.counts.empty();
}

/// Returns the mean over groups of measure(qualities of the group, index of the chosen candidate).
double mean_of_chosen(const Dataset& data, std::span<const Index> prediction,
                      double (*measure)(std::span<const double> quality, std::size_t chosen)) {
  double sum = 0.0;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    const std::span<const double> quality(&data.quality[data.begin[i]], data.begin[i + 1] - data.begin[i]);
    for (std::size_t c = 0; c < quality.size(); ++c)
      if (prediction[data.begin[i] + c] != kNoOutput) sum += measure(quality, c);
  }
  return sum / static_cast<double>(data.instances());
}

double ranking_accuracy(const Dataset& data, std::span<const Index> prediction) {
  return mean_of_chosen(data, prediction, [](std::span<const double> quality, std::size_t chosen) {
    return quality[chosen] == std::ranges::max(quality) ? 1.0 : 0.0;
  });
}

double mean_quality(const Dataset& data, std::span<const Index> prediction) {
  return mean_of_chosen(data, prediction,
                        [](std::span<const double> quality, std::size_t chosen) { return quality[chosen]; });
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

double oracle_f1(const Dataset& data, std::span<const Index>) {
  return ranking_f1(data, data.gold);
}

}  // namespace

std::vector<MetricInfo> ranking_metrics() {
  return {
      {.name = "ranking-accuracy",
       .help = "share of groups whose chosen candidate has the highest quality",
       .paper = "unlike accuracy, any of several that share it is right",
       .measure = ranking_accuracy,
       .applies = has_candidates},
      {.name = "mean-quality",
       .help = "mean over groups of the chosen candidate's quality",
       .paper = "of counts: the mean of F1 by group",
       .measure = mean_quality,
       .applies = has_candidates},
      {.name = "ranking-f1",
       .help = "F1 over the corpus of the chosen candidates' items",
       .paper = "2*correct/(gold + guessed), each summed over groups; Andrew and Gao 2007, section 4.1",
       .measure = ranking_f1,
       .applies = has_counts},
      {.name = "oracle-f1",
       .help = "the same where the gold candidate of each group is chosen: what re-ranking could reach",
       .paper = "Andrew and Gao 2007, table 1",
       .measure = oracle_f1,
       .applies = has_counts},
  };
}

}  // namespace proxbench
