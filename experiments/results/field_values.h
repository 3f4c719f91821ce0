#pragma once
/// Builds rows of the tables in fields.h: converts values of members to JSON and back.

#include <type_traits>

#include "experiments/base/files.h"
#include "experiments/results/fields.h"

namespace proxbench::fields {

using Json = nlohmann::ordered_json;

template <class T>
constexpr FieldType type_of(const T&) {
  if (std::is_same_v<T, std::string> || std::is_same_v<T, const char*> || std::is_same_v<T, Status>)
    return FieldType::kText;
  if (std::is_same_v<T, bool>) return FieldType::kTruth;
  if (std::is_integral_v<T>) return FieldType::kCount;
  return std::is_floating_point_v<T> ? FieldType::kReal : FieldType::kJson;
}
constexpr FieldType type_of(const std::map<std::string, double>&) {
  return FieldType::kNumbers;
}
template <class T>
constexpr FieldType type_of(const std::optional<T>&) {
  return type_of(T{});
}

inline Json value_json(double value) {
  return number_json(value);
}
/// Returns null if the map is empty.
inline Json value_json(const std::map<std::string, double>& values) {
  Json out;
  for (const auto& [name, value] : values) out[name] = number_json(value);
  return out;
}
/// Returns null if there are no phases.
inline Json value_json(const std::vector<PhaseCost>& phases) {
  return phases.empty() ? Json() : Json(phases);
}
template <class T>
Json value_json(const T& value) {
  return value;
}
template <class T>
Json value_json(const std::optional<T>& value) {
  return value ? value_json(*value) : Json();
}

template <class T>
void set_value(T& out, const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, double>)
    out = value.is_null() ? kNaN : value.get<double>();
  else
    value.get_to(out);
}
inline void set_value(std::map<std::string, double>& out, const nlohmann::json& values) {
  for (const auto& [name, value] : values.items()) set_value(out[name], value);
}
/// Null stands for no phases.
inline void set_value(std::vector<PhaseCost>& out, const nlohmann::json& values) {
  if (!values.is_null()) values.get_to(out);
}
template <class T>
void set_value(std::optional<T>& out, const nlohmann::json& value) {
  out.reset();
  if (!value.is_null()) set_value(out.emplace(), value);
}

/// `access` returns the value of a record. The field can be read back only if it returns a reference.
template <class Record, class Access>
Field<Record> field(const char* section, const char* name, const char* help, Access access) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Access, const Record&>>;
  Field<Record> out{
      section, name, help, type_of(Value{}), [=](const Record& record) { return value_json(access(record)); },
      nullptr};
  if constexpr (std::is_lvalue_reference_v<std::invoke_result_t<Access, Record&>>)
    out.set = [=](Record& record, const nlohmann::json& value) { set_value(access(record), value); };
  return out;
}

/// Makes the field of a member, of a member of a member, and so on.
template <class Record, class... Members>
Field<Record> member(const char* section, const char* name, const char* help, Members... members) {
  return field<Record>(
      section, name, help, [=](auto& record) -> auto& { return (record.*....*members); });
}

}  // namespace proxbench::fields
