#pragma once
/// Makes a page of the stored results of several experiments. For each experiment it shows the paper's
/// statement about its figure or table (section [paper] of the config) beside our curves and tables, the data
/// and machines used, and the differences.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace proxbench {

struct ReportOptions {
  std::string title = "Results";
  std::vector<std::string> notes;  ///< paragraphs at the top of the page, e.g. on missing results
  /// Receives a message that names stored runs that are not shown (leave_out_strangers()).
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Writes one HTML file that contains everything it needs and works without a network. Only the charts need
/// scripts. `results` are folders of `proxbench run`, in the order of the page. For each experiment the page
/// has
///
///   - curves of all runs of single penalties (plots/page_charts.h), to be filtered, zoomed and read off;
///   - the stored figures of regularisation paths (path_charts()), their costs and their points;
///   - how solvers converge by the theory of a paper (theory_charts()), if scripts/theory has run;
///   - our table beside the paper's, the summary tables, and the failed runs with the reasons;
///   - config.ini, the provenance of the runs, shown once if it is the same, and links to the files of the
///     results. Links are relative to the page, and break if only the page or only the results are moved.
///
/// Data whose description says that they are synthetic are marked as such in every heading. Runs from several
/// machines are kept apart and never combined.
///
/// Throws Error (kUsage) if there is nothing to show, or if two experiments have the same name. Throws Error
/// (kRun) if results cannot be read, if the charting library is missing, or if the
/// file cannot be written. The page's folder is made if it is missing.
void write_report(const std::vector<std::filesystem::path>& results, const std::filesystem::path& page,
                  const ReportOptions& options = {});

}  // namespace proxbench
