#pragma once
/// Values and records as JSON. JSON has no NaN: a number that is not finite is null.

#include <nlohmann/json.hpp>

#include "core/base/schema.h"

namespace proxbench {

nlohmann::ordered_json json_of(const Value& value);

template <class Json>
Value value_of_json(const Json& json) {
  if (json.is_boolean()) return {json.template get<bool>()};
  if (json.is_number_unsigned()) return {json.template get<std::uint64_t>()};
  if (json.is_number_integer()) return {json.template get<std::int64_t>()};
  if (json.is_number()) return {json.template get<double>()};
  if (json.is_string()) return {json.template get<std::string>()};
  Value::List list;
  Value::Map map;
  if (json.is_array())
    for (const Json& one : json) list.push_back(value_of_json(one));
  if (json.is_object())
    for (const auto& [name, one] : json.items()) map.emplace_back(name, value_of_json(one));
  return json.is_array() ? Value{std::move(list)} : json.is_object() ? Value{std::move(map)} : Value{};
}

/// Reads and writes a struct with a table of its members. Reading throws Error if one of them is missing or
/// has another type.
template <HasSchema T>
void to_json(nlohmann::ordered_json& json, const T& record) {
  json = json_of(value_of(record));
}
template <class Json, HasSchema T>
void from_json(const Json& json, T& record) {
  assign(record, value_of_json(json));
}

}  // namespace proxbench
