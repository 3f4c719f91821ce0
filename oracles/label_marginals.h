#pragma once

#include "core/factor_marginals.h"
#include "core/loss.h"
#include "core/oracle.h"

namespace proxbench {

/// FactorOracle::add_marginals() of a label set: an instance is one position with a binary variable for each
/// output, and a pair for each two outputs, whose extra weight (label_pair()) counts if both are on.
double add_label_marginals(const Structure& structure, Index instance, const FactorMarginals& given,
                           Cost cost, const ExpectedFeatures& expected, MarginalErrors& errors);

}  // namespace proxbench
