#include "experiments/results/tables/data_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

struct Size {
  std::string dataset;
  double instances, positions, features, outputs, d, belief_bytes;
};

std::vector<Size> sizes_of(const std::vector<Run>& runs) {
  std::vector<Size> out;
  for (const Run& run : runs) {
    const std::string& name = run.parameters.dataset;
    const RunFigures& result = run.result;
    auto found = std::find_if(out.begin(), out.end(), [&](const Size& size) { return size.dataset == name; });
    if (found == out.end()) found = out.insert(out.end(), {name, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN});
    const auto take = [](double& value, std::optional<std::uint64_t> count) {
      if (std::isnan(value)) value = number_or_nan(count);
    };
    take(found->instances, result.instances);
    take(found->positions, result.positions);
    take(found->features, result.features);
    take(found->outputs, result.outputs);
    take(found->d, result.d);
    if (const auto note = result.notes.find("belief_bytes");
        note != result.notes.end() && std::isnan(found->belief_bytes))
      found->belief_bytes = note->second;
  }
  return out;
}

}  // namespace

TextTable data_table(const std::vector<Run>& runs) {
  TextTable table{
      "Data sets",
      {"n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all "
       "instances, pairs and singletons."},
      {"data", "n", "N", "K", "A", "d", "marginals (GiB)"},
      1,
      {}};
  for (const Size& size : sizes_of(runs))
    table.rows.push_back({size.dataset, count_cell(size.instances), count_cell(size.positions),
                          count_cell(size.outputs), count_cell(size.features), count_cell(size.d),
                          fixed_cell(size.belief_bytes / kGibibyte, 2)});
  return table;
}

std::vector<std::filesystem::path> write_data_table(const std::vector<Run>& runs,
                                                    const std::filesystem::path& folder) {
  const std::vector<TextTable> tables{data_table(runs)};
  std::string csv = "dataset,instances,positions,outputs,features,d,belief_bytes\n";
  for (const Size& size : sizes_of(runs))
    csv += fmt::format("{},{},{},{},{},{},{}\n", csv_field(size.dataset), number_text(size.instances),
                       number_text(size.positions), number_text(size.outputs), number_text(size.features),
                       number_text(size.d), number_text(size.belief_bytes));
  return write_tables(folder, "data", "", tables, csv);
}

}  // namespace proxbench
