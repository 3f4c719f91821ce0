/// What the candidates chosen from groups are worth.
#include <algorithm>
#include <functional>

#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

bool has_candidates(const Dataset& data) {
  return !data.quality.empty();
}
bool has_counts(const Dataset& data) {
  return !data.counts.empty();
}

/// The mean over groups of measure(position of the candidate chosen, first position, end).
double mean_of_chosen(const Dataset& data, std::span<const Index> prediction,
                      const std::function<double(std::size_t, std::size_t, std::size_t)>& measure) {
  double sum = 0.0;
  for (std::size_t i = 0; i < data.instances(); ++i)
    for (std::size_t p = data.begin[i]; p < data.begin[i + 1]; ++p)
      if (prediction[p] != kNoOutput) sum += measure(p, data.begin[i], data.begin[i + 1]);
  return sum / static_cast<double>(data.instances());
}

double ranking_accuracy(const Dataset& data, std::span<const Index> prediction) {
  const auto quality = data.quality.begin();
  return mean_of_chosen(data, prediction, [&](std::size_t chosen, std::size_t begin, std::size_t end) {
    const double best = *std::max_element(quality + static_cast<std::ptrdiff_t>(begin),
                                          quality + static_cast<std::ptrdiff_t>(end));
    return data.quality[chosen] == best ? 1.0 : 0.0;
  });
}

double mean_quality(const Dataset& data, std::span<const Index> prediction) {
  return mean_of_chosen(data, prediction,
                        [&](std::size_t chosen, auto, auto) { return data.quality[chosen]; });
}

/// F1 of the sums over the positions that `chosen` has.
double corpus_f1(const Dataset& data, const std::function<bool(std::size_t)>& chosen) {
  double correct = 0.0, gold = 0.0, guessed = 0.0;
  for (std::size_t p = 0; p < data.positions(); ++p) {
    if (!chosen(p)) continue;
    correct += data.counts[p].correct;
    gold += data.counts[p].gold;
    guessed += data.counts[p].guessed;
  }
  return f1_of(correct, gold, guessed);
}

double ranking_f1(const Dataset& data, std::span<const Index> prediction) {
  return corpus_f1(data, [&](std::size_t p) { return prediction[p] != kNoOutput; });
}

double oracle_f1(const Dataset& data, std::span<const Index>) {
  return corpus_f1(data, [&](std::size_t p) { return data.gold[p] == 0; });
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
