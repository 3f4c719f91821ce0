#pragma once
/// Dense weights stored as one row of K numbers per feature, and updates that touch only the features of one
/// instance.

#include <span>

#include "core/objective.h"
#include "solvers/shared/instances/instance_features.h"

namespace proxbench {

/// X_i^T R_i: a direction in the weights of one instance's features and in the extra weights.
class InstanceDirection {
 public:
  /// Sets the row of each feature to the sum over its positions of x * rows[position], and copies `extra`.
  /// Rows have `width` doubles, the padding 0.
  void form(const InstanceFeatures::View& features, const double* rows, std::span<const double> extra,
            std::size_t width);
  double squared_norm() const;

  std::span<const Index> features;
  AlignedVector<double> rows;   ///< one row per feature
  AlignedVector<double> extra;  ///< padded with 0
};

class WeightRows {
 public:
  explicit WeightRows(const Objective& objective);

  std::size_t width() const { return width_; }
  std::span<const double> extra() const { return {extra_.data(), extras_}; }
  double* row(Index feature) { return rows_.data() + feature * width_; }
  const double* row(Index feature) const { return rows_.data() + feature * width_; }
  double* extra_row() { return extra_.data(); }

  void set(const SparseVector& w);
  SparseVector nonzeros() const { return nonzeros(1.0, *this, 0.0); }
  /// The nonzeros of scale * w + other_scale * other.
  SparseVector nonzeros(double scale, const WeightRows& other, double other_scale) const;
  std::size_t positions(Index instance) const { return begin_[instance + std::size_t{1}] - begin_[instance]; }
  /// Sets rows[t] to the scores of the instance's position t, the padding to 0.
  void scores(Index instance, double* rows) const;
  void scores(Index instance, AlignedVector<double>& rows) const {
    rows.resize(positions(instance) * width_);
    scores(instance, rows.data());
  }
  double squared_norm() const;
  /// <w, direction>.
  double dot(const InstanceDirection& direction) const;
  /// w += step * direction.
  void add(double step, const InstanceDirection& direction);

 private:
  const DesignMatrix* x_;
  std::span<const Index> begin_;
  Index outputs_;
  std::size_t width_, extras_;
  AlignedVector<double> rows_, extra_;
};

}  // namespace proxbench
