#include "experiments/base/json_values.h"

#include <cmath>

namespace proxbench {

nlohmann::ordered_json json_of(const Value& value) {
  using Json = nlohmann::ordered_json;
  const auto convert = [](const auto& held) -> Json {
    using Held = std::remove_cvref_t<decltype(held)>;
    if constexpr (std::same_as<Held, std::monostate>) {
      return nullptr;
    } else if constexpr (std::same_as<Held, double>) {
      return std::isfinite(held) ? Json(held) : Json(nullptr);
    } else if constexpr (std::same_as<Held, Value::List>) {
      Json out = Json::array();
      for (const Value& one : held) out.push_back(json_of(one));
      return out;
    } else if constexpr (std::same_as<Held, Value::Map>) {
      Json out = Json::object();
      for (const auto& [name, one] : held) out[name] = json_of(one);
      return out;
    } else {
      return held;
    }
  };
  return std::visit(convert, value.held);
}

}  // namespace proxbench
