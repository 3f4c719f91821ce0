#include "experiments/results/tables/data_table.h"

#include <cmath>

#include "experiments/base/numbers.h"

namespace proxbench {

TableSet data_table(const std::vector<Run>& runs) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  TableSet out{"data", "", {{}}, {}};
  TextTable& table = out.tables.front();
  table.caption = "Data sets";
  table.notes = {
      "n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all "
      "instances, pairs and singletons."};
  table.head = {"data", "n", "N", "K", "A", "d", "marginals (GiB)"};
  table.text_columns = 1;
  for (const auto& [dataset, of_dataset] : grouped(runs, dataset_of)) {
    nlohmann::ordered_json& record = out.records.emplace_back();
    record["dataset"] = dataset;
    std::vector<std::string>& cells = table.rows.emplace_back(1, dataset);
    // What any of the runs tells.
    const auto add = [&, &of_dataset = of_dataset](const char* what, auto value_of) {
      double value = kNaN;
      for (const Run* run : of_dataset)
        if (std::isnan(value)) value = value_of(run->result);
      record[what] = value;
      cells.push_back(count_cell(value));
    };
    add("instances", [](const RunFigures& of) { return number_or_nan(of.instances); });
    add("positions", [](const RunFigures& of) { return number_or_nan(of.positions); });
    add("outputs", [](const RunFigures& of) { return number_or_nan(of.outputs); });
    add("features", [](const RunFigures& of) { return number_or_nan(of.features); });
    add("d", [](const RunFigures& of) { return number_or_nan(of.d); });
    add("belief_bytes", [](const RunFigures& of) {
      const auto note = of.notes.find("belief_bytes");
      return note == of.notes.end() ? kNaN : note->second;
    });
    cells.back() = fixed_cell(record["belief_bytes"].get<double>() / kGibibyte, 2);
  }
  return out;
}

}  // namespace proxbench
