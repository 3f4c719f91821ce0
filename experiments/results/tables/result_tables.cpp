#include "experiments/results/tables/result_tables.h"

#include "experiments/results/tables/data_table.h"
#include "experiments/results/tables/paper_table.h"

namespace proxbench {

std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const std::vector<std::string>& columns, bool allow_not_comparable) {
  const TableOptions options{.title = presentation.title,
                             .targets = presentation.targets,
                             .columns = columns,
                             .allow_not_comparable = allow_not_comparable};
  std::vector<TableSet> out;
  if (!presentation.paper.lambdas.empty()) out.push_back(paper_table(runs, presentation));
  if (presentation.paper.costs) out.push_back(cost_tables(runs, options));
  if (presentation.paper.data) out.push_back(data_table(runs));
  out.push_back(summary_tables(summarize(runs, options), options));
  return out;
}

std::vector<TableSet> write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                                          const Presentation& presentation,
                                          const std::vector<std::string>& columns,
                                          bool allow_not_comparable) {
  const std::vector<TableSet> shown = result_tables(runs, presentation, columns, allow_not_comparable);
  std::vector<TableSet> written = shown;
  if (!columns.empty())
    written.back().records = result_tables(runs, presentation, {}, allow_not_comparable).back().records;
  if (!presentation.targets.empty())
    written.push_back(means_tables(runs, presentation, allow_not_comparable));
  for (const TableSet& set : written) set.write(out / "tables");
  return shown;
}

}  // namespace proxbench
