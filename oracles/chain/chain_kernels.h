#pragma once
/// The hot loops of chains, compiled once for each instruction set: forward-backward on a chunk of sequences
/// in the linear domain, its derivative, and steps of Viterbi.

#include <cstddef>

#include "core/base/types.h"

namespace proxbench {

/// Backward messages are normalised again after this many steps, so that posteriors sum to 1 however long a
/// sequence is.
inline constexpr std::size_t kChainRest = 64;
/// Pair marginals are summed over this many edges, gold is subtracted, and these differences are added up.
inline constexpr std::size_t kChainEdges = 512;

/// Consecutive sequences, their scores, and where the results go. Rows are positions of `width` doubles,
/// undefined behind the outputs. Buffers hold a multiple of kPad rows.
struct ChainChunk {
  std::size_t outputs = 0, width = 0;  ///< K, padded K
  const Index* begin = nullptr;        ///< sequence i has rows [begin[i] - origin, begin[i+1] - origin)
  std::size_t origin = 0;              ///< a multiple of kPad, less than kPad before begin[0]
  std::size_t sequences = 1;
  const Index* by_length = nullptr;  ///< the sequences, longest first

  /// Scores are base + alpha*direction, or only base if direction is null. They are stored by output in
  /// columns of `stride`, a multiple of kPad, starting at row 0. Rows without a position are read, too.
  const double *base = nullptr, *direction = nullptr;
  double alpha = 0.0;
  std::size_t stride = 0;
  /// exp(transition - largest_transition) with rows by the earlier label, and its transpose.
  const double *forward = nullptr, *backward = nullptr;
  const Index* gold = nullptr;  ///< gold labels to subtract, starting at row 0; null: none

  /// One number per row: the largest score, the sum of the message before scaling, and the inverse of this
  /// sum. So log Z is the sum over positions of top + log scale, plus the largest transition for each edge.
  double *top = nullptr, *scale = nullptr, *inverse = nullptr;
  double* message = nullptr;    ///< rows: scaled forward messages, which sum to 1
  double* posterior = nullptr;  ///< rows: p(y_t = k | x) - gold; null: only the forward pass
  double* pair = nullptr;       ///< width x width: sums of pair marginals - gold
  /// Rows that a derivative needs besides messages (ChainDerivativeChunk): backward messages b, with
  /// posterior = message . b, and exp(score - top) / scale. Both null: not kept. Requires posterior.
  double *back = nullptr, *ratio = nullptr;
  /// The columns that will receive the posteriors, starting at row 0; the kernel prefetches them. May be
  /// null.
  const double* residual = nullptr;
  std::size_t residual_stride = 0;

  double* weight = nullptr;  ///< rows of scratch: exp(score - top), then the input of backward messages
  const double **left = nullptr, **right = nullptr;  ///< scratch: kChainEdges pointers each
};

/// The derivative of forward-backward along a direction of scores, on a chunk of sequences.
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
///
/// Sequences and rows are as in ChainChunk.
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

/// out[t][j][k] = min(0, before[t][j] + (transition[j][k] + shift) + after[t][k]), the log marginals of
/// pairs. Rows of `before` and `after` have `width` doubles, rows of `transition` and `out` have K.
struct LogPairs {
  std::size_t outputs, width, edges;
  const double *before, *after, *transition;
  double shift;
  double* out;
};

struct ChainKernels {
  /// Fills message, top and scale. If posterior is not null, fills it and pair as well. Transitions may
  /// differ by up to ChainOracle::kLinearRange.
  void (*forward_backward)(const ChainChunk& chunk);
  /// Fills change and pair.
  void (*derivative)(const ChainDerivativeChunk& chunk);
  void (*log_pairs)(const LogPairs& pairs);
  /// A step of Viterbi, the product of a row and a matrix in the (max, +) algebra: out[k] = max over j < n of
  /// row[j] + matrix[j*width + k] for k < width. `width` is a multiple of kPad; n >= 1.
  void (*row_times_matrix)(const double* row, std::size_t n, const double* matrix, std::size_t width,
                           double* out);
};

/// The kernels of the instruction set in use (core/kernels/instruction_set.h).
const ChainKernels& chain_kernels();

}  // namespace proxbench
