#pragma once
/// When an epoch ends, and when the run makes no progress any more.

#include <cstdint>
#include <limits>

#include "core/quasi_newton/line_search.h"
#include "solvers/prox_qn/settings.h"
#include "solvers/prox_qn/working_set.h"

namespace proxbench::prox_qn {

/// Within an epoch the working set only shrinks; at its end all coordinates come back (Algorithm 2, lines 10
/// to 16). It ends when the l1 norm of the subgradient on the working set has come down to a tolerance, which
/// falls from epoch to epoch, or is relative to the epoch's own start.
class Epochs {
 public:
  /// `dear`: full gradients cost much more than an inference.
  Epochs(const Settings& settings, bool dear) : settings_(settings), dear_(dear) {}

  bool begun() const { return first_ > 0.0; }
  /// Of this epoch.
  std::int64_t iterations() const { return iterations_; }
  void start(double measure);
  /// One iteration more, after which the subgradient's l1 norm is `measure`. Returns whether the epoch is
  /// over.
  bool over(double measure, bool blocks);

 private:
  const Settings& settings_;
  bool dear_;
  double first_ = 0.0;  ///< measure at the start of the first epoch
  double target_ = 0.0;
  std::int64_t iterations_ = 0;
};

/// Tells the end of all progress from a pause: within rounding of F a step may still bring the subgradient
/// down, so that only where neither falls for long the memory is cleared; where that brings neither below
/// what it was, it is over.
class Progress {
 public:
  Progress(std::int64_t patience, double value) : patience_(patience), lowest_(value) {}

  void saw_subgradient(double largest);
  /// Whether the step counts as progress.
  bool saw_step(const ArmijoResult& step);
  /// Begins anew after a step without progress. Returns whether there was some since the last time.
  bool restart();

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::int64_t patience_, since_ = 0;
  double lowest_, lowest_kkt_ = kInfinity;
  double at_restart_ = kInfinity, kkt_at_restart_ = kInfinity;
};

}  // namespace proxbench::prox_qn
