#include "core/monitor/schedule.h"

#include <algorithm>
#include <cmath>

namespace proxbench {

Schedule::Schedule(const MonitorOptions& options, bool with_accuracy, std::size_t positions)
    : options_(options),
      with_accuracy_(with_accuracy),
      gap_goal_(options.gap_target),
      stall_rule_(positions) {}

SampleKind Schedule::due(std::int64_t iteration, double seconds, double work, bool loss_given) {
  iteration_seconds_ = seconds - seconds_;
  seconds_ = seconds;
  if (only_start_) full_cost_ = std::min(full_cost_, iteration_seconds_);
  if (gap_goal_.due(work)) return SampleKind::kGap;
  const bool must = seconds + kNextIteration * iteration_seconds_ > (1.0 + kLargestGrowth) * sampled_at_ ||
                    accuracy_overdue();
  const bool wanted =
      iteration <= options_.dense_samples || seconds >= sampled_at_ * (1.0 + options_.sample_growth);
  if (!must && !wanted) return SampleKind::kNone;
  if (full_fits() || (must && !loss_given && options_.traced)) return SampleKind::kFull;
  return loss_given ? SampleKind::kLight : SampleKind::kNone;
}

bool Schedule::full_fits() const {
  const double budget = options_.sampling_budget;
  if (options_.sample_kkt || std::isinf(budget)) return true;
  return spent_ - spent_at_start_ + kFullSamples * full_cost_ <= budget * seconds_ &&
         full_cost_ <= budget * (seconds_ - full_at_);
}

bool Schedule::accuracy_overdue() const {
  return with_accuracy_ && seconds_ + iteration_seconds_ > (1.0 + kAccuracyGrowth) * accuracy_at_;
}

bool Schedule::accuracy_due() const {
  const double budget = kAccuracyShare * options_.sampling_budget;
  const bool fits = with_accuracy_ && budget > 0.0 &&
                    spent_on_accuracy_ + accuracy_cost_ <= budget * seconds_ &&
                    accuracy_cost_ <= budget * (seconds_ - accuracy_at_);
  return fits || accuracy_overdue();
}

void Schedule::sampled_in_full(double cost) {
  only_start_ = false;
  full_at_ = seconds_;
  full_cost_ = cost;
}

void Schedule::measured_accuracy(double cost) {
  accuracy_at_ = seconds_;
  accuracy_cost_ = cost;
  spent_on_accuracy_ += cost;
}

void Schedule::started() {
  spent_at_start_ = spent_;
  spent_on_accuracy_ = 0.0;
  only_start_ = true;
}

}  // namespace proxbench
