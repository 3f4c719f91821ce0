#pragma once
/// A run by an external program: `solver = external`.

#include "experiments/base/paths.h"
#include "experiments/run/training.h"

namespace proxbench {

/// Converts the data once. Then it runs the trainer again and again, each time in a new process with a stop
/// that is later by a constant factor. Each resulting model gives one sample. Its time is the wall seconds of
/// the process minus the seconds of the run with the smallest stop (RunFigures::load_seconds). Its objective
/// and other values come from the harness's own evaluator. The very first run is discarded. Training ends
/// like a solver (kkt, gap, target, limits), or when the trainer ends by its own rule. All files are written
/// below `folder` and removed.
///
/// Throws TrainerMismatch if the trainer cannot take the data. Throws Error, with the end of the trainer's
/// log, if it crashes or writes no model, half a model, or a model with other names.
RunOutcome train_externally(const LoadedData& data, const RunParameters& job, const fs::path& folder,
                            const RunHooks& hooks);

}  // namespace proxbench
