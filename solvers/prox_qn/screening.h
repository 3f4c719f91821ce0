#pragma once
/// Gap-safe screening: coordinates that the duality gap at w proves zero never come back (core/dual.h).

#include <optional>

#include "core/dual.h"
#include "core/objective.h"
#include "solvers/prox_qn/iterate.h"

namespace proxbench::prox_qn {

class Screening {
 public:
  /// Where the gap allows: restricts the objective to what it does not prove to be zero, and to w's support;
  /// then selects again, from the `wanted` threshold on. `selection`: at w.
  void apply(Iterate& at, const SparseVector& w, double wanted, Objective::Selection& selection);
  /// Coordinates that are not looked at any more.
  double dropped() const { return dropped_; }

 private:
  std::optional<GapSafeScreen> screen_;
  double dropped_ = 0.0;
};

}  // namespace proxbench::prox_qn
