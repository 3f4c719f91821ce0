#pragma once
/// Makes sparse pair marginals consistent with the label marginals of two neighbours.

#include <span>
#include <vector>

#include "core/factor_marginals.h"

namespace proxbench {

/// Replaces the weights in `pairs` by a distribution with the marginals `left` and `right`. Scales down rows,
/// then columns, and adds a correction of rank one (Altschuler, Weed, Rigollet 2017, "Near-linear time
/// approximation algorithms for optimal transport via Sinkhorn iteration", Algorithm 2). `left` and `right`
/// must be >= 0 and sum to 1. `pairs` must be >= 0 and hold each pair of labels at most once.
void round_onto(std::span<const LabelWeight> left, std::span<const LabelWeight> right,
                std::vector<PairWeight>& pairs);

}  // namespace proxbench
