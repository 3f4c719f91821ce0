#pragma once
/// Better lower bounds on min F than the one that a model's own gradient gives.
///
/// Any point's dual bound is one on the same minimum (core/dual.h), and the bound of a point falls behind its
/// F: a model may be much nearer to the optimum than its own bound proves. So a solver goes on from the model
/// until its iterates' bounds are good enough; the best of them holds for the model, too.

#include "experiments/run/trainer.h"

namespace proxbench {

/// Runs prox-newton with its options for a reference (SolverInfo::as_reference) from w, which need not be
/// near the optimum, for the penalty, loss and seed of `settings`, until the relative gap of its own iterate
/// is settings.tighten (> 0), or for settings.time_limit on the clock, which stands still while bounds are
/// looked for. wall_seconds of the outcome are those of all of it. The clock decides nothing but the limit:
/// without one the same w gives the same bits. Throws Error where it fails.
RunOutcome tighten(const LoadedData& data, const SparseVector& w, const RunParameters& settings,
                   const std::atomic<bool>* interrupt = nullptr);

/// Goes on from the end of a run where its relative gap is above settings.tighten: the outcome's certificate
/// takes the better bound, and the outcome the other's w where that is no worse in F and kkt. The outcome's
/// `tighten` says how that ended: gap-reached also where there was nothing to do.
void tighten(const LoadedData& data, const RunParameters& settings, RunOutcome& outcome,
             const std::atomic<bool>* interrupt = nullptr);

}  // namespace proxbench
