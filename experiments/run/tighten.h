#pragma once
/// Better lower bounds on min F than the one that a model's own gradient gives.
///
/// Any point's dual bound is one on the same minimum (core/dual.h), and the bound of a point falls behind its
/// F: a model may be much nearer to the optimum than its own bound proves. So a solver goes on from the model
/// until its iterates' bounds are good enough; the best of them holds for the model, too.

#include <atomic>
#include <cstdint>

#include "core/monitor.h"
#include "experiments/run/trainer.h"

namespace proxbench {

struct TightenSettings {
  double lambda = 1.0, mu = 0.0;
  Loss loss = {};
  double gap_target = 1e-9;  ///< relative gap of the solver's own iterate at which it stops; > 0
  double seconds = 0.0;      ///< limit on the clock, which stands still while bounds are looked for; 0: none
  std::uint64_t seed = 1;
  const std::atomic<bool>* interrupt = nullptr;
};

struct Tightened {
  Status status;            ///< gap-reached, or why the solver stopped before
  SparseVector w;           ///< its last iterate
  Certificate certificate;  ///< of that, with the best bound of all iterates
  std::int64_t iterations = 0;
  double seconds = 0.0;  ///< wall seconds of all of it
};

/// Runs prox-newton with its options for a reference (SolverInfo::as_reference) from w, which need not be near
/// the optimum. The clock decides nothing but the limit: without one the same w gives the same bits. Throws
/// Error where it fails.
Tightened tighten(const LoadedData& data, const SparseVector& w, const TightenSettings& settings);

/// Goes on from the end of a run where its relative gap is above settings.gap_target: the outcome's
/// certificate takes the better bound, and the outcome the other's w where that is no worse in F and kkt. The
/// outcome's `tighten` says how that ended: gap-reached also where there was nothing to do.
void tighten(const LoadedData& data, const TightenSettings& settings, RunOutcome& outcome);

}  // namespace proxbench
