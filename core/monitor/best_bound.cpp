#include "core/monitor/best_bound.h"

#include "core/base/options.h"
#include "core/certificates/rounding.h"

namespace proxbench {

void BestBound::saw(const SparseVector& w, const Sample& sample) {
  if (!(sample.objective < smallest_.objective)) return;
  smallest_ = sample;
  smallest_at_ = w;
}

void BestBound::raise(const PointBound& found, Sample& sample) {
  last_ = found.dual;
  rounding_ = found.rounding;
  raise(last_, "the gradient");
  if (point_ != nullptr) {
    const double value = point_->value(evaluator_);
    raise(value, "the solver's dual point");
    last_ = std::fmax(last_, value);
    if (const double gap = std::max(sample.objective - value, rounding_); std::isfinite(gap))
      sample.dual_gap = gap;
    sample.estimated_gap = point_->estimated_gap();
    sample.infeasibility = point_->infeasibility();
  }
  check();
}

void BestBound::raise(double bound, const char* from) {
  if (!std::isfinite(bound) || !(bound > best_)) return;
  best_ = bound;
  from_ = from;
}

void BestBound::set_gap(Sample& sample) const {
  if (std::isfinite(best_) && std::isfinite(sample.objective) && std::isfinite(rounding_))
    sample.gap = std::max(sample.objective - best_, rounding_);
}

void BestBound::value_dual_point() {
  if (point_ != nullptr) raise(point_->value(evaluator_), "the solver's dual point");
}

void BestBound::check() const {
  if (!(best_ > smallest_.objective)) return;
  const double off = point_rounding(evaluator_, smallest_at_, smallest_.loss).objective;
  if (!(best_ > smallest_.objective + off)) return;
  throw Error("the lower bound ", number_text(best_), " on min F, from ", from_,
              ", is above F = ", number_text(smallest_.objective), " at iteration ", smallest_.iteration,
              ", which is known to ", number_text(off), ": one of the two is wrong");
}

}  // namespace proxbench
