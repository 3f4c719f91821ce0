#pragma once
/// Tells long work that it should stop, without revealing who decides.
///
/// There are two ways. Work that can stop at a place of its own asks a StopToken and ends early. All other
/// work runs within a StopScope and calls stop_point() often. That call throws Stopped, which reaches the
/// code that opened the scope. Parallel loops call stop_point() before each chunk.

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/numbers.h"

namespace proxbench {

/// Work asks this between its pieces, also from several threads at once. Once requested, a stop stays
/// requested. So if no stop is requested after parallel work, no piece of it was skipped.
class StopToken {
 public:
  /// Never requested.
  StopToken() = default;
  /// `asked` must follow the rules above.
  explicit StopToken(std::function<bool()> asked) : asked_(std::move(asked)) {}

  bool requested() const { return asked_ && asked_(); }

 private:
  std::function<bool()> asked_;
};

/// A flag that stops work once somebody else (Ctrl-C) sets it, or none.
class Interrupt {
 public:
  Interrupt(const std::atomic<bool>* flag = nullptr) : flag_(flag) {}
  bool operator()() const { return flag_ != nullptr && *flag_; }

 private:
  const std::atomic<bool>* flag_;
};

/// Gives work some time to end by itself once a stop is due. Several threads may ask at once.
class Patience {
 public:
  /// Call this only while a stop is due. Returns whether `seconds` have passed from the first call to `now`.
  bool ended(double now, double seconds) {
    double never = kInfinity;
    since_.compare_exchange_strong(never, now);
    return now >= since_ + seconds;
  }

 private:
  std::atomic<double> since_ = kInfinity;
};

/// Thrown by stop_point(). The results of the work are then incomplete.
class Stopped : public Error {
 public:
  using Error::Error;
};

/// While it lives, the work of this thread, and of the parallel loops that it starts, stops if the token says
/// so. A scope within another one replaces it. If programs make a run together, they stop together: not at
/// stop_point(), but where they next add up something (core/base/sum.h).
class StopScope {
 public:
  /// `doing` is what the work does: "interrupted while DOING".
  StopScope(StopToken token, std::string doing, bool together = false);
  ~StopScope() { current_ = outer_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// The innermost scope of this thread, or null.
  static const StopScope* current() { return current_; }

  bool requested() const { return token_.requested(); }
  /// Throws Stopped.
  [[noreturn]] void stop() const;

  /// Makes a scope of another thread that of this one while it lives.
  class Borrowed {
   public:
    explicit Borrowed(const StopScope* scope) : own_(std::exchange(current_, scope)) {}
    ~Borrowed() { current_ = own_; }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

   private:
    const StopScope* own_;
  };

 private:
  friend void stop_point();
  void check() const;

  static constinit thread_local const StopScope* current_;
  StopToken token_;
  std::string doing_;
  bool together_;
  const StopScope* outer_;
};

/// Throws Stopped if the scope of this thread demands it. Costs a few nanoseconds on average.
inline void stop_point() {
  if (StopScope::current_ != nullptr) StopScope::current_->check();
}

}  // namespace proxbench
