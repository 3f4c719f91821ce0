#include "experiments/run/selection_state.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "core/base/processes.h"
#include "experiments/base/files.h"

namespace proxbench {

using Json = nlohmann::ordered_json;

std::filesystem::path selection_file(const LoadedData& data, const RunParameters& settings,
                                     std::span<const Penalty> penalties, const SelectionSettings& selection) {
  Json key{{"settings", parameters_json(settings)},
           {"data", {data.train().digest, data.test().digest, data.oracle_name()}},
           {"folds", selection.folds},
           {"held_out", selection.held_out.value_or(0.0)},
           {"measure", selection.measure == nullptr ? "" : selection.measure->name}};
  for (const Penalty& penalty : penalties) key["penalties"].push_back({penalty.lambda, penalty.mu});
  const std::string text = key.dump();
  return fmt::format("select-{:016x}.json", XXH3_64bits(text.data(), text.size()));
}

std::vector<Measured> read_selection(const std::filesystem::path& file, const Processes* processes) {
  std::string text = text_of(file);
  share(processes, 0, text);
  if (text.empty()) return {};
  try {
    return Json::parse(text).get<std::vector<Measured>>();
  } catch (const Json::exception& error) {
    throw Error::in_file(
        file.string(), 0, error.what(),
        "what an interrupted `proxbench select` wrote; remove the file, and the same command "
        "starts again from the first fold");
  }
}

void write_selection(const std::filesystem::path& file, const std::vector<Measured>& measured) {
  write_file_atomically(file, Json(measured).dump() + "\n");
}

}  // namespace proxbench
