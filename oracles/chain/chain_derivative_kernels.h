#pragma once
/// The derivative of forward-backward along a direction of scores, on a chunk of sequences. It is compiled
/// once for each instruction set.
///
/// Let the scaled messages a_t sum to 1, and let the backward messages b_t satisfy sum_k a_t(k) b_t(k) = 1.
/// With r_t = exp(score - top)/scale, v_t = r_t . b_t and M = exp(transition - largest), forward-backward is
///
///     a_t = r_t . (a_{t-1} M)        b_t = M v_{t+1}        p_t = a_t . b_t
///
/// Along scores ds and transitions dM = M . dT, with h_t chosen such that da_t sums to 0:
///
///     da_t = a_t . (ds_t - h_t) + r_t . (da_{t-1} M + a_{t-1} dM)
///     db_t = M dv_{t+1} + dM v_{t+1},   dv_t = r_t . (b_t . (ds_t - h_t) + db_t)
///     dp_t = da_t . b_t + a_t . db_t
///     d(sum of pair marginals) = M . sum_t (da_t v_{t+1}^T + a_t dv_{t+1}^T) + dT . (sum of pair marginals)
///
/// Subtracting h_t from all scores of a position changes no distribution, and keeps sums over long sequences
/// from growing.

#include <cstddef>

#include "core/base/types.h"
#include "core/kernels/instruction_set.h"

namespace proxbench {

/// Sequences and rows are as in ChainChunk (chain_kernels.h).
struct ChainDerivativeChunk {
  std::size_t outputs, width;
  const Index* begin;
  std::size_t origin;
  std::size_t sequences;
  const Index* by_length;

  const double *forward, *backward;                ///< M and its transpose, rows of `width`
  const double *forward_change, *backward_change;  ///< dM and its transpose
  const double *message, *back, *ratio;            ///< rows a, b, r

  double* change;  ///< rows of ds; afterwards of dp
  double* pair;    ///< width x width: the first term of the pair marginals' derivative

  double *through, *message_change, *weight, *weight_change;  ///< rows of scratch
  double* shift;                                              ///< scratch: one number per row
  const double **left, **right;                               ///< scratch: two pointers per row
};

struct ChainDerivativeKernels {
  /// Fills change and pair.
  void (*derivative)(const ChainDerivativeChunk& chunk);
};

/// The kernels of the instruction set in use (core/kernels/instruction_set.h).
const ChainDerivativeKernels& chain_derivative_kernels();

}  // namespace proxbench
