#pragma once
/// Numbers by label, most of them zero: messages of one variable, as the factor searches read them.

#include <span>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

class LabelMessages {
 public:
  explicit LabelMessages(Index labels) : value_(labels, 0.0) {}

  Index labels() const { return static_cast<Index>(value_.size()); }
  double operator[](Index label) const { return value_[label]; }
  /// The labels whose number is not zero, each once.
  std::span<const Index> nonzero() const { return nonzero_; }

  void clear() {
    for (const Index label : nonzero_) value_[label] = 0.0;
    nonzero_.clear();
  }
  /// A label is given once between two calls of clear().
  void set(Index label, double value) {
    if (value == 0.0) return;
    value_[label] = value;
    nonzero_.push_back(label);
  }

 private:
  std::vector<double> value_;
  std::vector<Index> nonzero_;
};

}  // namespace proxbench
