#pragma once
/// Records as JSON. A record lists its members once, as pairs of a key and a member; both writing and reading
/// use this list.

#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>
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
/// JSON has no NaN: a real number that is null is NaN. Throws nlohmann::json::exception if a key is missing
/// or has a value of another type.
template <class Json, ListsMembers T>
void from_json(const Json& json, T& record) {
  const auto read = [](const Json& from, auto& value) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, double>)
      value = from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.template get<double>();
    else
      from.get_to(value);
  };
  std::apply([&](const auto&... member) { (read(json.at(member.first), record.*member.second), ...); },
             T::members());
}

}  // namespace proxbench
