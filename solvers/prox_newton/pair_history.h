#pragma once
/// Keeps the steps behind the L-BFGS pairs, so that the pairs outlive their working set.
///
/// A pair (s, y) is known on the working set A on which it was found. On another working set, y lacks the
/// rows of the new coordinates. Zeros in these rows would be a large error: if a feature has weights for
/// several outputs, the curvature of l along s is a difference of large terms that cancel, and without a row
/// some of these terms do not cancel. The true rows are rows of X^T dR, where dR is the step's change of the
/// residual. So this class keeps dR. Single precision is enough: at another lambda the pairs themselves are
/// inexact by percents.

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/objective.h"

namespace proxbench::prox_newton {

class PairHistory {
 public:
  /// The most memory that all kept steps may take together.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  /// Returns how many steps of this objective may be kept: `wanted`, or fewer if kMostBytes is too small for
  /// them. Returns 0 if the residual does not have a column for every output, since the difference of two
  /// such residuals is not a residual.
  static std::size_t capacity(const Objective& objective, std::size_t wanted);

  std::size_t size() const { return steps_.size(); }
  void clear() { steps_.clear(); }
  /// Declares that later steps belong to a new solve. Keeps the steps of at most `most` earlier solves.
  void next_solve(std::size_t most);
  /// Appends the step d on the coordinates `index`, which took the residual from `before` to `after`. Drops
  /// the oldest step if `capacity` > 0 steps are kept already.
  void push(std::size_t capacity, std::span<const Coord> index, std::span<const double> d,
            const Residual& before, const Residual& after, const Parallel& parallel);
  /// Forgets all other steps. `steps` ascend; 0 is the oldest.
  void keep(std::span<const std::size_t> steps);

  /// Step i on the coordinates `index`, which must be ascending.
  std::vector<double> step(std::size_t i, std::span<const Coord> index) const;
  /// out[i][c] is the change by step i of the gradient of l at coordinate index[c]. `index` must be
  /// ascending.
  std::vector<std::vector<double>> gradient_changes(const Objective& objective,
                                                    std::span<const Coord> index) const;

 private:
  struct Step {
    std::vector<Coord> index;  ///< the coordinates where the step is not zero
    std::vector<double> value;
    std::vector<float> change;  ///< of the residual, by column; columns are stride_ apart
    std::vector<double> extra;
    std::size_t solve = 0;
  };
  std::vector<Step> steps_;  ///< oldest first
  std::size_t solve_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace proxbench::prox_newton
