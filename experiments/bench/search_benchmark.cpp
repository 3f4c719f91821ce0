/// The search for the best label pair of a factor (solvers/gdmm/pair_search.h) beside looking at all K*K
/// pairs: K labels, 500 factors whose weights are those of Zipf-distributed pairs, and so many nonzero
/// messages at each end. "factors" is how many are searched in a second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "solvers/gdmm/pair_search.h"

namespace proxbench {
namespace {

constexpr std::size_t kFactors = 500, kDrawnPairs = 60000;

/// A label by Zipf's law: P(k) about 1/(k + 1).
Index zipf(Index labels, Random& random) {
  const double k = std::exp(random.uniform() * std::log(static_cast<double>(labels) + 1.0)) - 1.0;
  return std::min(static_cast<Index>(k), labels - 1);
}

struct Factors {
  PairWeights v;
  std::vector<LabelMessages> messages;  ///< factor f has those at f and f + 1
};

/// Weights as training leaves them: gold pairs above zero, the others that were active below.
Factors make_factors(Index labels, Index active) {
  Random random(1);
  Factors out{PairWeights(labels), {}};
  for (std::size_t i = 0; i < kDrawnPairs; ++i)
    out.v.add(zipf(labels, random), zipf(labels, random),
              random.uniform() < 0.5 ? 0.1 : -0.1 * random.uniform());
  for (std::size_t f = 0; f <= kFactors; ++f) {
    LabelMessages& messages = out.messages.emplace_back(labels);
    for (Index n = 0; n < active; ++n)
      if (const Index k = zipf(labels, random); messages[k] == 0.0) messages.add(k, 0.3 * random.normal());
  }
  return out;
}

template <auto kSearch>
void pair_search(benchmark::State& state) {
  const Factors factors =
      make_factors(static_cast<Index>(state.range(0)), static_cast<Index>(state.range(1)));
  std::size_t f = 0, searched = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(kSearch(factors.v, factors.messages[f], factors.messages[f + 1]));
    f = (f + 1) % kFactors;
    ++searched;
  }
  state.counters["factors"] = benchmark::Counter(static_cast<double>(searched), benchmark::Counter::kIsRate);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"labels", "active"})->Unit(benchmark::kMicrosecond);
  for (const int labels : {300, 1000, 3000})
    for (const int active : {5, 200}) b->Args({labels, active});
}

BENCHMARK(pair_search<best_pair>)->Name("pair_search")->Apply(sizes);
BENCHMARK(pair_search<best_pair_by_force>)->Name("pair_search_by_force")->Apply(sizes);

}  // namespace
}  // namespace proxbench
