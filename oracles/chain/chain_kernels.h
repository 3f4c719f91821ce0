#pragma once
/// Forward-backward on a chunk of sequences in the linear domain. It is compiled once for each instruction
/// set.

#include <cstddef>

#include "core/base/types.h"
#include "core/kernels/instruction_set.h"

namespace proxbench {

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
  double largest_transition = 0.0;

  double* log_partition = nullptr;  ///< one per sequence
  double* message = nullptr;        ///< rows: scaled forward messages, which sum to 1
  double* posterior = nullptr;      ///< rows: p(y_t = k | x); null: only the forward pass
  double* pair = nullptr;           ///< width x width: sums of pair marginals
  /// Rows that a derivative needs besides messages (chain_derivative_kernels.h): backward messages b, with
  /// posterior = message . b, and exp(score - top) / scale. Both null: not kept. Requires posterior.
  double *back = nullptr, *ratio = nullptr;
  /// The columns that will receive the posteriors, starting at row 0. They are prefetched. May be null.
  const double* residual = nullptr;
  std::size_t residual_stride = 0;

  double* weight = nullptr;  ///< rows of scratch: exp(score - top), then the input of backward messages
  double *top = nullptr, *scale = nullptr, *inverse = nullptr;  ///< scratch: one number per row each
  Index* edge = nullptr;                                        ///< scratch: one number per row
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
  /// Fills log_partition and message. If posterior is not null, fills it and pair as well. Transitions may
  /// differ by up to ChainOracle::kLinearRange.
  void (*forward_backward)(const ChainChunk& chunk);
  void (*log_pairs)(const LogPairs& pairs);
};

/// The kernels of the instruction set in use (core/kernels/instruction_set.h).
const ChainKernels& chain_kernels();

}  // namespace proxbench
