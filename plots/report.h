#pragma once
/// A page over the stored results of several experiments: for each, what a paper says about its figure or
/// table (section [paper] of the config) beside our figures and tables, the data and machine they were made
/// on, and what differs.

#include <filesystem>
#include <string>
#include <vector>

namespace proxbench {

struct ReportOptions {
  std::string title = "Results";
  std::vector<std::string> notes;  ///< paragraphs above everything else, e.g. what could not be made
};

/// Writes into the folder (made where it is missing) a page that works offline and without scripts,
///
///     index.html, index.md
///     NAME-FIGURE.{png,svg,pdf}      copies of DIR/figures, with NAME the name of the experiment
///     NAME-TABLE.{md,tex,csv}        copies of DIR/tables
///
/// `results` are folders of `proxbench run`, in the order in which they are to be shown. Figures and tables
/// are taken as they are; those that are not there are left out. Data whose description says that they are
/// synthetic are marked as such in every heading. Returns the path of index.html. Throws Error (kUsage) when
/// there is nothing to show or two experiments have the same name, and Error (kRun) when results cannot be
/// read or files cannot be written.
std::filesystem::path write_report(const std::vector<std::filesystem::path>& results,
                                   const std::filesystem::path& folder, const ReportOptions& options = {});

}  // namespace proxbench
