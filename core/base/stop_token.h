#pragma once
/// Tells long work that it should stop, without revealing who decides.

#include <functional>
#include <utility>

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

}  // namespace proxbench
