#pragma once
/// The working set A with the weights and gradients on it.

#include <cstdint>
#include <vector>

#include "core/objective.h"
#include "core/base/types.h"

namespace proxbench::proximal {

/// The minimum-norm subgradient: its largest entry, and its l1 norm.
struct Optimality {
  double largest = 0.0, l1 = 0.0;
};

struct WorkingSet {
  std::vector<Coord> index;  ///< ascending; all below are aligned with it
  std::vector<double> w, g;  ///< g: gradient of the smooth part
  /// The row that each coordinate had in the working set before, or CompactLbfgs::kNew.
  std::vector<std::uint32_t> from;
  bool chosen = false;  ///< whether there is one yet; the support of w lies in it then

  std::size_t size() const { return index.size(); }
  /// Becomes the selection, which takes the old one's memory.
  void take(Objective::Selection& selection);
  /// Drops zero coordinates with |g_j| - lambda + slack <= 0 (Algorithm 2, lines 2 to 9). Returns the rows
  /// that are left, ascending, and the optimality on them.
  const std::vector<std::uint32_t>& shrink(double lambda, double slack, Optimality& left);
  /// The nonzeros of w. Leaves `w_out` as it is where no set is chosen.
  const SparseVector& collect(SparseVector& w_out) const;

 private:
  std::vector<std::uint32_t> kept_;
};

}  // namespace proxbench::proximal
