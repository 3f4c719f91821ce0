#pragma once
/// f* of one (data, lambda, mu, loss): the record of its reference run, as OUT/references holds it.

#include "experiments/config/config.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// What the runs of its problem say of it.
BestKnown best_of(const Run& reference);

/// A bound on objective - min F, the smaller of two: the certified gap; and F being convex, F(w) - F(w*) <=
/// kkt * ||w - w*||_1, where lambda*||w*||_1 <= F(w) and lambda > 0.
double slack(const Run& reference);

/// Whether its time limit ended it. Only then another run on the same data may find another f*.
bool ended_by_time_limit(const Run& reference);

/// Good enough for what a config asks of its references, or as good as it would get again.
bool serves(const Run& reference, const ExperimentConfig& config);

}  // namespace proxbench
