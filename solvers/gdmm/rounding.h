#pragma once
/// Sparse marginals of two neighbours, made consistent.

#include <span>
#include <vector>

#include "core/dual.h"

namespace proxbench {

/// Replaces weights on pairs of labels by those of a distribution whose marginals are `left` and `right`,
/// which each are >= 0 and sum to 1: rows scaled down, then columns, then a correction of rank one
/// (Altschuler, Weed, Rigollet 2017, "Near-linear time approximation algorithms for optimal transport via
/// Sinkhorn iteration", Algorithm 2). `pairs` are >= 0, each pair of labels once.
void round_onto(std::span<const LabelWeight> left, std::span<const LabelWeight> right,
                std::vector<PairWeight>& pairs);

}  // namespace proxbench
