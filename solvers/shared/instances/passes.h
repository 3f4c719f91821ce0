#pragma once
/// The loop of solvers that visit one instance at a time: reports to the monitor within each pass, and full
/// gradients now and then, which alone show convergence.

#include <functional>

#include "core/base/options.h"
#include "core/solver.h"

namespace proxbench {

struct PassSettings {
  std::size_t reports;       ///< iterations in a pass
  std::int64_t check_every;  ///< passes between full gradients; none where no kkt is asked for
};

/// reports, check_every.
OptionTable pass_options();
PassSettings read_passes(const Options& options);

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
  /// Full gradients in a row without a smaller kkt after which the run has stalled. 0: no limit.
  std::int64_t patience = 0;
};

/// From after monitor.start() to the end. Fills status, w, iterations and the working set (d) of `result`.
SolveResult run_passes(const SolveProblem& problem, const PassSettings& settings, const Passes& passes,
                       SolveResult result);

/// batch, for visits that are prepared in parallel at the same w.
OptionSpec batch_option();
/// averaging, of solvers whose last w is the rougher one.
OptionSpec averaging_option();
/// Calls step(count) for [from, to) in batches until the monitor is out of time; `count` is what is left, and
/// step takes a batch of it at most. False where it did.
bool visit_in_batches(Monitor& monitor, std::size_t from, std::size_t to, std::size_t batch,
                      const std::function<bool(std::size_t count)>& step);

/// memory_limit: gigabytes, NaN for this machine's memory.
OptionSpec memory_limit_option();
/// Throws Error (kUsage), "`what` take ..., expected at most ...", where `bytes` exceed the limit.
void require_memory(double bytes, double limit_gigabytes, const std::string& what);

}  // namespace proxbench
