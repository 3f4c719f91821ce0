#pragma once
/// Values of any type, between a member of a struct and the forms in which it is written (schema.h): text of
/// a config or flag, JSON, CSV.

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/numbers.h"

namespace proxbench {

struct Value {
  using List = std::vector<Value>;
  struct Member;
  using Map = std::vector<Member>;  ///< in the order of writing

  /// No value (a member that was not measured), one of the simple types, or several values.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Map> held;

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&held);
  }
  bool none() const { return get_if<std::monostate>() != nullptr; }
  /// Throws Error if the value has another type.
  template <class T>
  const T& as() const {
    if (const T* value = get_if<T>()) return *value;
    throw Error("found a value of another type");
  }
  /// NaN for no value. Throws Error if the value is no number, or if it is out of the range of T.
  template <class T>
  T number() const;
};

struct Value::Member {
  Member(std::string name, Value value) : first(std::move(name)), second(std::move(value)) {}
  std::string first;
  Value second;
};

template <class T>
T Value::number() const {
  constexpr bool kReal = std::floating_point<T>;
  const auto converted = [&](auto value) {
    if constexpr (!kReal)
      if (!std::in_range<T>(value)) throw Error("found a number that is out of range");
    return static_cast<T>(value);
  };
  if (const auto* value = get_if<std::int64_t>()) return converted(*value);
  if (const auto* value = get_if<std::uint64_t>()) return converted(*value);
  if constexpr (kReal) return none() ? kNaN : as<double>();
  throw Error("found no integer");
}

/// A class that is written as a single value.
template <class T>
concept WrittenAsValue = requires(const T& member, const Value& value) {
  { member.to_value() } -> std::same_as<Value>;
  { T::from_value(value) } -> std::same_as<T>;
};
/// A struct with a table of its members: T::schema() returns Schema<T>.
template <class T>
concept HasSchema = requires {
  T::schema();
};
template <class T>
concept IsOptional = requires(T member) {
  member.emplace();
  member.reset();
};
template <class T>
concept IsMap = requires {
  typename T::mapped_type;
};
template <class T>
concept IsList = requires(T member) {
  member.push_back(typename T::value_type());
}
&&!std::same_as<T, std::string>;

/// The value of a bool, number, text, optional, list, map, or a class of one of the concepts above.
template <class T>
Value value_of(const T& member) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>)
    return {member};
  else if constexpr (std::floating_point<T>)
    return {double{member}};
  else if constexpr (std::unsigned_integral<T>)
    return {std::uint64_t{member}};
  else if constexpr (std::integral<T>)
    return {std::int64_t{member}};
  else if constexpr (WrittenAsValue<T>)
    return member.to_value();
  else if constexpr (HasSchema<T>)
    return T::schema().value_of(member);
  else if constexpr (IsOptional<T>)
    return member ? value_of(*member) : Value{};
  else if constexpr (IsMap<T>) {
    Value::Map out;
    for (const auto& [name, value] : member) out.emplace_back(name, value_of(value));
    return {std::move(out)};
  } else {
    Value::List out;
    for (const typename T::value_type& one : member) out.push_back(value_of(one));
    return {std::move(out)};
  }
}

/// Sets the member. No value is NaN, an empty optional, list or map. Throws Error if a value of this type
/// cannot be stored.
template <class T>
void assign(T& member, const Value& value) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>)
    member = value.as<T>();
  else if constexpr (std::integral<T> || std::floating_point<T>)
    member = value.number<T>();
  else if constexpr (WrittenAsValue<T>)
    member = T::from_value(value);
  else if constexpr (HasSchema<T>)
    T::schema().assign(member, value);
  else if constexpr (IsOptional<T>) {
    member.reset();
    if (!value.none()) assign(member.emplace(), value);
  } else if constexpr (IsMap<T>) {
    member.clear();
    if (value.none()) return;
    for (const auto& [name, one] : value.as<Value::Map>()) assign(member[name], one);
  } else {
    member.clear();
    if (value.none()) return;
    for (const Value& one : value.as<Value::List>()) {
      typename T::value_type item{};
      assign(item, one);
      member.push_back(std::move(item));
    }
  }
}

}  // namespace proxbench
