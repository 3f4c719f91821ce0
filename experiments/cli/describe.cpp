/// `describe`: says what data files hold, without training.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/data/files.h"
#include "experiments/metrics/chunks.h"

namespace proxbench {
namespace {

/// The number of labels that the table shows.
constexpr std::size_t kLabels = 30;

/// The labels of a set and their counts, the most frequent first.
std::vector<std::pair<std::string, std::uint64_t>> label_counts(const Dataset& data) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (const std::string& name : data.vocabulary->outputs) out.emplace_back(name, 0);
  for (const Index gold : data.gold)
    if (gold < out.size()) ++out[gold].second;
  for (const Index on : data.on.label) ++out[on].second;
  std::map<std::string, std::uint64_t> unknown;
  for (const auto& [position, name] : data.unknown_gold) ++unknown[name];
  out.insert(out.end(), unknown.begin(), unknown.end());
  std::erase_if(out, [](const auto& one) { return one.second == 0; });
  std::ranges::stable_sort(out, std::greater(), [](const auto& one) { return one.second; });
  return out;
}

Json set_json(const Dataset& data) {
  Json files = Json::array(), labels = Json::object();
  for (const FileCounts& file : data.files)
    files.push_back({{"file", file.path}, {"instances", file.instances}, {"positions", file.positions}});
  for (const auto& [name, count] : label_counts(data)) labels[name] = count;
  Index longest = 0;
  for (std::size_t i = 0; i < data.instances(); ++i)
    longest = std::max(longest, data.begin[i + 1] - data.begin[i]);
  return {{"files", files},
          {"instances", data.instances()},
          {"positions", data.positions()},
          {"longest", longest},
          {"features", data.x.features()},
          {"entries", data.x.nonzeros()},
          {"labels", labels},
          {"notes", data.notes}};
}

void print_set(const Dataset& data, const std::string& name, const Json& facts) {
  fmt::print("{} data: {}\n", name, data.description);
  if (data.files.size() > 1)
    for (const FileCounts& file : data.files)
      fmt::print("  {}: {} instances, {} positions\n", shown_name(file.path), file.instances, file.positions);
  fmt::print("longest instance {} positions, {} features, {:.4g} entries a position\n",
             facts["longest"].dump(), data.x.features(),
             static_cast<double>(data.x.nonzeros()) / static_cast<double>(data.positions()));
  for (const auto& [what, count] : data.notes) fmt::print("{}: {}\n", what, count);
  if (!data.quality.empty()) return;
  const auto labels = label_counts(data);
  TextTable table;
  table.caption = labels.size() > kLabels ? fmt::format("Labels: {}, of which the {} most frequent are shown",
                                                        labels.size(), kLabels)
                                          : fmt::format("Labels: {}", labels.size());
  table.head = {"label", "positions", "share"};
  table.text_columns = 1;
  for (const auto& [label, count] : labels)
    if (table.rows.size() < kLabels)
      table.rows.push_back(
          {printable(label), std::to_string(count),
           fixed_cell(static_cast<double>(count) / static_cast<double>(data.positions()), 4)});
  fmt::print("\n{}\n", markdown_document({table}));
}

struct DescribeCommand : OutputFlags {
  DataFlags data;

  void add_to(CLI::App& command) {
    data.add_to(command);
    OutputFlags::add_to(command);
  }

  void execute() const {
    const DataConfig asked = data.read();
    const DataPair pair = read_data(asked);
    const ChunkScheme* scheme = chunk_scheme(pair.train);
    const bool has_test = pair.test.positions() > 0;
    const Json train = set_json(pair.train), test = has_test ? set_json(pair.test) : Json();
    json.write({{"format", asked.format},
                {"oracle", pair.oracle},
                {"chunk_scheme", scheme == nullptr ? Json() : Json(scheme->name)},
                {"train", train},
                {"test", test},
                {"warnings", pair.train.warnings}});
    if (prints()) {
      fmt::print("format {}, oracle {}{}\n", asked.format, pair.oracle,
                 scheme == nullptr ? "" : fmt::format(", labels of chunks in {}", scheme->name));
      print_set(pair.train, "training", train);
      if (has_test) print_set(pair.test, "test", test);
    }
    for (const std::string& warning : pair.train.warnings) ProgressPrinter(quiet).warning(warning);
  }
};

}  // namespace

void add_describe_command(CLI::App& app) {
  add_command<DescribeCommand>(app, "describe",
                               "Say what data files hold, without training: instances by file, labels with "
                               "counts, features and warnings");
}

}  // namespace proxbench
