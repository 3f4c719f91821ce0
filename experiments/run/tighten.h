#pragma once
/// Better lower bounds on min F than the one from a model's own gradient.
///
/// The dual bound of any point is a bound on the same minimum (core/certificates/dual.h). A point's own bound
/// converges more slowly than its F, so a model may be much nearer to the optimum than its own bound proves.
/// Hence a solver continues from the model until the bounds of its iterates are good enough. The best of them
/// holds for the model, too.

#include <atomic>

#include "experiments/run/training.h"

namespace proxbench {

/// Runs prox-newton from w with its options for a reference (SolverInfo::as_reference), and with the penalty,
/// loss and seed of `settings`. w need not be near the optimum. Stops once the relative gap of its own
/// iterate is at most settings.tighten (> 0), or after settings.time_limit on the clock, which stands still
/// while bounds are computed. wall_seconds of the outcome includes everything. The clock decides nothing
/// else: without a time limit the same w gives the same bits. Throws Error if it fails.
RunOutcome tighten(const LoadedData& data, const SparseVector& w, const RunParameters& settings,
                   Interrupt interrupt = {});

/// Continues from the end of a run if its relative gap is above settings.tighten. The outcome's certificate
/// gets the better bound. The outcome also gets the new w if that is no worse in F and kkt. `tighten` of the
/// outcome says how this ended; it is gap-reached also if there was nothing to do.
void tighten(const LoadedData& data, const RunParameters& settings, RunOutcome& outcome,
             Interrupt interrupt = {});

}  // namespace proxbench
