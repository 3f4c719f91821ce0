#include "experiments/results/tables/export.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/results/field_csv.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// The columns that every table begins with. `point` is the point of a path that a row belongs to.
Json identity_of(const Run& run, const PathPoint* point = nullptr) {
  const RunParameters& p = run.parameters;
  const auto penalty = [&](double fixed, double PathPoint::*value, bool varies) {
    return point != nullptr ? Json(point->*value) : varies ? Json() : Json(fixed);
  };
  return {{"name", run_name(run)},
          {"experiment", p.experiment},
          {"dataset", p.dataset},
          {"lambda", penalty(p.lambda, &PathPoint::lambda, run.is_path() && !p.path_of_mu)},
          {"mu", penalty(p.mu, &PathPoint::mu, p.path_of_mu)},
          {"path", run.is_path() ? Json(p.path) : Json()},
          {"solver", p.solver},
          {"label", p.label},
          {"repetition", p.repetition}};
}

/// Returns the point of a path that a sample belongs to, which is the first that ended no earlier. Null if
/// there is none.
const PathPoint* point_of(const Run& run, const Sample& sample) {
  const auto found = std::ranges::lower_bound(run.points, sample.seconds, {}, &PathPoint::seconds);
  return found == run.points.end() ? nullptr : &*found;
}

/// An open SQLite file. Every failure is an Error that names it.
class Database {
 public:
  explicit Database(const fs::path& file) : file_(file.string()) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open(file_.c_str(), &handle);
    handle_.reset(handle);
    check(code);
  }
  void run(const std::string& sql) {
    check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  void insert(const ExportTable& table) {
    std::vector<std::string> columns, marks;
    for (const auto& [name, value] : table.rows.front().items()) {
      columns.push_back(fmt::format("\"{}\"", name));
      marks.emplace_back("?");
    }
    run(fmt::format("CREATE TABLE {} ({})", table.name, joined(columns)));
    sqlite3_stmt* handle = nullptr;
    const std::string sql = fmt::format("INSERT INTO {} VALUES ({})", table.name, fmt::join(marks, ","));
    check(sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &handle, nullptr));
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(handle, sqlite3_finalize);
    for (const Json& row : table.rows) {
      int at = 0;
      for (const Json& value : row) bind(handle, ++at, value);
      check(sqlite3_step(handle));
      check(sqlite3_reset(handle));
    }
  }

 private:
  void bind(sqlite3_stmt* statement, int at, const Json& value) {
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      check(sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
    } else if (value.is_boolean()) {
      check(sqlite3_bind_int64(statement, at, value.get<bool>() ? 1 : 0));
    } else if (value.is_number_integer()) {
      check(sqlite3_bind_int64(statement, at, value.get<std::int64_t>()));
    } else if (value.is_number()) {
      check(sqlite3_bind_double(statement, at, value.get<double>()));
    } else {
      check(sqlite3_bind_null(statement, at));
    }
  }
  void check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    throw Error(fmt::format("{}: {}", file_, handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code)));
  }

  std::string file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

}  // namespace

ExportTable table_of_runs(const std::vector<Run>& runs) {
  ExportTable table{"runs", {}};
  for (const Run& run : runs) {
    Json& row = table.rows.emplace_back(identity_of(run));
    for (const Field<Run>& field : run_fields())
      if (field.use != FieldUse::kRecord) row.emplace(column_name(field), cell_of(field.get(run)));
    row["relative_difference"] =
        number_json(relative_difference(run.result.certificate.objective, run.best.objective));
  }
  return table;
}

ExportTable table_of_samples(const std::vector<Run>& runs) {
  ExportTable table{"samples", {}};
  for (const Run& run : runs)
    for (const Sample& sample : run.trace) {
      Json& row =
          table.rows.emplace_back(row_of(identity_of(run, point_of(run, sample)), trace_columns(), sample));
      row["relative_difference"] = number_json(relative_difference(sample.objective, run.best.objective));
    }
  return table;
}

ExportTable table_of_points(const std::vector<Run>& runs) {
  ExportTable table{"points", {}};
  for (const Run& run : runs)
    for (const PathPoint& point : run.points)
      table.rows.push_back(row_of(identity_of(run, &point), path_columns(), point));
  return table;
}

std::string csv_text(const ExportTable& table) {
  std::vector<Json> rows = table.rows;
  for (Json& row : rows)
    for (Json& value : row)
      if (value.is_string())
        value = replaced(value.get<std::string>(),
                         {{',', ";"}, {'"', " "}, {'#', " "}, {'\n', " "}, {'\r', " "}, {'\t', " "}});
  return csv_text(rows);
}

void write_sqlite(const fs::path& file, const std::vector<ExportTable>& tables) {
  const fs::path temporary = temporary_name(file);
  fs::remove(temporary);
  {
    Database database(temporary);
    database.run("PRAGMA journal_mode = MEMORY; BEGIN");  // a new file needs no journal on disk
    for (const ExportTable& table : tables)
      if (!table.rows.empty()) database.insert(table);
    database.run("COMMIT");
  }
  fs::rename(temporary, file);
}

}  // namespace proxbench
