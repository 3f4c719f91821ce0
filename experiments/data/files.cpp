#include "experiments/data/files.h"

#include <fmt/format.h>

#include <numeric>

#include "experiments/base/files.h"
#include "experiments/base/paths.h"
#include "experiments/data/file_parts.h"

namespace proxbench {

namespace {

void check_files(const DataFormatInfo& info, const DataFiles& files, HierarchyUse hierarchy) {
  const bool tree = !files.hierarchy.empty();
  const auto fail_if = [&](bool wrong, const std::string& what) {
    if (wrong) throw Error::usage("format " + info.name + ": " + what);
  };
  if (!info.needs_files)
    return fail_if(!files.train.empty() || !files.test.empty() || tree,
                   "takes no files, its data are generated");
  fail_if(files.train.empty() && files.stream == nullptr, "no training file given");
  fail_if(hierarchy == HierarchyUse::kRequired && !tree,
          "no hierarchy given, expected a file such as cat_hier.txt");
  fail_if(hierarchy == HierarchyUse::kNone && tree, "takes no hierarchy, found '" + files.hierarchy + "'");
}

/// Checks the files, reads them, and names the oracle of the format.
DataPair read_checked(const DataFormatInfo& info, const DataFiles& files, HierarchyUse hierarchy,
                      const std::function<DataPair()>& read) {
  check_files(info, files, hierarchy);
  DataPair pair = read();
  if (!info.oracle.empty()) pair.oracle = info.oracle;
  return pair;
}

}  // namespace

DataFormatInfo with_reader(DataFormatInfo info, DataPair (*read)(const DataFiles&, const Options&)) {
  info.read = [info, read](const DataFiles& files, const Options& options) {
    return read_checked(info, files, HierarchyUse::kNone, [&] { return read(files, options); });
  };
  return info;
}

DataFormatInfo with_reader(DataFormatInfo info,
                           DataPair (*read)(const DataFiles&, const Options&, const Processes*),
                           HierarchyUse hierarchy) {
  const auto checked = [info, read, hierarchy](const DataFiles& files, const Options& options,
                                               const Processes* processes) {
    return read_checked(info, files, hierarchy, [&] { return read(files, options, processes); });
  };
  info.read = [checked](const DataFiles& files, const Options& options) {
    return checked(files, options, nullptr);
  };
  info.streams = true;
  info.read_share = [checked](const DataFiles& files, const Options& options, const Processes& processes) {
    const bool in_parts = std::ranges::none_of(files.train, is_compressed_file);
    if (!in_parts) require_same_files(files, options, processes);
    return checked(files, options, in_parts ? &processes : nullptr);
  };
  return info;
}

std::string file_names(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    if (!out.empty()) out += ", ";
    out += fs::path(shown_name(path)).filename().string();
  }
  return out;
}

void set_rows(Dataset& data, DesignMatrix::Builder&& rows, std::shared_ptr<const Vocabulary> vocabulary,
              const Processes* processes) {
  data.x = std::move(rows).build(static_cast<Index>(vocabulary->features.size()));
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

std::vector<Index> first_indices(std::size_t count) {
  std::vector<Index> out(count);
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

}  // namespace proxbench
