#pragma once
/// The clock of a run. Only the monitor reads it.

#include "core/monitor/monitor_options.h"

namespace proxbench {

/// Returns the CPU seconds of this process.
double process_cpu_seconds();

/// Counts the time of a solver. It stands while somebody else works: then it runs on only as the time off the
/// clock, which take_off_clock() hands out.
class RunClock {
 public:
  /// Borrows the options.
  explicit RunClock(const MonitorOptions& options) : options_(options) {}

  /// Seconds on the clock up to the last pause.
  double seconds() const { return seconds_; }
  double cpu_seconds() const { return cpu_seconds_; }
  bool running() const { return running_; }
  void pause();
  /// Returns the same as take_off_clock().
  double resume();
  /// Seconds since the clock stopped or since the last call of this. The clock must stand.
  double take_off_clock();
  /// Forgets the time since the clock stopped.
  void skip_off_clock() { off_mark_ = now(); }
  double now() const { return agreed(own()); }

  bool limit_passed() const { return seconds_ >= options_.time_limit; }
  bool interrupted() const { return agreed(interrupted_here() ? 1.0 : 0.0) != 0.0; }

  /// The following answer at any time, for this program alone.
  bool alone() const { return options_.agree == nullptr; }
  double own() const { return options_.clock(); }
  bool interrupted_here() const { return options_.interrupt(); }
  bool limit_passed_here() const;

  /// A scope that the token ends (StopScope).
  StopScope scope(std::function<bool()> ends, std::string doing) const {
    return {StopToken(std::move(ends)), std::move(doing), !alone()};
  }

 private:
  double agreed(double own) const { return alone() ? own : options_.agree(own); }

  const MonitorOptions& options_;
  bool running_ = false;
  double seconds_ = 0.0, cpu_seconds_ = 0.0, wall_mark_ = 0.0, cpu_mark_ = 0.0, off_mark_ = 0.0;
};

}  // namespace proxbench
