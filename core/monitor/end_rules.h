#pragma once
/// Rules by which the monitor ends a run at counts of iterations or passes. They never see the clock, so the
/// same command gives the same model.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/numbers.h"
#include "core/base/types.h"

namespace proxbench {

/// Says after how many passes a bound is computed for a gap target. A bound costs three to five passes, off
/// the clock, and a run that reaches its target between two bounds goes on to the second one, on the clock.
/// With steps of k*sqrt(passes) a run of P passes spends about 6*sqrt(P)/k on bounds and k*sqrt(P)/2 beyond
/// its target. Gaps fall about geometrically, so the last two tell how far the target is: near it, steps are
/// shorter.
class GapRule {
 public:
  bool due(double passes) const { return passes >= next_; }
  /// Whether a bound is due within this number of passes.
  bool due_within(double some, double passes) const { return passes + some >= next_; }

  /// `gap` is the gap that was found, divided by the target. It may be infinite or NaN.
  void checked(double passes, double gap) {
    constexpr double kShortest = 0.5, kLongest = 2.0;  // in units of sqrt(passes)
    const double unit = std::sqrt(std::max(passes, 1.0)), excess = std::log(gap), fallen = excess_ - excess;
    const double way =
        fallen > 0.0 && std::isfinite(fallen) ? excess / fallen * (passes - passes_) : kInfinity;
    next_ = passes + (way < kLongest * unit ? std::max(way, kShortest * unit) : kLongest * unit);
    passes_ = passes;
    excess_ = excess;
  }

 private:
  double next_ = 0.0, passes_ = 0.0, excess_ = kNaN;
};

/// Decides when bounds prove the gap that a run aims at. It compares only bounds that were found at counts of
/// passes (GapRule).
class GapGoal {
 public:
  /// `target` is a relative gap; 0: there is no aim.
  explicit GapGoal(double target) : target_(target) {}
  bool due(double passes) const { return target_ > 0.0 && rule_.due(passes); }
  /// Whether the bound that is due next looks at the mean of iterates that includes this one.
  bool averages(double passes) const { return target_ > 0.0 && rule_.due_within(kAveraged, passes); }

  /// `bound` was found at an iterate with this F, which is known to `rounding`.
  void checked(double passes, double objective, double bound, double rounding) {
    // Rounding hides the target if it exceeds the target, and the gap is at most this many times the
    // rounding: then more iterations prove nothing more.
    constexpr double kHiddenGap = 2.0;
    if (std::isfinite(bound)) bound_ = std::max(bound_, bound);
    const double size = std::abs(objective), gap = std::max(objective - bound_, rounding);
    gap_ = gap > 0.0 ? gap / size : gap;
    hidden_ = rounding >= target_ * size && gap <= kHiddenGap * rounding && gap > 0.0;
    rule_.checked(passes, gap_ / target_);
  }
  bool reached() const { return target_ > 0.0 && gap_ <= target_; }
  bool hidden() const { return hidden_; }

 private:
  /// A bound looks at the mean of the iterates of about this many passes.
  static constexpr double kAveraged = 8.0;

  double target_;
  GapRule rule_;
  double bound_ = -kInfinity, gap_ = kInfinity;  ///< the best bound, and the relative gap at the last iterate
  bool hidden_ = false;
};

/// Finds runs whose iterations change nothing any more. F is compared after kFirst, 2*kFirst, 4*kFirst, ...
/// iterations. If the second half of all iterations has changed it by no more than a share kStill of itself,
/// or than kStillLoss at each position, the run has stalled: rounding changes F by as much. A solver with
/// random steps changes F by more than that even if it makes no progress.
class StallRule {
 public:
  explicit StallRule(std::size_t positions) : positions_(static_cast<double>(positions)) {}
  bool due(std::int64_t iteration) const { return iteration >= next_; }

  void checked(std::int64_t iteration, double objective) {
    constexpr double kStill = 0x1p-46, kStillLoss = 0x1p-50;
    stalled_ =
        std::abs(objective - before_) <= std::max(kStill * std::abs(objective), kStillLoss * positions_);
    before_ = objective;
    next_ = 2 * iteration;
  }
  bool stalled() const { return stalled_; }

 private:
  static constexpr std::int64_t kFirst = 64;
  double positions_;
  std::int64_t next_ = kFirst;
  double before_ = kInfinity;
  bool stalled_ = false;
};

}  // namespace proxbench
