#pragma once

#include "core/base/stop_token.h"

namespace proxbench {

/// Seconds of wall time since some fixed moment, for everything that is not on the timed clock.
double wall_seconds();

struct MonitorOptions {
  double time_limit = kInfinity;  ///< seconds on the clock
  std::int64_t max_iterations = std::numeric_limits<std::int64_t>::max();
  /// The samples that are taken in addition to those that the rule of a tenth demands: one in each of the
  /// first `dense_samples` iterations, then one whenever the clock has grown by the share `sample_growth`.
  /// For a solver that hands over no loss, they are taken only if the sampling budget pays for a full sample.
  double sample_growth = 0.01;
  std::int64_t dense_samples = 30;
  /// Whether each sample computes a full gradient, off the clock, for kkt and a lower bound on min F. All
  /// samples are then full, whatever they cost.
  bool sample_kkt = false;
  /// The share (>= 0) of the time on the clock so far that the monitor may spend, off the clock, on
  /// additional samples, which the rule of a tenth does not demand. Such a sample is full only if two
  /// conditions hold: all samples together, including those of the start and the end, stay within that share,
  /// and the time since the last full sample pays for it, so that full samples are spread out. A light sample
  /// has a test accuracy if half of the budget pays for it, spread out in the same way, or if the clock has
  /// grown by a quarter since the last accuracy. 0: no additional samples are full. Infinity: every sample is
  /// full.
  double sampling_budget = 0.01;
  /// Stop as soon as a sample shows F <= this. If the solver gives its losses, every iteration is checked.
  double objective_target = -kInfinity;
  /// Stop as soon as (F - the best lower bound seen)/|F| <= this (>= 0). 0: do not look for bounds. A bound
  /// costs two inferences and about two full gradients, off the clock and outside the sampling budget, since
  /// whoever sets a target wants it. Bounds for this are computed after counts of passes (GapRule), and
  /// no other bounds are compared with the target. So the end of a run does not depend on the clock.
  double gap_target = 0.0;
  /// Whether a run whose iterations change nothing ends as stalled (StallRule). Tests turn it off.
  bool stalls = true;
  /// If set from outside (Ctrl-C), the solver stops at the next iteration, or within one: see
  /// Monitor::out_of_time() and within_solver(). Samples are then cut short as well (Monitor::evaluation()).
  Interrupt interrupt = {};
  /// The wall clock, in seconds. Tests replace it. It is called from several threads if out_of_time() is.
  std::function<double()> clock = wall_seconds;
  /// If several programs make one run, returns the number that the first of them gave. All of them must call
  /// it at the same moments. Null if there is one program.
  std::function<double(double)> agree = nullptr;
};

}  // namespace proxbench
