#pragma once
/// Features that can never enter the model are dropped before a solver starts.
///
/// Let c_j = sum_p |x_pj|. At every w, |g_jk| = |sum_p x_pj R(k, p)| <= c_j, since R is a probability minus
/// an indicator. A minimiser of F with w_jk != 0 satisfies g_jk + mu*w_jk = -lambda*sign(w_jk), so |g_jk| >=
/// lambda. If c_j <= lambda, this is impossible: probabilities lie strictly between 0 and 1 (or R(k, .) is
/// identically 0, as for a node that all leaves share), so |g_jk| < c_j, or c_j = 0. Then lambda > 0 is a
/// contradiction, and lambda = 0 < mu leaves mu*w_jk = 0. Hence all minimisers have w_jk = 0 for all k.
/// Moreover, at every w whose coordinates of the dropped features are zero, so is the minimum-norm
/// subgradient of these coordinates. So kkt over the kept features is kkt over all features.

#include <optional>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/types.h"
#include "core/data/design_matrix.h"

namespace proxbench {

/// Returns the features with c_j > lambda, ascending.
std::vector<Index> features_that_can_enter(const DesignMatrix& x, double lambda,
                                           const Parallel& parallel = Parallel());

/// Converts w over the kept features (K outputs each, then extra weights) to the coordinates of all J
/// features.
SparseVector expand_features(SparseVector w, const std::vector<Index>& kept, Index features, Index outputs);
/// Does the reverse of expand_features(). Returns nothing if w has a weight of a feature that is not kept.
std::optional<SparseVector> reduce_features(const SparseVector& w, const std::vector<Index>& kept,
                                            Index features, Index outputs);

}  // namespace proxbench
