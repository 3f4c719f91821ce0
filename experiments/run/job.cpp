#include "experiments/run/job.h"

namespace proxbench {

Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values) {
  Options options(table);
  for (const auto& [key, value] : values) options.set(key, value);
  return options;
}

std::map<std::string, std::string> option_texts(const Options& options) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : options.items()) out[key] = value;
  return out;
}

}  // namespace proxbench
