#include "experiments/run/job.h"

#include "core/base/error.h"
#include "experiments/data/check_data.h"
#include "experiments/data/files.h"
#include "experiments/metrics/chunks.h"
#include "experiments/run/plugins.h"
#include "oracles/oracles.h"

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

std::vector<std::string*> named_files(RunData& data, const OptionTable& table,
                                      std::map<std::string, std::string>& options) {
  std::vector<std::string*> out{&data.files.hierarchy, &data.start};
  for (std::vector<std::string>* files : {&data.files.train, &data.files.test})
    for (std::string& file : *files) out.push_back(&file);
  for (const OptionSpec& spec : table)
    if (std::string& value = options.at(spec.name); spec.names_file(value)) out.push_back(&value);
  return out;
}

DataPair read_data(const DataFormatInfo& format, const DataFiles& files, const Options& options,
                   const std::string& oracle, const Processes* processes) {
  if (!oracle.empty()) oracle_registry().find(oracle);
  DataPair pair = processes != nullptr && format.read_share ? format.read_share(files, options, *processes)
                                                            : format.read(files, options);
  check_data(pair, format.name);
  for (std::string warning :
       {label_warning(pair.train), chunk_scheme_of(pair.train.vocabulary->outputs).warning})
    if (!warning.empty()) pair.train.warnings.push_back(std::move(warning));
  if (!oracle_registry().contains(pair.oracle) && oracle.empty())
    throw Error("data format " + format.name + ": found oracle '" + pair.oracle +
                "', expected a registered one" + did_you_mean(pair.oracle, oracle_registry().names()));
  const bool other_oracle = !oracle.empty() && oracle != pair.oracle;
  for (Dataset* set : {&pair.train, &pair.test}) {
    if (plugin_of(&Plugin::formats, format.name) != nullptr)
      set->digest = digest_of(*set, set->x.shared() ? processes : nullptr);
    if (other_oracle) set->digest = digest_with_oracle(set->digest, oracle);
  }
  if (other_oracle) pair.oracle = oracle;
  return pair;
}

}  // namespace proxbench
