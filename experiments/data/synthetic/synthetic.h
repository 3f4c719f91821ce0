#pragma once
/// For generated data: draws from a discrete distribution, and generators that tests call themselves.

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/base/random.h"
#include "experiments/data/files.h"

namespace proxbench {

/// Draws k with probability weights[k] / sum.
class Draw {
 public:
  Draw() = default;
  explicit Draw(std::vector<double> weights) : cumulative_(std::move(weights)) {
    std::partial_sum(cumulative_.begin(), cumulative_.end(), cumulative_.begin());
  }
  Index operator()(Random& random) const {
    const double at = random.uniform() * cumulative_.back();
    const auto k = std::upper_bound(cumulative_.begin(), cumulative_.end(), at) - cumulative_.begin();
    return static_cast<Index>(std::min<std::ptrdiff_t>(k, std::ssize(cumulative_) - 1));
  }

 private:
  std::vector<double> cumulative_;
};

/// A count among the options of generated data.
inline Index count_of(const Options& options, const char* name) {
  return static_cast<Index>(options.integer(name));
}
inline std::uint64_t seed_of(const Options& options) {
  return static_cast<std::uint64_t>(options.integer("seed"));
}
/// Adds the names PREFIX and a number, from `first` to `last`.
inline void add_names(std::vector<std::string>& to, const std::string& prefix, Index first, Index last) {
  for (Index i = first; i <= last; ++i) to.push_back(prefix + std::to_string(i));
}

struct SyntheticChain {
  Index labels, features;
  Index tokens = 14;      ///< per sequence
  Index successors = 10;  ///< labels that may follow a label, repetitions included
  double noise = 0.15;    ///< probability of flipping a feature of a token
  std::uint64_t seed;
};
/// Makes a training and a test set. Equal arguments give equal sequences. Fewer training sequences are a
/// prefix of more.
DataPair make_synthetic_chain(const SyntheticChain& shape, Index sequences, Index test_sequences);

/// Makes the tree of `synthetic-lshtc` with these numbers of nodes and leaves. Throws Error (kUsage) unless
/// leaves < nodes <= 5 * leaves + 1.
Hierarchy make_synthetic_tree(Index nodes, Index leaves, Random& random);

}  // namespace proxbench
