#include "experiments/results/tables/export.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <memory>
#include <set>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/results/field_csv.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<Json>;
using Columns = std::vector<ExportTable::Column>;

/// What every table tells its runs by. The points of a path have a lambda and a mu of their own.
Columns identity_columns(bool of_points) {
  using enum FieldType;
  Columns out{{"name", kText}, {"experiment", kText}, {"dataset", kText}};
  if (!of_points) {
    out.push_back({"lambda", kReal});
    out.push_back({"mu", kReal});
  }
  const Columns rest{{"path", kText}, {"solver", kText}, {"label", kText}, {"repetition", kCount}};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

Row identity_of(const Run& run, bool of_points) {
  const RunParameters& p = run.parameters;
  Row out{run_name(run), p.experiment, p.dataset};
  if (!of_points) {
    out.push_back(run.is_path() && !p.path_of_mu ? Json() : Json(p.lambda));
    out.push_back(p.path_of_mu ? Json() : Json(p.mu));
  }
  const Row rest{run.is_path() ? Json(p.path) : Json(), p.solver, p.label, p.repetition};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

/// The value as a cell.
Json cell_of(const Json& value) {
  if (value.is_object()) return csv_value(value);
  if (!value.is_array()) return value;
  std::string out;
  for (const Json& one : value) out += (out.empty() ? "" : " ") + field_text(one);
  return out;
}

std::vector<Field<Run>> exported_fields() {
  std::set<std::string> known;
  for (const ExportTable::Column& column : identity_columns(false)) known.insert(column.name);
  std::vector<Field<Run>> out;
  for (const Field<Run>& field : run_fields())
    if (field.use != FieldUse::kRecord && !known.contains(column_name(field))) out.push_back(field);
  return out;
}

std::string plain_text(std::string text) {
  for (char& c : text) {
    if (c == ',') c = ';';
    if (c == '"' || c == '#' || c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return text;
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
    std::string marks;
    for (std::size_t i = 0; i < table.columns.size(); ++i) marks += i > 0 ? ",?" : "?";
    sqlite3_stmt* handle = nullptr;
    const std::string sql = fmt::format("INSERT INTO {} VALUES ({})", table.name, marks);
    check(sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &handle, nullptr));
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(handle, sqlite3_finalize);
    for (const Row& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) bind(handle, static_cast<int>(i) + 1, row[i]);
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

std::string create_sql(const ExportTable& table) {
  std::string out;
  for (const auto& [name, type] : table.columns) {
    const bool whole = type == FieldType::kCount || type == FieldType::kTruth;
    out += fmt::format("{}\"{}\" {}", out.empty() ? "" : ", ", name,
                       whole                      ? "INTEGER"
                       : type == FieldType::kReal ? "REAL"
                                                  : "TEXT");
  }
  return fmt::format("CREATE TABLE {} ({})", table.name, out);
}

}  // namespace

ExportTable table_of_runs(const std::vector<Run>& runs) {
  ExportTable table{"runs", identity_columns(false), {}};
  const std::vector<Field<Run>> fields = exported_fields();
  for (const Field<Run>& field : fields) table.columns.push_back({column_name(field), field.type});
  table.columns.push_back({"relative_difference", FieldType::kReal});
  for (const Run& run : runs) {
    Row& row = table.rows.emplace_back(identity_of(run, false));
    for (const Field<Run>& field : fields) row.push_back(cell_of(field.get(run)));
    row.push_back(number_json(relative_difference(run.result.certificate.objective, run.best.objective)));
  }
  return table;
}

ExportTable table_of_samples(const std::vector<Run>& runs) {
  ExportTable table{"samples", identity_columns(false), {}};
  for (const Field<Sample>& field : trace_columns()) table.columns.push_back({field.name, field.type});
  table.columns.push_back({"relative_difference", FieldType::kReal});
  for (const Run& run : runs)
    for (const Sample& sample : run.trace) {
      Row& row = table.rows.emplace_back(identity_of(run, false));
      for (const Field<Sample>& field : trace_columns()) row.push_back(cell_of(field.get(sample)));
      row.push_back(number_json(relative_difference(sample.objective, run.best.objective)));
    }
  return table;
}

ExportTable table_of_points(const std::vector<StoredPath>& paths) {
  ExportTable table{"points", identity_columns(true), {}};
  table.columns.push_back({"point", FieldType::kCount});
  for (const Field<PathPoint>& field : path_columns()) table.columns.push_back({field.name, field.type});
  for (const StoredPath& path : paths)
    for (std::size_t i = 0; i < path.points.size(); ++i) {
      Row& row = table.rows.emplace_back(identity_of(path.run, true));
      row.push_back(i + 1);
      for (const Field<PathPoint>& field : path_columns()) row.push_back(cell_of(field.get(path.points[i])));
    }
  return table;
}

std::string csv_text(const ExportTable& table) {
  std::string out;
  for (const ExportTable::Column& column : table.columns) out += (out.empty() ? "" : ",") + column.name;
  out += "\n";
  for (const Row& row : table.rows) {
    std::vector<std::string> cells;
    for (const Json& value : row) cells.push_back(plain_text(field_text(value)));
    out += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return out;
}

void write_sqlite(const fs::path& file, const std::vector<ExportTable>& tables) {
  const fs::path temporary =
      file.parent_path() / fmt::format(".{}.tmp-{}", file.filename().string(), getpid());
  fs::remove(temporary);
  {
    Database database(temporary);
    database.run("PRAGMA journal_mode = MEMORY; BEGIN");  // a file that is not there yet needs no journal
    for (const ExportTable& table : tables) {
      database.run(create_sql(table));
      database.insert(table);
    }
    database.run("COMMIT");
  }
  fs::rename(temporary, file);
}

}  // namespace proxbench
