#pragma once
/// What prox-qn carries along a path, from the solve of one lambda to the next: the buffers, the L-BFGS pairs
/// with all that belongs to them, and how the gradient changed.

#include <optional>

#include "core/solver.h"
#include "solvers/prox_qn/models/blocks.h"
#include "solvers/prox_qn/entering.h"
#include "solvers/prox_qn/iterate.h"
#include "solvers/prox_qn/settings.h"

namespace proxbench::prox_qn {

class PathMemory {
 public:
  /// At the start of a solve: forgets what it has no use for, all of it where the solve is not one of a
  /// sequence.
  void begin(const SolveProblem& problem);
  /// Steps that this solve is to keep for the next ones.
  static std::size_t history_capacity(const SolveProblem& problem, const Settings& settings);

  /// Leaves in the selection at the start those violators that will likely still be some at the optimum.
  void keep_foretold(const KnownStart& known, double lambda, Objective::Selection& selection);

  Buffers buffers;
  std::optional<CarriedPairs> pairs;
  double lambda = 0.0;  ///< of the last solve

 private:
  LastStart last_start_;
};

}  // namespace proxbench::prox_qn
