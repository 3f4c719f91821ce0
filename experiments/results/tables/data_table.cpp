#include "experiments/results/tables/data_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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
  for (const Run& run : runs) {
    const std::string& name = run.parameters.dataset;
    const RunFigures& result = run.result;
    auto found =
        std::ranges::find_if(out.records, [&](const auto& record) { return record["dataset"] == name; });
    if (found == out.records.end()) {
      out.records.emplace_back()["dataset"] = name;
      found = std::prev(out.records.end());
    }
    const auto take = [&](const char* what, double value) {
      if (!found->contains(what) || std::isnan((*found)[what].get<double>())) (*found)[what] = value;
    };
    take("instances", number_or_nan(result.instances));
    take("positions", number_or_nan(result.positions));
    take("outputs", number_or_nan(result.outputs));
    take("features", number_or_nan(result.features));
    take("d", number_or_nan(result.d));
    const auto note = result.notes.find("belief_bytes");
    take("belief_bytes", note == result.notes.end() ? kNaN : note->second);
  }
  for (const nlohmann::ordered_json& record : out.records) {
    const auto size = [&](const char* what) { return count_cell(record[what].get<double>()); };
    table.rows.push_back({record["dataset"], size("instances"), size("positions"), size("outputs"),
                          size("features"), size("d"),
                          fixed_cell(record["belief_bytes"].get<double>() / kGibibyte, 2)});
  }
  return out;
}

}  // namespace proxbench
