#pragma once
/// Features are dropped before a solver starts if F has a minimiser without them.
///
/// Let c_j = sum_p |x_pj|. At every w, |g_jk| = |sum_p x_pj R(k, p)| <= c_j, since R is a probability minus
/// an indicator. A minimiser of F with w_jk != 0 satisfies g_jk + mu*w_jk = -lambda*sign(w_jk), so |g_jk| >=
/// lambda. If c_j <= lambda, this is impossible: probabilities lie strictly between 0 and 1 (or R(k, .) is
/// identically 0, as for a node that all leaves share), so |g_jk| < c_j, or c_j = 0. Then lambda > 0 is a
/// contradiction, and lambda = 0 < mu leaves mu*w_jk = 0. Hence all minimisers have w_jk = 0 for all k.
///
/// If mu = 0 and features i and j have equal columns, F has a minimiser with w_jk = 0 for all k. Adding w_jk
/// to w_ik and setting w_jk to 0 changes no score. It does not raise ||w||_1, since |w_ik + w_jk| <= |w_ik| +
/// |w_jk|. So only the first of several equal columns is kept; the other features are its copies.
///
/// kkt over the kept features is kkt over all features, at every w that is zero on the dropped ones. For a
/// feature with c_j <= lambda, the minimum-norm subgradient is zero. For a copy, it is at most as large as
/// that of the feature kept.

#include <optional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/types.h"
#include "core/data/design_matrix.h"
#include "core/penalty.h"

namespace proxbench {

/// Returns, for each feature of the list, the place in the list of the first feature with an equal column.
std::vector<std::size_t> first_copies(const DesignMatrix& x, std::span<const Index> features,
                                      const Parallel& parallel = Parallel());
/// Returns the features with c_j > lambda, ascending. If mu = 0 < lambda, leaves out copies.
std::vector<Index> needed_features(const DesignMatrix& x, const Penalty& penalty,
                                   const Parallel& parallel = Parallel());

/// Converts w over the kept features (K outputs each, then extra weights) to the coordinates of all J
/// features.
SparseVector expand_features(SparseVector w, const std::vector<Index>& kept, Index features, Index outputs);
/// Does the reverse of expand_features(). Returns nothing if w has a weight of a feature that is not kept.
std::optional<SparseVector> reduce_features(const SparseVector& w, const std::vector<Index>& kept,
                                            Index features, Index outputs);

}  // namespace proxbench
