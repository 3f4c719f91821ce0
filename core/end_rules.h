#pragma once
/// Rules by which the monitor ends a run at counts of iterations. They never see the clock, so the same
/// command gives the same model.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/numbers.h"
#include "core/base/types.h"

namespace proxbench {

/// Says after which iterations a bound is computed for a gap target. Gaps mostly fall geometrically, so the
/// last two tell how many iterations are left. The next bound is computed after half of those, but after at
/// least a tenth and at most all of the iterations so far. So few bounds are computed on the way, and few
/// iterations are made beyond the target.
class GapRule {
 public:
  bool due(std::int64_t iteration) const { return iteration >= next_; }

  /// Records the relative gap found after this iteration (>= the last one), and the target for it.
  void checked(std::int64_t iteration, double gap, double target) {
    constexpr double kShareLeft = 0.5, kLeast = 0.1, kMost = 1.0;
    const auto done = static_cast<double>(iteration), between = static_cast<double>(iteration - last_);
    const double fall = std::log(gap_ / gap) / between;  // for each iteration
    double step = kMost * done;
    if (last_ > 0 && fall > 0.0 && std::isfinite(fall))
      step = std::min(step, kShareLeft * std::log(gap / target) / fall);
    next_ = iteration + std::max<std::int64_t>(1, std::llround(std::max(step, kLeast * done)));
    last_ = iteration;
    gap_ = gap;
  }

 private:
  std::int64_t next_ = 1, last_ = 0;
  double gap_ = kInfinity;
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
    stalled_ = std::abs(objective - before_) <= std::max(kStill * std::abs(objective), kStillLoss * positions_);
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
