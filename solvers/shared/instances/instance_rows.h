#pragma once
/// A row of numbers for each position and those of the extra weights for each instance: what a solver keeps
/// of its instances, such as scores, or marginals less gold.

#include <span>

#include "core/objective.h"

namespace proxbench {

class InstanceRows {
 public:
  /// All 0.
  explicit InstanceRows(const Objective& objective)
      : begin_(objective.structure().begin()),
        width_(padded(objective.outputs())),
        extras_(objective.map().extra_weights()),
        rows_(objective.structure().positions() * width_, 0.0),
        extra_(objective.instances() * extras_, 0.0) {}

  /// What an object of this class takes.
  static double bytes(const Objective& objective) {
    return sizeof(double) *
           (static_cast<double>(objective.structure().positions() * padded(objective.outputs())) +
            static_cast<double>(objective.instances() * objective.map().extra_weights()));
  }

  /// The rows of an instance, one behind the other; padding 0.
  double* rows(Index i) { return rows_.data() + begin_[i] * width_; }
  const double* rows(Index i) const { return rows_.data() + begin_[i] * width_; }
  std::span<double> extra(Index i) { return std::span(extra_).subspan(i * extras_, extras_); }
  std::span<const double> extra(Index i) const { return std::span(extra_).subspan(i * extras_, extras_); }

 private:
  std::span<const Index> begin_;
  std::size_t width_, extras_;
  AlignedVector<double> rows_, extra_;
};

}  // namespace proxbench
