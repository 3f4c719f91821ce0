#pragma once
/// Inference on one instance from its own rows of scores, for stochastic and block methods. Each call counts
/// as its share of a pass. Several threads may call these at once.
///
/// What is not an inference (sizes, gold structures, scores of structures) stands in the interfaces that
/// Objective::oracle() offers.

#include <span>

#include "core/objective.h"

namespace proxbench {

/// InstanceOracle::infer_instance().
double infer_instance(Objective& objective, Index instance, const double* scores,
                      std::span<const double> extra, double* residual, std::span<double> extra_residual);
/// BeliefOracle::infer_beliefs().
double infer_beliefs(Objective& objective, Index instance, const double* scores,
                     std::span<const double> extra, double* log_beliefs);
/// InstanceMaxOracle::best_structure() with the cost of the loss.
LossAndCost best_structure(Objective& objective, Index instance, const double* scores,
                           std::span<const double> extra, std::span<Index> outputs);

}  // namespace proxbench
