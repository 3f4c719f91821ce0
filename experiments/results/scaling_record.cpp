#include "experiments/results/scaling_record.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "experiments/base/files.h"

namespace proxbench {

std::string ScalingProblem::name() const {
  return fmt::format("{}-lambda{}-{}", dataset, lambda, label);
}

Scaling read_scaling(const std::filesystem::path& file) {
  constexpr const char* kExpected = "what `proxbench scale` stores";
  const nlohmann::ordered_json json = read_json(file, kExpected);
  try {
    Scaling out = json.get<Scaling>();
    if (out.threads.empty() || out.problems.empty() || out.backends.empty())
      throw Error::in_file(file.string(), 0, "no threads, back ends or problems", kExpected);
    return out;
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), kExpected);
  }
}

}  // namespace proxbench
