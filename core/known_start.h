#pragma once

#include "core/objective.h"

namespace proxbench {

/// Facts about the start of a solve that the caller already has. A solver may use them instead of computing
/// them again.
struct KnownStart {
  /// The state at the start. The solver may move it out and leave anything of the same shape in its place.
  SmoothState& state;
  /// Whether the solver has left in `state` the state at the point that it returned.
  bool at_result = false;
  /// Holds the whole support and all coordinates with |g| > `complete_above`, whether they are candidates or
  /// not.
  const Objective::Selection& selection;
  double complete_above;
};

}  // namespace proxbench
