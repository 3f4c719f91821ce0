#include "experiments/results/tables/export.h"

#include <fmt/format.h>

#include "experiments/base/table_text.h"
#include "experiments/results/run_columns.h"

namespace proxbench {
std::string csv_of_runs(const std::vector<Run>& runs) {
  std::string out;
  for (const RunColumn& column : run_columns())
    out += fmt::format("{}{}", out.empty() ? "" : ",", column.name);
  out += "\n";
  for (const Run& run : runs) {
    std::vector<std::string> fields;
    for (const RunColumn& column : run_columns()) fields.push_back(csv_field(field_text(column.get(run))));
    out += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return out;
}

std::string csv_of_samples(const std::vector<Run>& runs) {
  std::string out = fmt::format("name,{},relative_difference\n", trace_header());
  for (const Run& run : runs) {
    const std::string name = csv_field(run_name(run));
    for (const Sample& sample : run.trace)
      out += fmt::format("{},{},{}\n", name, trace_line(sample),
                         number_text(relative_difference(sample.objective, run.reference_objective)));
  }
  return out;
}

std::string csv_of_points(const std::vector<StoredPath>& paths) {
  std::string out = fmt::format("name,{}\n", path_header());
  for (const StoredPath& path : paths)
    for (std::size_t i = 0; i < path.points.size(); ++i)
      out += fmt::format("{},{}\n", csv_field(run_name(path.run)), path_line(i + 1, path.points[i]));
  return out;
}

}  // namespace proxbench
