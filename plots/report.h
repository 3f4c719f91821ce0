#pragma once
/// A page over the stored results of several experiments: for each, what a paper says about its figure or
/// table (section [paper] of the config) beside our curves and tables, the data and machines they were made
/// on, and what differs.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace proxbench {

struct ReportOptions {
  std::string title = "Results";
  std::vector<std::string> notes;  ///< paragraphs above everything else, e.g. what could not be made
  /// Hears which stored runs are left out (leave_out_strangers()).
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Writes one HTML file that holds all it needs, works without a network, and of which only the charts need
/// scripts. `results` are folders of `proxbench run`, in the order in which they are to be shown. For each
/// experiment the page has
///
///   - curves of all runs of single penalties (plots/page_charts.h), to be filtered, zoomed and read off;
///   - the stored figures of regularisation paths (plots/paths.h), what these cost, and their points;
///   - how solvers converge after the theory of a paper (plots/theory.h), where scripts/theory has run;
///   - our table beside the paper's, the summary tables, the runs that failed and why;
///   - config.ini, what manifests tell under "provenance", told once where it is the same, and links to the
///     files in the folder of the results, relative to the page: they break when one of both is moved alone.
///
/// Data whose description says that they are synthetic are marked as such in every heading. Runs from several
/// machines are told apart and never taken together.
///
/// Throws Error (kUsage) when there is nothing to show or two experiments have the same name, and Error
/// (kRun) when results cannot be read, the charting library is missing (load_chart_library()) or the file
/// cannot be written; its folder is made where it is missing.
void write_report(const std::vector<std::filesystem::path>& results, const std::filesystem::path& page,
                  const ReportOptions& options = {});

}  // namespace proxbench
