#include "experiments/reference.h"

#include "core/error.h"
#include "experiments/files.h"

namespace proxbench {

Reference Reference::from(const nlohmann::ordered_json& json) {
  const auto real = [&](const char* key) { return json.at(key).get<double>(); };
  return {real("objective"), real("kkt"), real("kkt_at_zero"), real("relative_kkt"),
          real("l1"),        real("tol"), real("time_limit"),  json.at("status").get<std::string>()};
}

bool Reference::serves(double wanted_tol, double wanted_time_limit) const {
  if (relative_kkt <= wanted_tol) return true;
  if (tol > wanted_tol) return false;
  const bool as_long = time_limit == 0 || (wanted_time_limit > 0 && wanted_time_limit <= time_limit);
  return status == "stalled" || (status == "time-limit" && as_long);
}

Reference read_reference(const std::filesystem::path& file) {
  try {
    return Reference::from(nlohmann::ordered_json::parse(text_of(file)));
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(),
                         "a stored reference (delete the file to make it again)");
  }
}

}  // namespace proxbench
