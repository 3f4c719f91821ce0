#pragma once

#include <memory>

#include "core/oracle.h"

namespace proxbench {

/// FactorOracle::marginal_adder() of a chain: one variable with K values for each position, a pair for each
/// two neighbours, whose extra weight is left*K + right.
std::unique_ptr<MarginalAdder> chain_marginals(const Structure& structure, const FactorMarginals& given,
                                               Cost cost, const ExpectedFeatures& expected);

}  // namespace proxbench
