#include "experiments/data/files.h"

#include <filesystem>

#include "core/base/error.h"

namespace proxbench {

void require_training_files(const DataFiles& files, const std::string& format, HierarchyUse hierarchy) {
  if (files.train.empty()) throw Error::usage("format " + format + ": no training file given");
  if (hierarchy == HierarchyUse::kRequired && files.hierarchy.empty())
    throw Error::usage("format " + format + ": no hierarchy given, expected a file such as cat_hier.txt");
  if (hierarchy == HierarchyUse::kNone && !files.hierarchy.empty())
    throw Error::usage("format " + format + ": takes no hierarchy, found '" + files.hierarchy + "'");
}

void require_no_files(const DataFiles& files, const std::string& format) {
  if (!files.train.empty() || !files.test.empty() || !files.hierarchy.empty())
    throw Error::usage("format " + format + ": takes no files, its data are generated");
}

std::string file_names(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    if (!out.empty()) out += ", ";
    out += std::filesystem::path(path).filename().string();
  }
  return out;
}

void describe(const DataFiles& files, DataPair& data,
              const std::function<std::string(const Dataset&)>& text) {
  data.train.description = file_names(files.train) + ": " + text(data.train);
  if (!files.test.empty()) data.test.description = file_names(files.test) + ": " + text(data.test);
}

void set_rows(Dataset& data, DesignMatrix::Builder&& rows, std::shared_ptr<const Vocabulary> vocabulary,
              const Processes* processes) {
  data.x = std::move(rows).build(static_cast<Index>(vocabulary->features.size()),
                                 sum_leaves(data.begin, processes));
  if (processes != nullptr) data.x.share(*processes);
  data.vocabulary = std::move(vocabulary);
  data.digest = digest_of(data, processes);
}

LineReader option_lines(const Options& options, const std::string& name) {
  const std::string& value = options.string(name);
  return value.find('\n') == value.npos ? LineReader(value) : LineReader(value, "option " + name);
}

std::vector<std::pair<std::string, std::string>> options_with_texts(const Options& options) {
  auto items = options.items();
  for (const OptionSpec& spec : options.table()) {
    if (!spec.file || options.string(spec.name).empty()) continue;
    std::string text;
    LineReader in = option_lines(options, spec.name);
    for (std::string_view line; in.next(line);) (text += line) += '\n';
    for (auto& [name, value] : items)
      if (name == spec.name) value = text;
  }
  return items;
}

}  // namespace proxbench
