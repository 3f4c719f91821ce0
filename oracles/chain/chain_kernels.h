#pragma once
/// Forward-backward on a chunk of sequences in the linear domain, compiled once for each instruction set.

#include <cstddef>

#include "core/base/types.h"
#include "core/kernels/instruction_set.h"

namespace proxbench {

/// Sequences that follow each other, their scores, and where the results go. Rows are positions, of `width`
/// doubles, what lies behind the outputs undefined. Buffers of rows hold a multiple of kPad of them.
struct ChainChunk {
  std::size_t outputs = 0, width = 0;  ///< K, padded K
  const Index* begin = nullptr;        ///< sequence i has rows [begin[i] - origin, begin[i+1] - origin)
  std::size_t origin = 0;              ///< a multiple of kPad, less than kPad before begin[0]
  std::size_t sequences = 1;
  const Index* by_length = nullptr;  ///< the sequences, longest first

  /// Scores are base + alpha*direction (null: base alone), by output in columns of `stride`, a multiple of
  /// kPad, from row 0 on; what rows without a position have is read, too.
  const double *base = nullptr, *direction = nullptr;
  double alpha = 0.0;
  std::size_t stride = 0;
  /// exp(transition - largest_transition), rows by the earlier label, and the transpose.
  const double *forward = nullptr, *backward = nullptr;
  double largest_transition = 0.0;

  double* log_partition = nullptr;  ///< one a sequence
  double* message = nullptr;        ///< rows: scaled forward messages, which sum to 1
  double* posterior = nullptr;      ///< rows: p(y_t = k | x); null: forward alone
  double* pair = nullptr;           ///< width x width: sums of pair marginals
  /// Rows of what a derivative needs beside messages (chain_derivative_kernels.h): backward messages b, with
  /// which posterior = message . b, and exp(score - top) / scale. Null, both: not kept. Only with posteriors.
  double *back = nullptr, *ratio = nullptr;
  /// Columns that posteriors are written to afterwards, from row 0 on: asked for in time. Null: none.
  const double* residual = nullptr;
  std::size_t residual_stride = 0;

  double* weight = nullptr;  ///< rows of scratch: exp(score - top), then what backward messages come from
  double *top = nullptr, *scale = nullptr, *inverse = nullptr;  ///< scratch: a number a row each
  Index* edge = nullptr;                                        ///< scratch: a number a row
};

/// out[t][j][k] = min(0, before[t][j] + (transition[j][k] + shift) + after[t][k]): log marginals of pairs.
/// Rows of `before` and `after` have `width` doubles, those of `transition` and `out` K.
struct LogPairs {
  std::size_t outputs, width, edges;
  const double *before, *after, *transition;
  double shift;
  double* out;
};

struct ChainKernels {
  /// Fills log_partition and message, and where posterior is not null that and pair. Transitions may differ
  /// by ChainOracle::kLinearRange.
  void (*forward_backward)(const ChainChunk& chunk);
  void (*log_pairs)(const LogPairs& pairs);
};

/// For the instruction set in use; see core/kernels/instruction_set.h.
const ChainKernels& chain_kernels();

}  // namespace proxbench
