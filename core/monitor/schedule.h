#pragma once
/// When samples are taken.
///
/// Between two samples the clock grows by at most a tenth, or by one iteration if that takes longer. Between
/// two test accuracies it grows by at most a quarter, or by two iterations. This rule ignores the budget: if
/// a solver hands over no loss, its full samples are taken off the clock even so, unless nobody reads the
/// trace (MonitorOptions::traced). Samples that are closer
/// together are full, or have an accuracy, only if MonitorOptions::sampling_budget pays for that.

#include <cstddef>
#include <cstdint>

#include "core/monitor/end_rules.h"
#include "core/monitor/monitor_options.h"

namespace proxbench {

/// A light sample takes the loss of the solver, a full one infers it. A gap sample is a full one with a lower
/// bound, whose cost is not part of the sampling budget.
enum class SampleKind { kNone, kLight, kFull, kGap };

class Schedule {
 public:
  /// `positions` are those of all instances (StallRule).
  Schedule(const MonitorOptions& options, bool with_accuracy, std::size_t positions);

  /// Says what step() should do at this iteration and this time on the clock. `work`: the solver's passes
  /// plus all Monitor::add_work().
  SampleKind due(std::int64_t iteration, double seconds, double work, bool loss_given);
  /// Whether a sample of this iteration is needed because the run may have stalled.
  bool stall_due(std::int64_t iteration) const { return options_.stalls && stall_rule_.due(iteration); }
  /// Whether a light or a gap sample measures test accuracy.
  bool accuracy_due() const;

  /// What has been done. Costs are in seconds off the clock.
  void sampled() { sampled_at_ = seconds_; }
  void sampled_in_full(double cost);
  void measured_accuracy(double cost);
  /// Adds to the time off the clock that counts against the budget.
  void spend(double seconds) { spent_ += seconds; }
  /// The sample of the start is done. It is not part of the budget of later ones.
  void started();

  /// The time off the clock of all samples but for the cost of a gap target.
  double spent() const { return spent_; }
  /// The time between the last two steps on the clock.
  double iteration_seconds() const { return iteration_seconds_; }
  /// The expected time of the next full sample in seconds: that of the last one. The sample of the start may
  /// have met cold caches, so the time of an iteration replaces it if that is less.
  double full_cost() const { return full_cost_; }
  GapGoal& gap_goal() { return gap_goal_; }
  StallRule& stall_rule() { return stall_rule_; }

 private:
  /// The clock should grow by at most the share kLargestGrowth between samples. So a sample is taken if the
  /// next iteration could exceed this limit. That iteration may take kNextIteration times as long as the last
  /// one, because other programs on the machine can slow it down.
  static constexpr double kLargestGrowth = 0.1, kNextIteration = 4.0;
  /// Between two test accuracies the clock grows by at most this share, if the next iteration takes no longer
  /// than the last one.
  static constexpr double kAccuracyGrowth = 0.25;
  /// A full sample is taken only if the budget has room for this many: the sample itself and those at the
  /// start and the end.
  static constexpr double kFullSamples = 3.0;
  /// The share of the budget that accuracies of light samples may take.
  static constexpr double kAccuracyShare = 0.5;

  bool full_fits() const;
  bool accuracy_overdue() const;

  const MonitorOptions options_;
  bool with_accuracy_;
  GapGoal gap_goal_;
  StallRule stall_rule_;
  double seconds_ = 0.0, iteration_seconds_ = 0.0;  ///< the clock at the last step, and what it grew by
  /// The clock at the last sample, full sample and accuracy.
  double sampled_at_ = 0.0, full_at_ = 0.0, accuracy_at_ = 0.0;
  bool only_start_ = false;  ///< no full sample but that of the start
  double full_cost_ = 0.0, accuracy_cost_ = 0.0;
  double spent_ = 0.0, spent_at_start_ = 0.0, spent_on_accuracy_ = 0.0;
};

}  // namespace proxbench
