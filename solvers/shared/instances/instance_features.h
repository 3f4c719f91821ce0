#pragma once
/// X instance by instance: the features that an instance carries, each once, with the positions where it is
/// on. What solvers need that change the weights of one instance at a time.

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/data/design_matrix.h"

namespace proxbench {

class InstanceFeatures {
 public:
  /// Instance i holds the positions [begin[i], begin[i+1]). Takes 4 bytes an entry of X, 12 where X is not
  /// binary, and 12 a feature of an instance. X is borrowed.
  InstanceFeatures(const DesignMatrix& x, std::span<const Index> begin);

  /// One instance; positions count from its first.
  class View {
   public:
    std::span<const Index> features;  ///< in order of first appearance
    std::span<const Index> positions(std::size_t f) const {
      return {all_->position_.data() + bound_[f], all_->position_.data() + bound_[f + 1]};
    }
    /// Null: all ones.
    const double* values(std::size_t f) const {
      return all_->value_.empty() ? nullptr : all_->value_.data() + bound_[f];
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
  std::vector<std::size_t> bound_;  ///< of all of them, one behind the other
  std::vector<Index> position_;
  std::vector<double> value_;
};

}  // namespace proxbench
