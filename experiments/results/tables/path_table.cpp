#include "experiments/results/tables/path_table.h"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/results/field_csv.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Returns the run that solves only the path's last point; null if there is none.
const Run* single_run(const Run& path, const std::vector<Run>& runs) {
  const auto series_of = [](const Run& run) {
    const RunParameters& p = run.parameters;
    return std::tie(p.dataset, p.label, p.repetition, run.provenance.machine);
  };
  const PathPoint& last = path.points.back();
  for (const Run& run : runs)
    if (!run.is_path() && !run.failed() && series_of(run) == series_of(path) &&
        run.parameters.lambda == last.lambda && run.parameters.mu == last.mu)
      return &run;
  return nullptr;
}

TextTable costs_of_paths(const std::vector<Run>& paths, const std::vector<Run>& runs) {
  TextTable table;
  table.caption = "What paths cost";
  table.head = {"path",    "solver",           "rep",    "status",         "points",
                "seconds", "seconds / single", "passes", "passes / single"};
  table.text_columns = 4;
  const bool machines = several_machines(paths);
  for (const Run& path : paths) {
    const RunParameters& run = path.parameters;
    PathCost cost = path_cost(path, runs);
    if (!path.timing.comparable) cost.seconds = cost.single_seconds = kNaN;
    table.rows.push_back({fmt::format("{}, {}", run.dataset, penalty_text(run)), series_name(path, machines),
                          std::to_string(run.repetition), path.status(), std::to_string(path.points.size()),
                          seconds_cell(cost.seconds), fixed_cell(cost.seconds_ratio(), 2),
                          count_cell(std::round(cost.passes)), fixed_cell(cost.passes_ratio(), 2)});
  }
  table.notes.push_back(
      "single: one solve, from w = 0, of the path's last point, where the results have it.");
  return table;
}

TextTable points_table(const Run& path, bool machines) {
  TextTable table;
  const RunParameters& run = path.parameters;
  table.caption = fmt::format("{}, {}, {}, repetition {}", run.dataset, penalty_text(run),
                              series_name(path, machines), run.repetition);
  const bool of_mu = run.path_of_mu;
  table.head = {of_mu ? "mu" : "lambda",
                "nnz",
                "objective",
                "relative gap",
                "kkt / target",
                "candidates",
                "seconds",
                "iterations",
                "accuracy"};
  for (const PathPoint& point : path.points) {
    const Certificate& c = point.certificate;
    table.rows.push_back({fmt::format("{:.5g}", of_mu ? point.mu : point.lambda), std::to_string(c.nnz),
                          fmt::format("{:.8g}", c.objective), scientific_cell(c.relative_gap()),
                          formatted_cell(point.kkt_target > 0.0 ? c.kkt / point.kkt_target : kNaN, "{:.2g}"),
                          std::to_string(point.candidates),
                          seconds_cell(path.timing.comparable ? point.seconds : kNaN),
                          std::to_string(point.iterations), fixed_cell(point.test_accuracy, 4)});
  }
  table.notes.push_back("Seconds and iterations since the path began.");
  return table;
}

}  // namespace

void require_paths(const std::vector<Run>& paths, const fs::path& results) {
  if (paths.empty())
    throw Error::in_file(results.string(), 0, "no path",
                         "the results of a config with lambda or mu = path(...)");
}

PathCost path_cost(const Run& path, const std::vector<Run>& runs) {
  PathCost cost{kNaN, kNaN, kNaN, kNaN};
  if (path.points.empty()) return cost;
  cost.seconds = path.points.back().seconds;
  cost.passes = path.points.back().passes;
  const Run* single = path.result.points_asked == path.points.size() ? single_run(path, runs) : nullptr;
  if (single == nullptr) return cost;
  cost.single_seconds = single->timing.comparable ? single->result.seconds : kNaN;
  cost.single_passes = single->result.passes;
  return cost;
}

TableSet path_tables(const std::vector<Run>& paths, const std::vector<Run>& runs, const std::string& title) {
  TableSet out{"path", title, {}, {}};
  if (!paths.empty()) out.tables.push_back(costs_of_paths(paths, runs));
  for (const Run& path : paths) {
    if (!path.points.empty()) out.tables.push_back(points_table(path, several_machines(paths)));
    const RunParameters& run = path.parameters;
    for (const PathPoint& point : path.points)
      out.records.push_back(row_of({{"dataset", run.dataset},
                                    {"path", run.path},
                                    {"solver", run.label},
                                    {"repetition", run.repetition}},
                                   path_columns(), point));
  }
  return out;
}

Json paths_json(const std::vector<Run>& paths, const std::vector<Run>& runs) {
  Json out = Json::array();
  for (const Run& path : paths) {
    const RunParameters& run = path.parameters;
    const PathCost cost = path_cost(path, runs);
    Json points = Json::array();
    for (const PathPoint& point : path.points)
      points.push_back(row_of(nullptr, path_columns(), point, false));
    out.push_back({{"experiment", run.experiment},
                   {"dataset", run.dataset},
                   {"path", run.path},
                   {"solver", run.label},
                   {"repetition", run.repetition},
                   {"status", path.status()},
                   {"comparable", path.timing.comparable},
                   {"seconds", cost.seconds},
                   {"single_seconds", cost.single_seconds},
                   {"seconds_ratio", cost.seconds_ratio()},
                   {"passes_ratio", cost.passes_ratio()},
                   {"points", points}});
  }
  return out;
}

}  // namespace proxbench
