#pragma once
/// Records as JSON. A record lists its members once, as pairs of a key and a member; both writing and reading
/// use this list.

#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace proxbench {

template <class T>
concept ListsMembers = requires {
  T::members();
};

template <class Json, ListsMembers T>
void to_json(Json& json, const T& record) {
  std::apply([&](const auto&... member) { ((json[member.first] = record.*member.second), ...); },
             T::members());
}
/// Throws nlohmann::json::exception if a key is missing or has a value of another type.
template <class Json, ListsMembers T>
void from_json(const Json& json, T& record) {
  std::apply([&](const auto&... member) { (json.at(member.first).get_to(record.*member.second), ...); },
             T::members());
}

}  // namespace proxbench
