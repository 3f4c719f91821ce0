#pragma once

#include "core/certificates/dual.h"
#include "core/certificates/dual_points.h"
#include "core/monitor/sample.h"

namespace proxbench {

/// The best lower bound on min F that a run has found. Each bound is compared with all F that were found.
class BestBound {
 public:
  explicit BestBound(const Objective& evaluator) : evaluator_(evaluator) {}

  void watch(std::shared_ptr<const DualPoint> point) { point_ = std::move(point); }
  bool watches() const { return point_ != nullptr; }
  /// Takes F of a full sample at w.
  void saw(const SparseVector& w, const Sample& sample);
  /// Takes the bound `found` at the sample's w, and values the dual point. Throws Error if a bound is above
  /// an F that was found.
  void raise(const PointBound& found, Sample& sample);
  /// Sets the gap of a sample that has F.
  void set_gap(Sample& sample) const;
  /// Values the dual point once more, at the end of a run. May throw Stopped.
  void value_dual_point();
  /// Throws Error if the best bound is above an F that was found.
  void check() const;
  double best() const { return best_; }
  /// The bound of the last sample that looked for one, and the rounding of F there.
  double last() const { return last_; }
  double rounding() const { return rounding_; }

 private:
  void raise(double bound, const char* from);

  const Objective& evaluator_;
  std::shared_ptr<const DualPoint> point_;
  double best_ = -kInfinity, last_ = -kInfinity, rounding_ = 0.0;
  const char* from_ = "";
  Sample smallest_{.objective = kInfinity};  ///< of all full samples, the one with the smallest F
  SparseVector smallest_at_;
};

}  // namespace proxbench
