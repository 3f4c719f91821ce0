#pragma once
/// How the caller of a long computation hears about its progress and stops it.

#include <atomic>
#include <functional>
#include <string>

#include "core/monitor.h"

namespace proxbench {

/// Any of the functions may be empty. The texts are lines for people.
struct Hooks {
  std::function<void(const std::string&)> message;  ///< progress
  std::function<void(const std::string&)> detail;   ///< progress in more detail
  std::function<void(const std::string&)> warning;  ///< possible problems
  /// Gets the newest sample of a run from time to time.
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
