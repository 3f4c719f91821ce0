#pragma once
/// Numbers that a solver keeps of each instance, such as scores, or marginals minus gold: one row for each
/// position, and one number for each extra weight.

#include <span>

#include "core/objective.h"

namespace proxbench {

class InstanceRows {
 public:
  /// Starts with zeros.
  explicit InstanceRows(const Objective& objective)
      : begin_(objective.oracle().begin()),
        width_(padded(objective.outputs())),
        extras_(objective.map().extra_weights()),
        numbers_(size(objective), 0.0) {}

  /// The memory that an object of this class takes, in bytes.
  static double bytes(const Objective& objective) {
    return sizeof(double) * static_cast<double>(size(objective));
  }

  /// All numbers of an instance: its rows one after another, then those of the extra weights.
  std::span<double> of(Index i) { return {numbers_.data() + at(i), at(i + 1) - at(i)}; }
  double* rows(Index i) { return numbers_.data() + at(i); }
  const double* rows(Index i) const { return numbers_.data() + at(i); }
  std::span<double> extra(Index i) { return extra_of(of(i)); }
  std::span<const double> extra(Index i) const {
    return {numbers_.data() + at(i + 1) - padded(extras_), extras_};
  }
  /// The numbers of the extra weights in a vector laid out like of(i).
  std::span<double> extra_of(std::span<double> numbers) const {
    return numbers.last(padded(extras_)).first(extras_);
  }

 private:
  static std::size_t size(const Objective& objective) {
    return objective.oracle().positions() * padded(objective.outputs()) +
           objective.instances() * padded(objective.map().extra_weights());
  }
  std::size_t at(Index i) const { return begin_[i] * width_ + i * padded(extras_); }

  std::span<const Index> begin_;
  std::size_t width_, extras_;
  AlignedVector<double> numbers_;
};

}  // namespace proxbench
