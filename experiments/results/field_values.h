#pragma once
/// Builds rows of the tables in fields.h: converts values of members to JSON and back.

#include <fmt/format.h>

#include <type_traits>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/fields.h"

namespace proxbench::fields {

using Json = nlohmann::ordered_json;

template <class T>
struct ValueType {
  using type = T;
};
template <class T>
struct ValueType<std::optional<T>> {
  using type = T;
};

template <class T>
constexpr FieldType type_of() {
  if (std::is_same_v<T, std::string> || std::is_same_v<T, const char*> || std::is_same_v<T, Status>)
    return FieldType::kText;
  if (std::is_same_v<T, bool>) return FieldType::kTruth;
  if (std::is_integral_v<T>) return FieldType::kCount;
  return std::is_floating_point_v<T> ? FieldType::kReal : FieldType::kJson;
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
inline Json value_json(Status value) {
  return status_name(value);
}
inline Json value_json(const TightenEnd& end) {
  return {{"status", status_name(end.status)},
          {"gap_target", end.gap_target},
          {"iterations", end.iterations},
          {"seconds", end.seconds}};
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

inline std::optional<Status> status_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Status::kDiverged); ++i)
    if (name == status_name(static_cast<Status>(i))) return static_cast<Status>(i);
  return std::nullopt;
}

inline void set_value(Status& out, const nlohmann::json& value) {
  const auto name = value.get<std::string>();
  const std::optional<Status> status = status_of(name);
  if (!status)
    throw Error(fmt::format("found status '{}', expected one of a solver", name), ErrorKind::kInput);
  out = *status;
}
inline void set_value(TightenEnd& out, const nlohmann::json& value) {
  set_value(out.status, value.at("status"));
  value.at("gap_target").get_to(out.gap_target);
  value.at("iterations").get_to(out.iterations);
  value.at("seconds").get_to(out.seconds);
}
template <class T>
void set_value(T& out, const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, double>)
    out = value.is_null() ? kNaN : value.get<double>();
  else
    value.get_to(out);
}
/// Null stands for an empty map.
inline void set_value(std::map<std::string, double>& out, const nlohmann::json& values) {
  for (const auto& [name, value] : values.items()) set_value(out[name], value);
}
inline void set_value(std::vector<PhaseCost>& out, const nlohmann::json& values) {
  if (!values.is_null()) values.get_to(out);
}
template <class T>
void set_value(std::optional<T>& out, const nlohmann::json& value) {
  if (value.is_null())
    out.reset();
  else
    set_value(out.emplace(), value);
}

/// `access` returns the value of a record. The field can be read back only if it returns a reference.
template <class Record, class Access>
Field<Record> field(std::string section, std::string name, std::string unit, FieldUse use, std::string help,
                    Access) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Access, const Record&>>;
  Field<Record> out{std::move(section),
                    std::move(name),
                    std::move(unit),
                    type_of<typename ValueType<Value>::type>(),
                    use,
                    std::move(help),
                    [](const Record& record) { return value_json(Access{}(record)); },
                    nullptr};
  if constexpr (std::is_lvalue_reference_v<std::invoke_result_t<Access, Record&>>)
    out.set = [](Record& record, const nlohmann::json& value) { set_value(Access{}(record), value); };
  return out;
}

/// Makes the field of a member, of a member of a member, and so on.
template <class Record, auto... members>
Field<Record> member(const char* section, const char* name, const char* unit, FieldUse use,
                     const char* help) {
  return field<Record>(
      section, name, unit, use, help, [](auto& record) -> auto& { return (record.*....*members); });
}

}  // namespace proxbench::fields
