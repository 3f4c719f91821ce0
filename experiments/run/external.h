#pragma once
/// A run by a program of its own: `solver = external`.

#include <filesystem>

#include "experiments/run/trainer.h"

namespace proxbench {

/// Converts the data once. Then it lets the trainer run again and again, each time as a process of its own
/// that stops later by a constant factor, and makes a sample of the model of each: seconds of the process
/// without those that the smallest stop takes (RunFigures::load_seconds), and what the harness's own
/// evaluator finds of its weights. The first run of all is discarded. It ends as a solver does (kkt, gap,
/// target, limits), or where the trainer ends by its own rule. Files are written below `folder` and removed.
///
/// Throws TrainerMismatch where the trainer cannot take the data, and Error where it fails: it crashes, writes
/// no model, half a model or one of other names; with the end of its log.
RunOutcome train_externally(const LoadedData& data, const RunParameters& job,
                            const std::filesystem::path& folder, const RunHooks& hooks);

}  // namespace proxbench
