#pragma once
/// f* of one (data, lambda, mu, loss), from the record of its reference run in OUT/references.

#include "experiments/config/config.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// The part of a reference that is copied into the records of its problem's runs.
BestKnown best_of(const Run& reference);

/// Returns the smaller of two bounds on F(w) - min F. The first is the certified gap. The second, for lambda
/// > 0, is kkt * (||w||_1 + F(w)/lambda): since F is convex, F(w) - F(w*) <= kkt * ||w - w*||_1, and
/// lambda*||w*||_1 <= F(w).
double slack(const Run& reference);

/// Whether the time limit ended the reference run. Only then can another run on the same data find another
/// f*.
bool ended_by_time_limit(const Run& reference);

/// Whether the reference is as exact as the config asks, or as exact as a new run would make it.
bool serves(const Run& reference, const ExperimentConfig& config);

}  // namespace proxbench
