#include "experiments/results/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A stored run in OUT/runs/NAME.
void write_run(const TestFolder& folder, const std::string& out, const std::string& name, double objective,
               const std::string& machine = "here") {
  const nlohmann::json manifest = {
      {"status", "converged"},
      {"reason", nullptr},
      {"objective", objective},
      {"nnz", 7},
      {"dual", objective - 0.5},
      {"gap", 0.5},
      {"relative_gap", 0.125},
      {"mu", 0.0},
      {"data_digest", "0123456789abcdef"},
      {"timing", {{"load_seconds", 0.5}, {"comparable", true}}},
      {"key", {{"digest", "abc"}}},
      {"provenance",
       {{"time", "2026-01-01T00:00:00Z"}, {"machine", {{"name", machine}, {"id", machine + "-id"}}}}},
      {"run",
       {{"experiment", "e"},
        {"dataset", "words"},
        {"description", "words"},
        {"solver", "prox-qn"},
        {"label", "prox-qn"},
        {"lambda", 1.0},
        {"repetition", 1},
        {"seed", 1},
        {"reference_objective", 10.0},
        {"reference_kkt", 1e-9}}}};
  Sample sample;
  sample.objective = objective;
  sample.gap = 0.5;
  folder.write(out + "/runs/" + name + "/manifest.json", manifest.dump(2));
  folder.write(out + "/runs/" + name + "/trace.csv", trace_header() + "\n" + trace_line(sample) + "\n");
  folder.write(out + "/runs/" + name + "/model.tsv", "# proxbench model 1\n");
}

/// All rows of a query, the columns of each joined by '|'.
std::vector<std::string> query(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::vector<std::string> rows;
  char* error = nullptr;
  sqlite3_exec(
      database, sql.c_str(),
      [](void* out, int columns, char** values, char**) {
        std::string row;
        for (int i = 0; i < columns; ++i) row.append(i ? "|" : "").append(values[i] ? values[i] : "NULL");
        static_cast<std::vector<std::string>*>(out)->push_back(row);
        return 0;
      },
      &rows, &error);
  if (error != nullptr) rows.push_back(error);
  sqlite3_free(error);
  sqlite3_close(database);
  return rows;
}

class Store : public testing::Test {
 protected:
  fs::path out() const { return folder / "out"; }
  TestFolder folder;
};

TEST_F(Store, IndexHoldsEveryRunAndSample) {
  write_run(folder, "out", "a", 12.0);
  write_run(folder, "out", "b", 15.0);
  folder.write("out/runs/.c.17.new/manifest.json", "half");
  EXPECT_EQ(rebuild_index(out()), 2u);
  EXPECT_TRUE(index_agrees(out()));
  EXPECT_THAT(
      query(out() / "index.sqlite",
            "SELECT folder, key, status, objective, nnz, kkt, dual, gap, relative_gap, difference, "
            "load_seconds, comparable, machine, "
            "machine_id, time FROM runs ORDER BY folder"),
      ElementsAre(
          "runs/a|abc|converged|12.0|7|NULL|11.5|0.5|0.125|0.2|0.5|1|here|here-id|2026-01-01T00:00:00Z",
          "runs/b|abc|converged|15.0|7|NULL|14.5|0.5|0.125|0.5|0.5|1|here|here-id|2026-01-01T00:00:00Z"));
  EXPECT_THAT(
      query(out() / "index.sqlite", "SELECT folder, objective, kkt, gap FROM samples ORDER BY folder"),
      ElementsAre("runs/a|12.0|NULL|0.5", "runs/b|15.0|NULL|0.5"));
  EXPECT_THAT(query(out() / "index.sqlite", "SELECT json_extract(manifest, '$.run.label') FROM runs LIMIT 1"),
              ElementsAre("prox-qn"));
}

TEST_F(Store, ARunIsPutInThePlaceOfItsFormerSelf) {
  write_run(folder, "out", "a", 12.0);
  index_run(out(), out() / "runs/a");
  write_run(folder, "out", "a", 11.0);
  EXPECT_FALSE(index_agrees(out()));
  index_run(out(), out() / "runs/a");
  EXPECT_TRUE(index_agrees(out()));
  EXPECT_THAT(query(out() / "index.sqlite", "SELECT objective FROM runs"), ElementsAre("11.0"));
  EXPECT_THAT(query(out() / "index.sqlite", "SELECT objective FROM samples"), ElementsAre("11.0"));
}

TEST_F(Store, AnIndexThatIsBrokenOrMissesRunsIsMadeAnew) {
  write_run(folder, "out", "a", 12.0);
  folder.write("out/index.sqlite", "this is no database, and long enough to be read as the head of one...");
  EXPECT_FALSE(index_agrees(out()));
  index_run(out(), out() / "runs/a");
  EXPECT_TRUE(index_agrees(out()));
  write_run(folder, "out", "b", 13.0);
  EXPECT_FALSE(index_agrees(out()));
  fs::remove_all(out() / "runs/b");
  EXPECT_TRUE(index_agrees(out()));
  fs::remove_all(out() / "runs/a");
  EXPECT_FALSE(index_agrees(out()));
}

TEST_F(Store, MergeKeepsTheRunsOfDifferentMachinesApart) {
  write_run(folder, "one", "a", 12.0, "here");
  write_run(folder, "two", "a", 12.5, "there");
  write_run(folder, "two", "b", 13.0, "there");
  folder.write("one/config.ini", "[experiment]\nname = e\nlambda = 1\n");
  folder.write("two/config.ini", "[experiment]\nname = e\nlambda = 1\n");
  folder.write("one/references/r.json", R"({"relative_kkt": 1e-6, "from": 1})");
  folder.write("two/references/r.json", R"({"relative_kkt": 1e-9, "from": 2})");
  const MergeResult result = merge_results({folder / "one", folder / "two"}, out());
  EXPECT_EQ(result.runs, 3u);
  EXPECT_EQ(result.references, 1u);
  EXPECT_THAT(result.notes, testing::IsEmpty());
  EXPECT_THAT(query(out() / "index.sqlite", "SELECT folder, machine, objective FROM runs ORDER BY folder"),
              ElementsAre("runs/a|here|12.0", "runs/a@there|there|12.5", "runs/b|there|13.0"));
  EXPECT_TRUE(index_agrees(out()));
  EXPECT_THAT(read_text(out() / "references/r.json"), HasSubstr("\"from\": 2"));
  EXPECT_EQ(read_text(out() / "runs/b/model.tsv"), "# proxbench model 1\n");
  EXPECT_TRUE(fs::exists(out() / "config.ini"));
}

TEST_F(Store, MergeCopiesTheSameRunOnceAndRefusesTwoThatDiffer) {
  write_run(folder, "one", "a", 12.0);
  write_run(folder, "two", "a", 12.0);
  const MergeResult result = merge_results({folder / "one", folder / "two"}, out());
  EXPECT_EQ(result.runs, 1u);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("two/runs/a: the same run is there already")));
  write_run(folder, "two", "a", 12.5);
  try {
    merge_results({folder / "one", folder / "two"}, folder / "other");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("are both runs of a on here and differ"));
  }
  EXPECT_FALSE(fs::exists(folder / "other"));
  EXPECT_THROW(merge_results({folder / "one"}, out()), Error);  // not empty
}

}  // namespace
}  // namespace proxbench
