#include "experiments/results/tables/result_tables.h"

#include "experiments/results/tables/data_table.h"
#include "experiments/results/tables/paper_table.h"

namespace proxbench {

MeansOptions means_options(const Presentation& presentation, const TableOptions& options) {
  return {.title = options.title,
          .measures = presentation.plot.x,
          .targets = options.targets,
          .shift = presentation.plot.shift,
          .par = presentation.plot.par,
          .allow_not_comparable = options.allow_not_comparable};
}

std::vector<TableSet> result_tables(const std::vector<Run>& runs, const Presentation& presentation,
                                    const TableOptions& options) {
  std::vector<TableSet> out;
  if (!presentation.paper.lambdas.empty()) out.push_back(paper_table(runs, presentation));
  if (presentation.paper.costs) out.push_back(cost_tables(runs, options));
  if (presentation.paper.data) out.push_back(data_table(runs));
  out.push_back(summary_tables(summarize(runs, options), options));
  return out;
}

void write_result_tables(const std::vector<Run>& runs, const std::filesystem::path& out,
                         const Presentation& presentation, const TableOptions& options) {
  for (TableSet& set : result_tables(runs, presentation, options)) {
    if (set.name == "summary" && !options.columns.empty()) {
      TableOptions all = options;  // the CSV has all, whatever is shown
      all.columns.clear();
      set.records = summary_tables(summarize(runs, all), all).records;
    }
    set.write(out / "tables");
  }
  const MeansOptions means = means_options(presentation, options);
  if (!means.targets.empty()) means_tables(geometric_means(runs, means), means).write(out / "tables");
}

}  // namespace proxbench
