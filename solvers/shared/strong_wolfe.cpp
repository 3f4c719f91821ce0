#include "solvers/shared/strong_wolfe.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace proxbench::dense {

namespace {

/// Trials keep the share kMargin of an interval away from its ends. While the search expands, each step grows
/// by a factor between kLeastGrowth and kMostGrowth.
constexpr double kMargin = 0.1, kLeastGrowth = 2.0, kMostGrowth = 10.0;

struct At {
  double alpha;
  LineValue phi;
};

/// The minimiser of the cubic that has the values and slopes of a and b, or NaN if the cubic has none.
double cubic_minimiser(const At& a, const At& b) {
  const double d1 = a.phi.slope + b.phi.slope - 3.0 * (a.phi.value - b.phi.value) / (a.alpha - b.alpha);
  const double d2 = std::copysign(std::sqrt(d1 * d1 - a.phi.slope * b.phi.slope), b.alpha - a.alpha);
  return b.alpha - (b.alpha - a.alpha) * (b.phi.slope + d2 - d1) / (b.phi.slope - a.phi.slope + 2.0 * d2);
}

class Search {
 public:
  Search(const LineValue& at_zero, const WolfeOptions& options, const std::function<LineValue(double)>& trial)
      : zero_{0.0, at_zero},
        options_(options),
        allowance_(options.rounding * std::numeric_limits<double>::epsilon() * std::abs(at_zero.value)),
        trial_(trial) {}

  WolfeResult run(double first) {
    At before = zero_, now{first, {}};
    while (left()) {
      now.phi = ask(now.alpha);
      if (too_high(now) || (before.alpha > 0.0 && not_below(now, before))) return zoom(before, now);
      if (flat(now)) return accept();
      if (now.phi.slope >= 0.0) return zoom(now, before);
      const double next = cubic_minimiser(before, now);
      const double least = kLeastGrowth * now.alpha, most = kMostGrowth * now.alpha;
      before = now;
      now.alpha = std::isfinite(next) ? std::clamp(next, least, most) : most;
    }
    return fall_back(before);
  }

 private:
  bool left() const { return result_.trials < options_.max_trials; }
  LineValue ask(double alpha) {
    ++result_.trials;
    result_.alpha = alpha;
    return trial_(alpha);
  }
  static bool finite(const At& at) { return std::isfinite(at.phi.value) && std::isfinite(at.phi.slope); }
  bool too_high(const At& at) const {
    const double change = at.phi.value - zero_.phi.value;
    return !finite(at) || change > options_.decrease * at.alpha * zero_.phi.slope + allowance_;
  }
  bool not_below(const At& at, const At& other) const { return at.phi.value - other.phi.value > allowance_; }
  bool flat(const At& at) const { return std::abs(at.phi.slope) <= -options_.curvature * zero_.phi.slope; }
  WolfeResult accept() {
    result_.accepted = true;
    return result_;
  }

  /// `low` satisfies sufficient decrease, has the lower value of the two, and descends towards `high`.
  WolfeResult zoom(At low, At high) {
    while (left()) {
      const double width = high.alpha - low.alpha;
      double share = finite(high) ? (cubic_minimiser(low, high) - low.alpha) / width : 0.5;
      share = std::isfinite(share) ? std::clamp(share, kMargin, 1.0 - kMargin) : 0.5;
      At now{low.alpha + share * width, {}};
      if (now.alpha == low.alpha || now.alpha == high.alpha) break;
      now.phi = ask(now.alpha);
      if (too_high(now) || not_below(now, low)) {
        high = now;
        continue;
      }
      if (flat(now)) return accept();
      if (now.phi.slope * width >= 0.0) high = low;
      low = now;
    }
    return fall_back(low);
  }

  /// Repeats the best trial with sufficient decrease, if there is one.
  WolfeResult fall_back(const At& best) {
    if (best.alpha == 0.0) return result_;
    if (best.alpha != result_.alpha && !finite({best.alpha, ask(best.alpha)})) return result_;
    return accept();
  }

  At zero_;
  const WolfeOptions& options_;
  double allowance_;
  const std::function<LineValue(double)>& trial_;
  WolfeResult result_;
};

}  // namespace

WolfeResult strong_wolfe(const LineValue& at_zero, double first, const WolfeOptions& options,
                         const std::function<LineValue(double)>& trial) {
  return Search(at_zero, options, trial).run(first);
}

}  // namespace proxbench::dense
