#pragma once
/// What the caller of a sweep wants to hear, and how it stops one.

#include <atomic>
#include <functional>
#include <string>

#include "core/monitor.h"

namespace proxbench {

/// All but `interrupt` may be empty.
struct SweepHooks {
  std::function<void(const std::string&)> message;  ///< one line for people: what is going on
  std::function<void(const std::string&)> detail;   ///< one line for people who want to know more
  std::function<void(const std::string&)> warning;  ///< one line for people: what should worry them
  /// The newest sample of a run, now and then.
  std::function<void(const std::string& run, const Sample&)> on_sample;
  const std::atomic<bool>* interrupt = nullptr;  ///< set to stop cleanly

  bool stop() const { return interrupt && interrupt->load(); }
  void tell(const std::string& text) const {
    if (message) message(text);
  }
  void warn(const std::string& text) const {
    if (warning) warning(text);
  }
};

}  // namespace proxbench
