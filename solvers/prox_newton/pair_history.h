#pragma once
/// The steps that L-BFGS's pairs come from, kept so that the pairs outlive their working set.
///
/// A pair (s, y) is known on the working set A that it was found on. On another, y lacks the rows of the
/// coordinates that came in, and zeros there are not a small error: where a feature has weights for several
/// outputs, what l bends along s is the difference of large terms that cancel, and a row left out leaves some
/// of them standing. (On OCR, 25 pairs taken from lambda = 54.3 to 50, where 153 of 2,522 rows are new: with
/// zeros in these the model's largest eigenvalue relative to the Hessian is 31, with the true numbers 2.2,
/// and 2.6 without any pairs.) The true rows are those of X^T dR, dR the step's change of the residual, so it
/// is dR that is kept. Single precision is enough: at another lambda the pairs themselves are percents off.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/objective.h"
#include "core/base/types.h"

namespace proxbench::prox_newton {

class PairHistory {
 public:
  /// What all steps kept may take together.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  /// How many steps of this objective may be kept: as many as that leaves room for; none where its residual
  /// has not a column for every output, which makes differences of residuals no residual.
  static std::size_t capacity(const Objective& objective, std::size_t wanted);

  std::size_t size() const { return steps_.size(); }
  void clear() { steps_.clear(); }
  /// Says that steps from now on are of another solve, and forgets those of more than `most` solves before
  /// it.
  void next_solve(std::size_t most);
  /// Appends the step d on the coordinates `index`, which took the residual from `before` to `after`; the
  /// oldest makes room once there are `capacity` > 0.
  void push(std::size_t capacity, std::span<const Coord> index, std::span<const double> d,
            const Residual& before, const Residual& after, const Parallel& parallel);
  /// Forgets all steps but these (ascending, 0 the oldest).
  void keep(std::span<const std::size_t> steps);

  /// Step i on the coordinates `index`, ascending.
  std::vector<double> step(std::size_t i, std::span<const Coord> index) const;
  /// out[i][c]: by how much step i changed the gradient of l at coordinate index[c], index ascending.
  std::vector<std::vector<double>> gradient_changes(const Objective& objective,
                                                    std::span<const Coord> index) const;

 private:
  struct Step {
    std::vector<Coord> index;  ///< where it is not zero
    std::vector<double> value;
    std::vector<float> change;  ///< of the residual's columns, one after the other, stride_ apart
    std::vector<double> extra;
    std::size_t solve = 0;
  };
  std::vector<Step> steps_;  ///< oldest first
  std::size_t solve_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace proxbench::prox_newton
