#pragma once
/// Maximisation over all instances by the best structure of each: MaxOracle of an oracle that finds one.

#include "core/oracle.h"

namespace proxbench {

/// MaxOracle::maximise(), from InstanceMaxOracle::best_structure() on each instance's rows of scores.
MaxOracle::Sums sum_best_structures(const Structure& structure, const InstanceMaxOracle& oracle,
                                    const ScorePoint& at, Cost cost, Residual* residual,
                                    const Parallel& parallel);

}  // namespace proxbench
