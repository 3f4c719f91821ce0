#include "experiments/results/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "experiments/base/files.h"

namespace proxbench {

Reference Reference::from(const nlohmann::ordered_json& json) {
  const auto real = [&](const char* key) { return json.at(key).get<double>(); };
  Reference out{.objective = real("objective"),
                .kkt = number_at(json, "/kkt"),
                .kkt_at_zero = number_at(json, "/kkt_at_zero"),
                .relative_kkt = number_at(json, "/relative_kkt"),
                .l1 = real("l1"),
                .dual = number_at(json, "/dual"),
                .wanted = {real("tol"), number_at(json, "/reference_gap"), real("time_limit")},
                .status = json.at("status").get<std::string>(),
                .tighten_status = json.at("status").get<std::string>()};
  if (json.contains("tighten") && json["tighten"].is_object())
    out.tighten_status = json["tighten"].at("status").get<std::string>();
  return out;
}

double Reference::slack(double lambda) const {
  const double by_kkt = lambda > 0.0 && !std::isnan(kkt) ? kkt * (l1 + objective / lambda)
                                                         : std::numeric_limits<double>::infinity();
  return std::isnan(dual) ? by_kkt : std::min(by_kkt, std::max(objective - dual, 0.0));
}

bool Reference::serves(const Wanted& by) const {
  const bool as_long = wanted.time_limit == 0 || (by.time_limit > 0 && by.time_limit <= wanted.time_limit);
  const auto ends = [&](const std::string& how) {
    return how == "stalled" || (how == "time-limit" && as_long);
  };
  const bool kkt_serves =
      std::isnan(relative_kkt) || relative_kkt <= by.tol || (wanted.tol <= by.tol && ends(status));
  const bool gap_serves = by.gap == 0 || relative_gap() <= by.gap ||
                          (wanted.gap > 0 && wanted.gap <= by.gap && ends(tighten_status));
  return kkt_serves && gap_serves;
}

Reference read_reference(const std::filesystem::path& file) {
  static constexpr const char* kExpected = "a stored reference (delete the file to make it again)";
  try {
    return Reference::from(nlohmann::ordered_json(read_json(file, kExpected)));
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), kExpected);
  }
}

}  // namespace proxbench
