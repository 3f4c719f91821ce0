#pragma once
/// How long work learns that it should be given up, without knowing who decides.

#include <functional>
#include <utility>

namespace proxbench {

/// Asked between pieces of work, also from several threads at once. Once requested, always requested: so
/// whoever finds no request after parallel work knows that no piece of it was skipped.
class StopToken {
 public:
  /// Never requested.
  StopToken() = default;
  /// `asked` keeps to the above.
  explicit StopToken(std::function<bool()> asked) : asked_(std::move(asked)) {}

  bool requested() const { return asked_ && asked_(); }

 private:
  std::function<bool()> asked_;
};

}  // namespace proxbench
