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
  std::vector<Measured> out;
  if (text.empty()) return out;
  try {
    for (const Json& split : Json::parse(text)) {
      Measured& one = out.emplace_back();
      for (const Json& point : split.at("points")) {
        one.values.push_back({point.at("value").get<double>(), number_at(point, "/standard_error"),
                              point.at("others").get<std::map<std::string, double>>()});
        one.nnz.push_back(point.at("nnz").get<double>());
      }
      one.last.lambda = split.at("lambda").get<double>();
      split.at("index").get_to(one.last.w.index);
      split.at("weight").get_to(one.last.w.value);
    }
  } catch (const Json::exception& error) {
    throw Error::in_file(
        file.string(), 0, error.what(),
        "what an interrupted `proxbench select` wrote; remove the file, and the same command "
        "starts again from the first fold");
  }
  return out;
}

void write_selection(const std::filesystem::path& file, const std::vector<Measured>& measured) {
  Json splits = Json::array();
  for (const Measured& one : measured) {
    Json points = Json::array();
    for (std::size_t k = 0; k < one.values.size(); ++k)
      points.push_back({{"value", one.values[k].value},
                        {"standard_error", number_json(one.values[k].standard_error)},
                        {"others", one.values[k].others},
                        {"nnz", one.nnz[k]}});
    splits.push_back({{"points", points},
                      {"lambda", one.last.lambda},
                      {"index", one.last.w.index},
                      {"weight", one.last.w.value}});
  }
  write_file_atomically(file, splits.dump() + "\n");
}

}  // namespace proxbench
