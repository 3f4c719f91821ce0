#pragma once
/// X by instance: each feature of an instance once, with the positions at which the feature is on. For
/// solvers that change the weights of one instance's features at a time.

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/data/design_matrix.h"

namespace proxbench {

class InstanceFeatures {
 public:
  /// Instance i holds the positions [begin[i], begin[i+1]). The memory is 4 bytes per entry of X (12 if X is
  /// not binary) and 12 bytes per feature of an instance. X is borrowed.
  InstanceFeatures(const DesignMatrix& x, std::span<const Index> begin);

  /// One instance. Positions are counted from its first one.
  class View {
   public:
    std::span<const Index> features;  ///< in order of first appearance
    std::span<const Index> positions(std::size_t f) const {
      return {all_->position_.data() + bound_[f], all_->position_.data() + bound_[f + 1]};
    }
    /// The values aligned with positions(f). Null if all are 1.
    const double* values(std::size_t f) const {
      return all_->value_.empty() ? nullptr : all_->value_.data() + bound_[f];
    }

    /// rows[t] += x * row at the positions t of features[f]. Rows have `width` doubles.
    void add_to(double* rows, std::size_t f, const double* row, std::size_t width) const {
      const std::span<const Index> at = positions(f);
      const double* x = values(f);
      for (std::size_t e = 0; e < at.size(); ++e)
        kernels_in_use().add_scaled(rows + at[e] * width, x == nullptr ? 1.0 : x[e], row, width);
    }

   private:
    friend class InstanceFeatures;
    const InstanceFeatures* all_;
    const std::size_t* bound_;
  };
  View of(Index instance) const;

 private:
  std::vector<std::size_t> begin_;  ///< instance i has features_[begin_[i]..begin_[i+1])
  std::vector<Index> features_;
  std::vector<std::size_t> bound_;  ///< features_[f] has position_[bound_[f]..bound_[f+1])
  std::vector<Index> position_;
  std::vector<double> value_;
};

}  // namespace proxbench
