#pragma once
/// Registered items by name, in the order of registration.

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/options.h"

namespace proxbench {

/// Info must have a member `name`. Names are unique. References to items stay valid when more are added.
template <class Info>
class Registry {
 public:
  /// `kind` names the items in error messages: "solver", "oracle", "data format".
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  void add(Info info) {
    if (contains(info.name)) throw Error::usage(kind_, " '", info.name, "' is registered twice");
    items_.push_back(std::move(info));
  }
  /// The item with this name becomes `info`. There must be one.
  void replace(Info info) { *std::ranges::find(items_, info.name, &Info::name) = std::move(info); }
  /// Throws Error (kUsage) with a did-you-mean and the known names if there is no such item.
  const Info& find(std::string_view name) const {
    require_known(kind_, name, names());
    return *std::ranges::find(items_, name, &Info::name);
  }
  bool contains(std::string_view name) const {
    return std::ranges::find(items_, name, &Info::name) != items_.end();
  }
  const std::deque<Info>& items() const { return items_; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Info& info : items_) out.push_back(info.name);
    return out;
  }

 private:
  std::string kind_;
  std::deque<Info> items_;
};

}  // namespace proxbench
