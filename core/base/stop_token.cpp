#include "core/base/stop_token.h"

#include <cstdint>

namespace proxbench {

namespace {

/// One of this many calls of stop_point() asks the token. The token may read a clock, which may cost more
/// than the work between two calls.
constexpr std::uint32_t kCallsPerQuestion = 4;

}  // namespace

constinit thread_local const StopScope* StopScope::current_ = nullptr;

StopScope::StopScope(StopToken token, std::string doing, bool together)
    : token_(std::move(token)), doing_(std::move(doing)), together_(together), outer_(current_) {
  current_ = this;
}

void StopScope::check() const {
  static thread_local std::uint32_t calls = 0;
  if (!together_ && calls++ % kCallsPerQuestion == 0 && requested()) stop();
}

void StopScope::stop() const {
  throw Stopped("interrupted while " + doing_);
}

}  // namespace proxbench
