#include "experiments/results/tables/data_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/files.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

Run run_on(const std::string& dataset, const nlohmann::json& summary) {
  Run run;
  run.dataset = dataset;
  run.summary = summary;
  return run;
}

TEST(DataTable, TakesWhatAnyRunOnADataSetTells) {
  const std::vector<Run> runs{
      run_on("words", {{"instances", 3}, {"positions", 12}, {"features", 7}, {"outputs", 2}, {"d", 18}}),
      run_on("words", {{"instances", 3}, {"notes", {{"belief_bytes", 1073741824.0}}}}),
      run_on("failed", {{"status", "failed"}})};
  const TextTable table = data_table(runs);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0], testing::ElementsAre("words", "3", "12", "2", "7", "18", "1.00"));
  EXPECT_THAT(table.rows[1], testing::ElementsAre("failed", "-", "-", "-", "-", "-", "-"));

  const TestFolder folder;
  ASSERT_EQ(write_data_table(runs, folder / "tables").size(), 3u);
  EXPECT_EQ(read_file(folder / "tables/data.csv", "a table"),
            "dataset,instances,positions,outputs,features,d,belief_bytes\nwords,3,12,2,7,18,"
            "1073741824\nfailed,,,,,,\n");
}

}  // namespace
}  // namespace proxbench
