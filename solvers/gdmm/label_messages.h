#pragma once
/// One number per label, mostly zeros. The factor searches read the messages of a variable in this form.

#include <span>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

class LabelMessages {
 public:
  explicit LabelMessages(Index labels) : value_(labels, 0.0), listed_(labels, 0) {}

  Index labels() const { return static_cast<Index>(value_.size()); }
  double operator[](Index label) const { return value_[label]; }
  const std::vector<double>& values() const { return value_; }
  /// The labels for which add() was called, each once. All others have the value 0.
  std::span<const Index> touched() const { return touched_; }

  void clear() {
    for (const Index label : touched_) {
      value_[label] = 0.0;
      listed_[label] = 0;
    }
    touched_.clear();
  }
  void add(Index label, double value) {
    value_[label] += value;
    if (listed_[label] != 0) return;
    listed_[label] = 1;
    touched_.push_back(label);
  }

 private:
  std::vector<double> value_;
  std::vector<char> listed_;
  std::vector<Index> touched_;
};

}  // namespace proxbench
