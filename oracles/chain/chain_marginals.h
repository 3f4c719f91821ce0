#pragma once

#include "core/factor_marginals.h"
#include "core/loss.h"
#include "core/oracle.h"

namespace proxbench {

/// FactorOracle::add_marginals() of a chain: one variable with K values for each position, a pair for each
/// two neighbours, whose extra weight is left*K + right.
double add_chain_marginals(const Structure& structure, Index instance, const FactorMarginals& given,
                           Cost cost, const ExpectedFeatures& expected, MarginalErrors& errors);

}  // namespace proxbench
