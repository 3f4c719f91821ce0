#pragma once
/// Stored results as tables for other programs: runs, their samples, and the points of lambda paths.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/results/results.h"

namespace proxbench {

/// Rows are objects with the same members: null, numbers, truth values and texts. Maps and lists are texts
/// "NAME=VALUE NAME=VALUE" and "VALUE VALUE". Null: not measured, or it does not apply.
struct ExportTable {
  std::string name;  ///< "runs", "samples" or "points"
  std::vector<nlohmann::ordered_json> rows;
};

/// A row for each run: what it is told by, then the columns of run_fields(). A lambda path has `path` in the
/// place of its lambda or mu; its numbers are those of its last point, its costs those of all points.
ExportTable table_of_runs(const std::vector<Run>& runs);
/// A row for each sample: what its run is told by, the columns of its trace, the relative difference to f*.
ExportTable table_of_samples(const std::vector<Run>& runs);
/// A row for each point of a lambda path: what its run is told by, its number, the columns of path.csv.
ExportTable table_of_points(const std::vector<Run>& paths);

/// A header line, numbers in full precision, nothing for null. No field is quoted: in texts, ";" stands for a
/// comma and a space for what could end or hide a field. NumPy's genfromtxt, pandas and R read it.
std::string csv_text(const ExportTable& table);

/// Writes all tables that have a row into one SQLite file, in the place of what was there. Throws Error.
void write_sqlite(const std::filesystem::path& file, const std::vector<ExportTable>& tables);

}  // namespace proxbench
