#pragma once
/// The working set A with the weights and gradients on it.

#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/objective.h"

namespace proxbench::proximal {

/// The largest entry and the l1 norm of the minimum-norm subgradient.
struct Optimality {
  double largest = 0.0, l1 = 0.0;
};

struct WorkingSet {
  std::vector<Coord> index;  ///< ascending; the vectors below are aligned with it
  std::vector<double> w, g;  ///< g is the gradient of the smooth part
  std::vector<double> mu;    ///< of the l2 penalty of each weight (copies.h)
  /// The row of each coordinate in the previous working set, or CompactLbfgs::kNew.
  std::vector<std::uint32_t> from;
  bool chosen = false;  ///< whether a set has been chosen; it then contains the support of w

  std::size_t size() const { return index.size(); }
  /// Takes over the selection, and gives `selection` the memory of the old set. The caller must set `mu`.
  void take(Objective::Selection& selection);
  /// Drops zero coordinates with |g_j| - lambda + slack <= 0 (Algorithm 2, lines 3 to 10). Returns the
  /// remaining rows in ascending order, and sets `left` to the optimality on them.
  const std::vector<std::uint32_t>& shrink(double lambda, double slack, Optimality& left);
  /// Writes the nonzeros of w to `out`.
  void collect(SparseVector& out) const;
  /// sum_j mu_j/2 * v_j^2.
  double l2(std::span<const double> v) const;

 private:
  std::vector<std::uint32_t> kept_;
};

}  // namespace proxbench::proximal
