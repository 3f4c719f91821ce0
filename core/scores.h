#pragma once
/// Scores and residuals: the linear map and the oracles exchange a number for each output at each position.

#include <algorithm>
#include <vector>

#include "core/base/types.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

/// A number for each (output k, position p), stored by output in columns of stride = padded(positions)
/// numbers, and a number for each extra weight of the oracle.
///
/// Most oracles have a column for every output: column k belongs to output k. An oracle with CollapsedOutputs
/// (hierarchies) has columns for some outputs only:
/// - Scores: outputs without a column have score 0 everywhere.
/// - Residual: outputs without a column of their own share one: value(k, p) = share[k] *
///   column(column_of[k])[p] - [k is in p's gold structure]. The last term is missing if `gold` is false (in
///   a derivative of a residual).
struct OutputColumns {
  static constexpr Index kNoColumn = static_cast<Index>(-1);

  OutputColumns() = default;
  /// Makes a zero-filled column for every output.
  OutputColumns(Index outputs, std::size_t positions, std::size_t extra_weights)
      : columns(outputs),
        stride(padded(positions)),
        values(stride * outputs, 0.0),
        extra(extra_weights, 0.0) {}
  /// Makes no columns; add_column() adds them.
  static OutputColumns collapsed(Index outputs, std::size_t positions, std::size_t extra_weights) {
    OutputColumns out(0, positions, extra_weights);
    out.column_of.assign(outputs, kNoColumn);
    return out;
  }

  /// Column i, 0 <= i < columns.
  double* column(std::size_t i) { return values.data() + i * stride; }
  const double* column(std::size_t i) const { return values.data() + i * stride; }
  bool one_each() const { return column_of.empty(); }
  /// The index of the column that output k reads, or kNoColumn.
  Index column_index(Index k) const { return column_of.empty() ? k : column_of[k]; }
  /// The column that output k reads, or null.
  const double* find(Index k) const {
    return column_index(k) == kNoColumn ? nullptr : column(column_index(k));
  }
  /// Whether output k has a column of its own, which it reads without scaling (Residual).
  bool owns(Index k) const { return share.empty() || share[k] == 0.0; }

  /// Replaces all columns by `n` new ones with undefined contents. The caller sets column_of.
  void resize_columns(Index n) {
    columns = n;
    values.resize(n * stride);
  }
  /// Gives output k a column of zeros if it has none. Returns the index of k's column. Must not be called if
  /// one_each().
  Index add_column(Index k) {
    if (column_of[k] == kNoColumn) {
      column_of[k] = columns;
      values.resize((columns + std::size_t{1}) * stride);
      std::fill_n(column(columns), stride, 0.0);
      ++columns;
    }
    return column_of[k];
  }

  /// Sets rows[p][k] = column(k)[begin + p], p < n. Rows are padded(columns) numbers apart, the padding is 0.
  void get_rows(std::size_t begin, std::size_t n, double* rows) const {
    kernels_in_use().columns_to_rows(values.data(), stride, columns, begin, n, rows, padded(columns));
  }
  /// Does the reverse.
  void set_rows(std::size_t begin, std::size_t n, const double* rows) {
    kernels_in_use().rows_to_columns(rows, padded(columns), columns, begin, n, values.data(), stride);
  }

  Index columns = 0;
  std::size_t stride = 0;
  AlignedVector<double> values;  ///< columns * stride
  std::vector<double> extra;
  std::vector<Index> column_of = {};  ///< size K; empty: output k has column k
  std::vector<double> share = {};     ///< size K, 0 if the column is the output's own; empty: all columns are
  bool gold = true;  ///< whether value(k, p) subtracts the gold structure from a shared column

  /// For scores that LinearMap::advance() moves step by step: their norm after the last step, and the sum of
  /// the norms before and after all steps since they were mapped from w. Each step adds an error of at most
  /// 2^-53 times the norms before and after it. LinearMap::apply() sets both to 0.
  double norm = 0.0, advanced = 0.0;
  /// Scores should be mapped from w again once their error may exceed this many roundings of their norm.
  static constexpr double kMostAdvanced = 64.0;
  bool drifted() const { return advanced > kMostAdvanced * norm; }
};

/// S = X W. `extra` holds the extra weights themselves.
using Scores = OutputColumns;
/// R = marginals - gold. `extra` holds the gradient in the extra weights.
using Residual = OutputColumns;

/// A residual stored by position, in a basis of the oracle's own in which rows are short. Row p has the
/// entries [begin[p], begin[p+1]). CollapsedOutputs::expand() turns any sum of rows into numbers for the K
/// outputs.
struct CompactRows {
  struct Entry {
    Index slot;
    double value;
  };
  std::vector<std::uint64_t> begin;
  std::vector<Entry> entry;
};

/// The point base + alpha*direction of a line search; only base if `direction` is null. The same holds for
/// extra weights.
struct ScorePoint {
  const Scores& base;
  const Scores* direction = nullptr;
  double alpha = 0.0;

  std::vector<double> extra() const {
    std::vector<double> out = base.extra;
    if (direction != nullptr)
      for (std::size_t e = 0; e < out.size(); ++e) out[e] += alpha * direction->extra[e];
    return out;
  }
};

}  // namespace proxbench
