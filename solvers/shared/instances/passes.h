#pragma once
/// The loop of solvers that visit one instance at a time: reports to the monitor within each pass, and full
/// gradients now and then, which alone show convergence.

#include <functional>

#include "core/base/options.h"
#include "core/solver.h"

namespace proxbench {

/// Passes between full gradients, or inferences for a duality gap, which alone show convergence.
constexpr std::int64_t kPassesBetweenChecks = 10;

/// The option `reports`: iterations in a pass.
OptionSpec reports_option();

struct Passes {
  /// Makes the visits [from, to) of this pass, n in all; may stop early where the monitor is out of time.
  /// False: w has no value any more.
  std::function<bool(std::int64_t pass, std::size_t from, std::size_t to)> visit;
  std::function<SparseVector()> weights;
  /// After each pass, before its full gradient. Null: nothing.
  std::function<void(std::int64_t pass)> after = nullptr;
  /// Of a solver that knows a lower bound on F: asked in place of a full gradient's kkt, with the loss at
  /// weights().
  std::function<bool(const SparseVector& w, double loss)> converged = nullptr;
};

/// From after monitor.start() to the end. Fills status, w, iterations and the working set (d) of `result`.
SolveResult run_passes(const SolveProblem& problem, std::size_t reports, const Passes& passes,
                       SolveResult result);

/// batch, for visits that are prepared in parallel at the same w.
OptionSpec batch_option();
/// averaging, which the papers on subgradients and Frank-Wolfe steps recommend.
OptionSpec averaging_option(const std::string& best);
/// Calls step(count) for [from, to) in batches until the monitor is out of time; `count` is what is left, and
/// step takes a batch of it at most. False where it did.
bool visit_in_batches(Monitor& monitor, std::size_t from, std::size_t to, std::size_t batch,
                      const std::function<bool(std::size_t count)>& step);

/// memory_limit: gigabytes, NaN for this machine's memory.
OptionSpec memory_limit_option();
/// Throws Error (kUsage), "`what` take ..., expected at most ...", where `bytes` exceed the limit.
void require_memory(double bytes, double limit_gigabytes, const std::string& what);

}  // namespace proxbench
