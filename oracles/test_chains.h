#pragma once
/// Chains for tests of the oracle: sequences without features, and random scores.

#include <vector>

#include "core/base/random.h"
#include "core/data/dataset.h"
#include "core/oracle.h"

namespace proxbench::test {

/// Sequences of the given lengths with random gold labels. X is empty, since oracles never see it.
inline Dataset sequences(Index labels, const std::vector<Index>& lengths, std::uint64_t seed) {
  Dataset data;
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs.resize(labels);
  data.vocabulary = vocabulary;
  Random random(seed);
  for (const Index length : lengths) {
    for (Index t = 0; t < length; ++t) data.gold.push_back(static_cast<Index>(random.below(labels)));
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  return data;
}

inline Scores random_scores(const Oracle& oracle, double size, double transition_size, std::uint64_t seed) {
  Scores scores(oracle.outputs(), oracle.positions(), oracle.extra_weights());
  Random random(seed);
  for (Index k = 0; k < oracle.outputs(); ++k)
    for (std::size_t p = 0; p < oracle.positions(); ++p)
      scores.column(k)[p] = size * (2 * random.uniform() - 1);
  for (double& e : scores.extra) e = transition_size * (2 * random.uniform() - 1);
  return scores;
}

}  // namespace proxbench::test
