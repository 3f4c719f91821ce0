#pragma once
/// What the caller of long work wants to hear, and how it stops it.

#include <atomic>
#include <functional>
#include <string>

#include "core/monitor.h"

namespace proxbench {

/// All but `interrupt` may be empty. The texts are lines for people.
struct Hooks {
  std::function<void(const std::string&)> message;  ///< what is going on
  std::function<void(const std::string&)> detail;   ///< what only some want to know
  std::function<void(const std::string&)> warning;  ///< what should worry people
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
