#include "experiments/results/tables/path_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {


/// The run of the path's last point by itself; null where there is none.
const Run* single_run(const StoredPath& path, const std::vector<Run>& runs) {
  for (const Run& run : runs)
    if (!run.is_path() && !run.failed() && run.parameters.dataset == path.run.parameters.dataset &&
        run.parameters.label == path.run.parameters.label &&
        run.parameters.repetition == path.run.parameters.repetition &&
        run.provenance.machine == path.run.provenance.machine &&
        run.parameters.lambda == path.points.back().lambda && run.parameters.mu == path.points.back().mu)
      return &run;
  return nullptr;
}

std::string ratio_cell(double ratio) {
  return fixed_cell(ratio, 2);
}

TextTable cost_table(const std::vector<StoredPath>& paths, const std::vector<Run>& runs) {
  TextTable table;
  table.caption = "What paths cost";
  table.head = {"data",    "path",   "solver", "rep",    "status", "points", "rounds",
                "seconds", "single", "ratio",  "passes", "single", "ratio"};
  table.text_columns = 5;
  for (const StoredPath& path : paths) {
    const RunParameters& run = path.run.parameters;
    PathCost cost = path_cost(path, runs);
    if (!path.run.timing.comparable) cost.seconds = cost.single_seconds = kNaN;
    table.rows.push_back({run.dataset, penalty_text(run), run.label, std::to_string(run.repetition),
                          path.run.status(), std::to_string(path.points.size()),
                          count_cell(number_or_nan(path.run.result.rounds)), seconds_cell(cost.seconds),
                          seconds_cell(cost.single_seconds), ratio_cell(cost.seconds_ratio()),
                          count_cell(std::round(cost.passes)), count_cell(std::round(cost.single_passes)),
                          ratio_cell(cost.passes_ratio())});
  }
  table.notes.push_back(
      "single: one solve, from w = 0, of the path's last point, where the results have it.");
  return table;
}

TextTable points_table(const StoredPath& path) {
  TextTable table;
  const RunParameters& run = path.run.parameters;
  table.caption =
      fmt::format("{}, {}, {}, repetition {}", run.dataset, penalty_text(run), run.label, run.repetition);
  const bool of_mu = run.path_of_mu;
  table.head = {of_mu ? "mu" : "lambda",
                "nnz",
                "objective",
                "relative gap",
                "kkt / target",
                "candidates",
                "violations",
                "seconds",
                "iterations",
                "accuracy"};
  for (const PathPoint& point : path.points) {
    const Certificate& c = point.certificate;
    table.rows.push_back({fmt::format("{:.5g}", of_mu ? point.mu : point.lambda), std::to_string(c.nnz),
                          fmt::format("{:.8g}", c.objective), scientific_cell(c.relative_gap()),
                          point.kkt_target > 0.0 ? fmt::format("{:.2g}", c.kkt / point.kkt_target) : "-",
                          std::to_string(point.candidates), std::to_string(point.violations),
                          seconds_cell(path.run.timing.comparable ? point.seconds : kNaN),
                          std::to_string(point.iterations), fixed_cell(point.test_accuracy, 4)});
  }
  table.notes.push_back("Seconds and iterations since the path began.");
  return table;
}

}  // namespace

std::vector<StoredPath> take_paths(std::vector<Run>& runs) {
  const auto first =
      std::stable_partition(runs.begin(), runs.end(), [](const Run& run) { return !run.is_path(); });
  std::vector<StoredPath> paths;
  for (auto run = first; run != runs.end(); ++run) {
    const fs::path file = run->folder / "path.csv";
    // A run that failed may not have come so far.
    const bool has_points = !run->failed() || fs::exists(file);
    paths.push_back({std::move(*run), has_points ? read_path_file(file) : std::vector<PathPoint>{}});
  }
  runs.erase(first, runs.end());
  return paths;
}

void require_paths(const std::vector<StoredPath>& paths, const fs::path& results) {
  if (paths.empty())
    throw Error::in_file(results.string(), 0, "no path",
                         "the results of a config with lambda or mu = path(...)");
}

PathCost path_cost(const StoredPath& path, const std::vector<Run>& runs) {
  PathCost cost{kNaN, kNaN, kNaN, kNaN};
  if (path.points.empty()) return cost;
  cost.seconds = path.points.back().seconds;
  cost.passes = path.points.back().passes;
  const Run* single = path.run.result.points_asked == path.points.size() ? single_run(path, runs) : nullptr;
  if (single == nullptr) return cost;
  cost.single_seconds = single->timing.comparable ? single->result.seconds : kNaN;
  cost.single_passes = single->result.passes;
  return cost;
}

std::vector<TextTable> path_tables(const std::vector<StoredPath>& paths, const std::vector<Run>& runs) {
  if (paths.empty()) return {};
  std::vector<TextTable> tables{cost_table(paths, runs)};
  for (const StoredPath& path : paths)
    if (!path.points.empty()) tables.push_back(points_table(path));
  return tables;
}

std::string csv_paths(const std::vector<StoredPath>& paths) {
  std::string out = "dataset,path,solver,repetition," + path_header() + "\n";
  for (const StoredPath& path : paths)
    for (std::size_t i = 0; i < path.points.size(); ++i)
      out += fmt::format("{},{},{},{},{}\n", csv_field(path.run.parameters.dataset),
                         csv_field(path.run.parameters.path), csv_field(path.run.parameters.label),
                         path.run.parameters.repetition, path_line(i + 1, path.points[i]));
  return out;
}

std::vector<fs::path> write_path_tables(const std::vector<StoredPath>& paths, const std::vector<Run>& runs,
                                        const fs::path& folder, const std::string& title) {
  if (paths.empty()) return {};
  const std::vector<TextTable> tables = path_tables(paths, runs);
  return write_tables(folder, "path", title, tables, csv_paths(paths));
}

}  // namespace proxbench
