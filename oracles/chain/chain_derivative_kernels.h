#pragma once
/// The derivative of forward-backward along a direction of scores on a chunk of sequences, compiled once for
/// each instruction set.
///
/// With scaled messages a_t, sum 1, backward messages b_t, sum_k a_t(k) b_t(k) = 1, r_t = exp(score -
/// top)/scale, v_t = r_t . b_t and M = exp(transition - largest), forward-backward is
///
///     a_t = r_t . (a_{t-1} M)        b_t = M v_{t+1}        p_t = a_t . b_t
///
/// Along scores ds and transitions dM = M . dT, with h_t such that da_t sums to 0:
///
///     da_t = a_t . (ds_t - h_t) + r_t . (da_{t-1} M + a_{t-1} dM)
///     db_t = M dv_{t+1} + dM v_{t+1},   dv_t = r_t . (b_t . (ds_t - h_t) + db_t)
///     dp_t = da_t . b_t + a_t . db_t
///     d(sum of pair marginals) = M . sum_t (da_t v_{t+1}^T + a_t dv_{t+1}^T) + dT . (sum of pair marginals)
///
/// Taking h_t off all scores of a position changes no distribution, and keeps sums over long sequences from
/// growing.

#include <cstddef>

#include "core/base/types.h"
#include "core/kernels/instruction_set.h"

namespace proxbench {

/// Sequences and rows as in ChainChunk (chain_kernels.h).
struct ChainDerivativeChunk {
  std::size_t outputs, width;
  const Index* begin;
  std::size_t origin;
  std::size_t sequences;
  const Index* by_length;

  const double *forward, *backward;                ///< M and its transpose, rows of `width`
  const double *forward_change, *backward_change;  ///< dM and its transpose
  const double *message, *back, *ratio;            ///< rows a, b, r

  double* change;  ///< rows ds; afterwards dp
  double* pair;    ///< width x width: the first term of the pair marginals' derivative

  double *through, *message_change, *weight, *weight_change;  ///< rows of scratch
  double* shift;                                              ///< scratch: a number a row
  const double **left, **right;                               ///< scratch: two a row
};

struct ChainDerivativeKernels {
  /// Fills change and pair.
  void (*derivative)(const ChainDerivativeChunk& chunk);
};

/// For the instruction set in use; see core/kernels/instruction_set.h.
const ChainDerivativeKernels& chain_derivative_kernels();

}  // namespace proxbench
