#pragma once
/// Draws from a discrete distribution. For generated data.

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"

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

}  // namespace proxbench
