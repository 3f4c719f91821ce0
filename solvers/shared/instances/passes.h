#pragma once
/// The loop of solvers that visit one instance at a time. It reports to the monitor several times in each
/// pass. Every few passes the loop computes a full gradient, since only a full gradient shows convergence.

#include <functional>

#include "core/base/memory.h"
#include "core/base/options.h"
#include "core/solver.h"

namespace proxbench {

/// Passes between two full gradients, or between two inferences for a duality gap.
constexpr std::int64_t kPassesBetweenChecks = 10;

/// The option `reports`: the number of iterations in a pass.
OptionSpec reports_option();

struct Passes {
  /// Makes the visits [from, to) of the n visits of this pass. May return early if the monitor is out of
  /// time. Returns false if w has diverged.
  std::function<bool(std::int64_t pass, std::size_t from, std::size_t to)> visit;
  std::function<SparseVector()> weights;
  /// Called after each pass, before its full gradient. May be null.
  std::function<void(std::int64_t pass)> after = nullptr;
  /// For a solver that knows a lower bound on F. Called with the loss at weights(), instead of a test of kkt
  /// from a full gradient.
  std::function<bool(const SparseVector& w, double loss)> converged = nullptr;
};

/// Starts the clock. Returns false, with `result` filled in, if F is not finite at the start or w = 0 is
/// optimal.
bool begin_passes(const SolveProblem& problem, SolveResult& result);
/// Runs the passes until the end. Fills in status and w of `result`.
SolveResult run_passes(const SolveProblem& problem, std::size_t reports, const Passes& passes,
                       SolveResult result);

/// The option `batch`, for visits that are prepared in parallel at the same w.
OptionSpec batch_option();
/// The option `averaging`, which the papers on subgradients and Frank-Wolfe steps recommend. `best` is its
/// default.
OptionSpec averaging_option(const std::string& best);
/// Calls step(count) until the visits [from, to) are made or the monitor is out of time. `count` is the
/// number of visits left. A call of step makes at most `batch` visits. Returns false if a call did.
bool visit_in_batches(Monitor& monitor, std::size_t from, std::size_t to, std::size_t batch,
                      const std::function<bool(std::size_t count)>& step);

/// The option `memory_limit` of solvers that store numbers for each instance, in gigabytes; for
/// require_memory().
OptionSpec memory_limit_option();

}  // namespace proxbench
