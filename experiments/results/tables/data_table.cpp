#include "experiments/results/tables/data_table.h"

#include <cmath>
#include <utility>

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
    const auto told_by_any = [&runs = of_dataset](const auto& value_of) {
      double value = kNaN;
      for (const Run* run : runs)
        if (std::isnan(value)) value = value_of(run->result);
      return value;
    };
    for (const auto& [what, member] : {std::pair("instances", &RunFigures::instances),
                                       {"positions", &RunFigures::positions},
                                       {"outputs", &RunFigures::outputs},
                                       {"features", &RunFigures::features},
                                       {"d", &RunFigures::d}}) {
      const double count =
          told_by_any([&one = member](const RunFigures& result) { return number_or_nan(result.*one); });
      record[what] = count;
      cells.push_back(count_cell(count));
    }
    const double bytes = told_by_any([](const RunFigures& result) {
      const auto note = result.notes.find("belief_bytes");
      return note == result.notes.end() ? kNaN : note->second;
    });
    record["belief_bytes"] = bytes;
    cells.push_back(fixed_cell(bytes / kGibibyte, 2));
  }
  return out;
}

}  // namespace proxbench
