#include "experiments/results/store.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "core/base/error.h"
#include "experiments/results/run_columns.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

constexpr int kSchema = 4;

std::string column_sql(const std::string& name, FieldType type) {
  const bool whole = type == FieldType::kCount || type == FieldType::kTruth;
  return fmt::format(", \"{}\" {}", name, whole ? "INTEGER" : type == FieldType::kReal ? "REAL" : "TEXT");
}

std::string tables_sql() {
  std::string runs, samples;
  for (const RunColumn& column : run_columns()) runs += column_sql(column.name, column.type);
  for (const Field<Sample>& column : trace_columns()) samples += column_sql(column.name, column.type);
  return fmt::format(
      "PRAGMA user_version = {};"
      "CREATE TABLE runs (folder TEXT PRIMARY KEY, manifest_digest TEXT{}, difference REAL, manifest TEXT);"
      "CREATE TABLE samples (folder TEXT REFERENCES runs(folder) ON DELETE CASCADE{});"
      "CREATE INDEX samples_by_folder ON samples(folder);",
      kSchema, runs, samples);
}

fs::path index_file(const fs::path& out) {
  return out / "index.sqlite";
}

std::string digest_of_file(const fs::path& file) {
  const std::string text = read_file(file, kStoredResult);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

/// The folders of complete runs below OUT/runs, sorted.
std::vector<fs::path> run_folders(const fs::path& out) {
  std::vector<fs::path> folders;
  std::error_code failure;
  for (fs::directory_iterator entry(out / "runs", failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->is_directory() && !entry->path().filename().string().starts_with('.'))
      folders.push_back(entry->path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// An open SQLite file. Every failure is an Error that names it.
class Database {
 public:
  Database(const fs::path& file, int flags) : file_(file.string()) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(file_.c_str(), &handle, flags, nullptr);
    handle_.reset(handle);
    check(code);
    sqlite3_busy_timeout(handle, 10000);
  }
  void run(const std::string& sql) {
    check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  void check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    throw Error(fmt::format("{}: {}", file_, handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code)));
  }
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement.
class Statement {
 public:
  Statement(Database& database, const std::string& sql) : database_(database) {
    sqlite3_stmt* statement = nullptr;
    database.check(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement, nullptr));
    statement_.reset(statement);
  }
  /// Binds the next parameter: JSON null and NaN as NULL, texts, integers, truth values and reals as they
  /// are.
  void bind(const nlohmann::json& value) {
    ++at_;
    if (value.is_string()) {
      const std::string text = value.get<std::string>();
      database_.check(sqlite3_bind_text(statement_.get(), at_, text.data(), static_cast<int>(text.size()),
                                        SQLITE_TRANSIENT));
    } else if (value.is_boolean()) {
      database_.check(sqlite3_bind_int(statement_.get(), at_, value.get<bool>() ? 1 : 0));
    } else if (value.is_number_integer()) {
      database_.check(sqlite3_bind_int64(statement_.get(), at_, value.get<std::int64_t>()));
    } else if (value.is_number() && !std::isnan(value.get<double>())) {
      database_.check(sqlite3_bind_double(statement_.get(), at_, value.get<double>()));
    } else {
      database_.check(sqlite3_bind_null(statement_.get(), at_));
    }
  }
  /// Runs it to its end, or to the next row; true where there is one.
  bool step() {
    const int code = sqlite3_step(statement_.get());
    database_.check(code);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const unsigned char* value = sqlite3_column_text(statement_.get(), column);
    return value ? reinterpret_cast<const char*>(value) : "";
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int at_ = 0;
};

void insert(Database& database, const std::string& table, const std::vector<nlohmann::json>& values) {
  std::string marks;
  for (std::size_t i = 0; i < values.size(); ++i) marks += i ? ",?" : "?";
  Statement statement(database, fmt::format("INSERT INTO {} VALUES ({})", table, marks));
  for (const nlohmann::json& value : values)
    statement.bind(value.is_structured() ? nlohmann::json(value.dump()) : value);
  statement.step();
}

void insert_run(Database& database, const fs::path& out, const Run& run) {
  const std::string folder = fs::relative(run.folder, out).string();
  std::vector<nlohmann::json> values = {folder, digest_of_file(run.folder / "manifest.json")};
  for (const RunColumn& column : run_columns()) values.emplace_back(column.get(run));
  values.emplace_back(relative_difference(number_at(run.summary, "/objective"), run.reference_objective));
  values.push_back(run.summary.dump());
  insert(database, "runs", values);
  for (const Sample& sample : run.trace) {
    values = {folder};
    for (const Field<Sample>& column : trace_columns()) values.emplace_back(column.get(sample));
    insert(database, "samples", values);
  }
}

/// Folder and digest of every run that the index holds. Throws Error where it cannot be used.
std::map<std::string, std::string> indexed_runs(const fs::path& out) {
  Database database(index_file(out), SQLITE_OPEN_READWRITE);
  Statement version(database, "PRAGMA user_version");
  if (!version.step() || version.integer(0) != kSchema)
    throw Error(index_file(out).string() + ": made by another version");
  std::map<std::string, std::string> runs;
  Statement select(database, "SELECT folder, manifest_digest FROM runs");
  while (select.step()) runs[select.text(0)] = select.text(1);
  return runs;
}

bool index_exists(const fs::path& out) {
  std::error_code ignored;  // an index that cannot be looked at cannot be used
  return fs::is_regular_file(index_file(out), ignored);
}

// ---- merge

void copy_file_into(const fs::path& from, const fs::path& to) {
  write_file_atomically(to, read_file(from, kStoredResult));
}

void copy_folder(const fs::path& from, const fs::path& to) {
  make_folder(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    if (entry.is_regular_file()) copy_file_into(entry.path(), to / entry.path().filename());
}

/// What OUT/runs/NAME is to be copied from.
struct Chosen {
  fs::path folder;
  std::string machine_id, digest;
};

std::string machine_id(const Run& run) {
  const nlohmann::json id = stored_value(run, "/provenance/machine/id");
  return id.is_string() ? id.get<std::string>() : "";
}

/// Where the run goes; "" where it is there already. Throws Error where it cannot be told from another.
std::string merged_name(const Run& run, const std::map<std::string, Chosen>& chosen) {
  const std::string own = run.folder.filename().string(), name = own.substr(0, own.find('@'));
  const std::string machine = run.machine.empty() ? "unknown" : file_name_part(run.machine);
  const std::string digest = digest_of_file(run.folder / "manifest.json");
  std::string candidate = name;
  for (int number = 1;; ++number) {
    const auto taken = chosen.find(candidate);
    if (taken == chosen.end()) return candidate;
    if (taken->second.digest == digest) return "";
    if (taken->second.machine_id == machine_id(run))
      throw Error::usage(
          fmt::format("{} and {} are both runs of {} on {} and differ: expected one of both (run the "
                      "experiment with another "
                      "seed or name to keep two)",
                      taken->second.folder.string(), run.folder.string(), name,
                      run.machine.empty() ? "one machine" : run.machine));
    candidate =
        number == 1 ? fmt::format("{}@{}", name, machine) : fmt::format("{}@{}-{}", name, machine, number);
  }
}

/// Relative gap and kkt of a stored reference; one without a gap is less certain than any with one.
std::pair<double, double> uncertainty(const fs::path& reference) {
  const nlohmann::json json = read_json(reference, "a stored reference");
  return {json.value("relative_gap", std::numeric_limits<double>::infinity()),
          json.value("relative_kkt", 1.0)};
}

/// The better reference for each name.
std::map<std::string, fs::path> chosen_references(const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> out;
  for (const fs::path& folder : folders) {
    std::error_code failure;
    for (fs::directory_iterator entry(folder / "references", failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (entry->path().extension() != ".json" || entry->path().filename().string().starts_with('.'))
        continue;
      fs::path& best = out[entry->path().filename().string()];
      if (best.empty() || uncertainty(entry->path()) < uncertainty(best)) best = entry->path();
    }
  }
  return out;
}

}  // namespace

std::size_t rebuild_index(const fs::path& out) {
  const fs::path temporary = out / fmt::format(".index.sqlite.tmp-{}", getpid());
  fs::remove(temporary);
  std::size_t count = 0;
  {
    Database database(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    database.run("PRAGMA journal_mode = MEMORY; BEGIN");  // a file that is not there yet needs no journal
    database.run(tables_sql());
    for (const fs::path& folder : run_folders(out)) {
      insert_run(database, out, read_run(out, folder));
      ++count;
    }
    database.run("COMMIT");
  }
  fs::rename(temporary, index_file(out));
  return count;
}

void index_run(const fs::path& out, const fs::path& run_folder) {
  try {
    if (!index_exists(out)) throw Error("none yet");
    Database database(index_file(out), SQLITE_OPEN_READWRITE);
    database.run("PRAGMA foreign_keys = ON; BEGIN IMMEDIATE");
    Statement remove(database, "DELETE FROM runs WHERE folder = ?");
    remove.bind(fs::relative(run_folder, out).string());
    remove.step();
    insert_run(database, out, read_run(out, run_folder));
    database.run("COMMIT");
  } catch (const Error&) {  // the files are the truth: what is wrong with them, the rebuild tells
    rebuild_index(out);
  }
}

bool index_agrees(const fs::path& out) {
  std::map<std::string, std::string> stored;
  for (const fs::path& folder : run_folders(out))
    stored[fs::relative(folder, out).string()] = digest_of_file(folder / "manifest.json");
  if (!index_exists(out)) return false;
  try {
    return indexed_runs(out) == stored;
  } catch (const Error&) {  // not a database, or of another version: it does not agree
    return false;
  }
}

MergeResult merge_results(const std::vector<fs::path>& folders, const fs::path& out) {
  if (fs::exists(out) && !fs::is_empty(out))
    throw Error::usage(out.string() + ": found files, expected a folder that is new or empty");
  MergeResult result;
  std::map<std::string, Chosen> chosen;
  for (const fs::path& folder : folders)
    for (const Run& run : read_all_runs(folder)) {
      const std::string name = merged_name(run, chosen);
      if (name.empty())
        result.notes.push_back(run.folder.string() + ": the same run is there already, copied once");
      else
        chosen[name] = {run.folder, machine_id(run), digest_of_file(run.folder / "manifest.json")};
    }
  const fs::path config = folders.front() / "config.ini";
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "config.ini") && fs::exists(config) &&
        read_file(folder / "config.ini", kStoredResult) != read_file(config, kStoredResult))
      result.notes.push_back(fmt::format("{} differs from {}, which is taken",
                                         (folder / "config.ini").string(), config.string()));
  const std::map<std::string, fs::path> references = chosen_references(folders);

  const fs::path target =
      out.lexically_normal().has_filename() ? out.lexically_normal() : out.lexically_normal().parent_path();
  const fs::path temporary =
      target.parent_path() / fmt::format(".{}.tmp-{}", target.filename().string(), getpid());
  fs::remove_all(temporary);
  try {
    for (const char* below : {"runs", "references", "figures", "tables"}) make_folder(temporary / below);
    if (fs::exists(config)) copy_file_into(config, temporary / "config.ini");
    for (const auto& [name, from] : chosen) copy_folder(from.folder, temporary / "runs" / name);
    for (const auto& [name, from] : references) copy_file_into(from, temporary / "references" / name);
    rebuild_index(temporary);
    if (fs::exists(target)) fs::remove(target);  // an empty folder
    fs::rename(temporary, target);
  } catch (...) {
    std::error_code ignored;  // the first error is the one to tell
    fs::remove_all(temporary, ignored);
    throw;
  }
  result.runs = chosen.size();
  result.references = references.size();
  return result;
}

}  // namespace proxbench
