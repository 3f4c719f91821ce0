#include "core/base/stop_token.h"

#include <cstdint>

#include "core/base/processes.h"

namespace proxbench {

namespace {

/// One of this many calls of stop_point() asks the token. The token may read a clock, which may cost more
/// than the work between two calls.
constexpr std::uint32_t kCallsPerQuestion = 4;

}  // namespace

constinit thread_local const StopScope* StopScope::current_ = nullptr;

StopScope::StopScope(StopToken token, std::string doing, const Processes* processes)
    : token_(std::move(token)), doing_(std::move(doing)), processes_(processes), outer_(current_) {
  current_ = this;
}

void StopScope::check() const {
  static thread_local std::uint32_t calls = 0;
  if (processes_ == nullptr && calls++ % kCallsPerQuestion == 0 && token_.requested())
    throw Stopped("interrupted while " + doing_);
}

void agree_to_stop(const Processes* processes) {
  if (processes == nullptr) return;
  const StopScope* const scope = StopScope::current_;
  if (agree(processes, scope != nullptr && processes->first() && scope->token_.requested()))
    throw Stopped("interrupted" + (scope != nullptr ? " while " + scope->doing_ : ""));
}

}  // namespace proxbench
