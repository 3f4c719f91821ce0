#pragma once
/// Scores and residuals: a number for each output at each position, as the linear map and the oracles
/// exchange them.

#include <algorithm>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

/// A number for each (output k, position p), stored by output in columns of stride = padded(positions)
/// numbers; and one for each extra weight of the oracle.
///
/// Most oracles have a column for every output: column k is output k's. An oracle with CollapsedOutputs
/// (hierarchies) has columns for some outputs only:
/// - Scores: outputs without a column have score 0 everywhere.
/// - Residual: outputs without a column of their own share one, value(k, p) = share[k] *
///   column(column_of[k])[p] - [k is in p's gold structure]; without the latter where `gold` is false (a
///   derivative of a residual).
struct OutputColumns {
  static constexpr Index kNoColumn = static_cast<Index>(-1);

  OutputColumns() = default;
  /// A column for every output, zero-filled.
  OutputColumns(Index outputs, std::size_t positions, std::size_t extra_weights)
      : columns(outputs),
        stride(padded(positions)),
        values(stride * outputs, 0.0),
        extra(extra_weights, 0.0) {}
  /// No column yet.
  static OutputColumns collapsed(Index outputs, std::size_t positions, std::size_t extra_weights) {
    OutputColumns out(0, positions, extra_weights);
    out.column_of.assign(outputs, kNoColumn);
    return out;
  }

  /// Column i, 0 <= i < columns.
  double* column(std::size_t i) { return values.data() + i * stride; }
  const double* column(std::size_t i) const { return values.data() + i * stride; }
  bool one_each() const { return column_of.empty(); }
  /// The index of the column that output k reads; kNoColumn: none.
  Index column_index(Index k) const { return column_of.empty() ? k : column_of[k]; }
  /// That column; null: none.
  const double* find(Index k) const {
    return column_index(k) == kNoColumn ? nullptr : column(column_index(k));
  }
  /// Whether output k reads a column as it stands (Residual).
  bool owns(Index k) const { return share.empty() || share[k] == 0.0; }

  /// Forgets all columns and gives `n` fresh ones, not filled; column_of is left to the caller.
  void resize_columns(Index n) {
    columns = n;
    values.resize(n * stride);
  }
  /// Gives output k a column of zeros where it has none; returns its index. Not where one_each().
  Index add_column(Index k) {
    if (column_of[k] == kNoColumn) {
      column_of[k] = columns;
      values.resize((columns + std::size_t{1}) * stride);
      std::fill_n(column(columns), stride, 0.0);
      ++columns;
    }
    return column_of[k];
  }

  Index columns = 0;
  std::size_t stride = 0;
  AlignedVector<double> values;  ///< columns * stride
  std::vector<double> extra;
  std::vector<Index> column_of = {};  ///< size K, or empty: one column each
  std::vector<double> share = {};     ///< size K, 0 where the column is the output's own; empty: all are
  bool gold = true;                   ///< whether the gold structure is to be taken off what is shared
};

/// S = X W, with the extra weights themselves in `extra`.
using Scores = OutputColumns;
/// R = marginals - gold, with the gradient with respect to the extra weights in `extra`.
using Residual = OutputColumns;

/// A residual by position in a basis of the oracle's own, in which rows are short: row p has the entries
/// [begin[p], begin[p+1]), and CollapsedOutputs::expand() turns any sum of rows into numbers for the K
/// outputs.
struct CompactRows {
  struct Entry {
    Index slot;
    double value;
  };
  std::vector<std::uint64_t> begin;
  std::vector<Entry> entry;
};

/// The point base + alpha*direction of a line search (direction null: base alone). Extra weights likewise.
struct ScorePoint {
  const Scores& base;
  const Scores* direction = nullptr;
  double alpha = 0.0;
};

}  // namespace proxbench
