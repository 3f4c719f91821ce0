#pragma once

#include <memory>

#include "core/oracle.h"

namespace proxbench {

/// FactorOracle::marginal_adder() of a label set: an instance is one position with a binary variable for each
/// output, and a pair for each two outputs, whose extra weight (label_pair()) counts if both are on.
std::unique_ptr<MarginalAdder> label_marginals(const Structure& structure, const FactorMarginals& given,
                                               Cost cost, const ExpectedFeatures& expected);

}  // namespace proxbench
