#pragma once
/// Stored results as tables for other programs: runs, their samples, and the points of lambda paths.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/results/results.h"

namespace proxbench {

/// Rows are objects with the same members: null, numbers, truth values and texts. Maps and lists become texts
/// "NAME=VALUE NAME=VALUE" and "VALUE VALUE". Null means not measured, or not applicable.
struct ExportTable {
  std::string name;  ///< "runs", "samples" or "points"
  std::vector<Json> rows;
};

/// One row for each run: its identity, then the columns of run_fields(). A lambda path has `path` instead of
/// lambda or mu. Its results are from its last point, and its costs are the sum over all points.
ExportTable table_of_runs(const std::vector<Run>& runs);
/// One row for each sample: the identity of its run, the columns of its trace, and the relative difference to
/// f*. A sample of a path has the lambda and mu of its point. If the path stopped before the point was
/// finished, the value that varies along the path is null.
ExportTable table_of_samples(const std::vector<Run>& runs);
/// One row for each point of a path: the identity of its run, its number, and the columns of path.csv.
ExportTable table_of_points(const std::vector<Run>& runs);

/// Writes a header line, numbers in full precision, and nothing for null. No field is quoted: in texts, ";"
/// replaces a comma, and a space replaces what could end or hide a field. NumPy's genfromtxt, pandas and R
/// can read it.
std::string csv_text(const ExportTable& table);

/// Writes all tables that have a row into one SQLite file, which replaces an older one. Throws Error on
/// failure.
void write_sqlite(const std::filesystem::path& file, const std::vector<ExportTable>& tables);

}  // namespace proxbench
