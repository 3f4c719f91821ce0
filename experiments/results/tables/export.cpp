#include "experiments/results/tables/export.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "experiments/base/table_text.h"

namespace proxbench {
namespace {

struct ExportColumn {
  std::string name;
  std::function<std::string(const StoredRun&)> text;
};

/// A value of a manifest: text as it is, numbers in full precision, nothing for null, else JSON.
std::string value_text(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return csv_number(value.get<double>());
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The value at a JSON pointer of the manifest, e.g. "/run/seed".
ExportColumn stored(const std::string& name, const std::string& pointer) {
  return {name, [at = nlohmann::json::json_pointer(pointer)](const StoredRun& run) {
            return run.summary.contains(at) ? value_text(run.summary.at(at)) : "";
          }};
}

double relative_difference(const StoredRun& run, double objective) {
  return (objective - run.reference_objective) / std::abs(run.reference_objective);
}

std::vector<ExportColumn> export_columns() {
  std::vector<ExportColumn> all = {
      {"name", run_name},
      {"experiment", [](const StoredRun& run) { return run.experiment; }},
      {"dataset", [](const StoredRun& run) { return run.dataset; }},
      {"description", [](const StoredRun& run) { return run.description; }},
      {"lambda", [](const StoredRun& run) { return csv_number(run.lambda); }},
      {"path", [](const StoredRun& run) { return run.path; }},
      {"solver", [](const StoredRun& run) { return run.solver; }},
      {"label", [](const StoredRun& run) { return run.label; }},
      {"repetition", [](const StoredRun& run) { return std::to_string(run.repetition); }},
      stored("seed", "/run/seed"),
      {"status", [](const StoredRun& run) { return run.status; }},
  };
  // The numbers of a summary (DESIGN section 5, and what the harness adds).
  for (const char* key : {"reason",       "mu",
                          "tol",          "d",
                          "instances",    "positions",
                          "threads",      "backend",
                          "objective",    "loss",
                          "l1",           "nnz",
                          "kkt",          "relative_kkt",
                          "dual",         "gap",
                          "relative_gap", "iterations",
                          "passes",       "seconds",
                          "cpu_seconds",  "peak_rss_bytes",
                          "test_accuracy"})
    all.push_back(stored(key, std::string("/") + key));
  for (const char* key : {"load_seconds", "setup_seconds", "warm_up_seconds", "sampling_seconds",
                          "gap_seconds", "certify_seconds", "wall_seconds", "not_comparable_because"})
    all.push_back(stored(key, std::string("/timing/") + key));
  for (const char* key : {"time_limit", "max_iterations", "data_digest"})
    all.push_back(stored(key, std::string("/run/") + key));
  const std::vector<ExportColumn> last = {
      {"reference_objective", [](const StoredRun& run) { return csv_number(run.reference_objective); }},
      {"reference_relative_kkt", [](const StoredRun& run) { return csv_number(run.reference_kkt); }},
      {"reference_relative_gap", [](const StoredRun& run) { return csv_number(run.reference_gap); }},
      {"relative_difference",
       [](const StoredRun& run) {
         return csv_number(relative_difference(run, number_at(run.summary, "/objective")));
       }},
      {"machine", [](const StoredRun& run) { return run.machine; }},
      {"comparable", [](const StoredRun& run) { return std::string(run.comparable ? "true" : "false"); }},
      stored("options", "/run/options"),
  };
  all.insert(all.end(), last.begin(), last.end());
  return all;
}

}  // namespace

std::string csv_of_runs(const std::vector<StoredRun>& runs) {
  const std::vector<ExportColumn> all = export_columns();
  std::string out;
  for (const ExportColumn& column : all) out += fmt::format("{}{}", out.empty() ? "" : ",", column.name);
  out += "\n";
  for (const StoredRun& run : runs) {
    std::vector<std::string> fields;
    for (const ExportColumn& column : all) fields.push_back(csv_field(column.text(run)));
    out += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return out;
}

std::string csv_of_samples(const std::vector<StoredRun>& runs) {
  std::string out = fmt::format("name,{},relative_difference\n", trace_header());
  for (const StoredRun& run : runs) {
    const std::string name = csv_field(run_name(run));
    for (const Sample& sample : run.trace)
      out += fmt::format("{},{},{}\n", name, trace_line(sample),
                         csv_number(relative_difference(run, sample.objective)));
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
