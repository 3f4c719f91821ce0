#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/files.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/tables/result_tables.h"

namespace proxbench {
namespace {

proxbench::Run run_on(const std::string& dataset, const RunFigures& result) {
  proxbench::Run run;
  run.parameters.dataset = dataset;
  run.result = result;
  return run;
}

TEST(DataTable, TakesWhatAnyRunOnADataSetTells) {
  RunFigures sizes, notes;
  sizes.instances = notes.instances = 3;
  sizes.positions = 12;
  sizes.features = 7;
  sizes.outputs = 2;
  sizes.d = 18;
  notes.notes = {{"belief_bytes", 1073741824.0}};
  const std::vector<proxbench::Run> runs{run_on("words", sizes), run_on("words", notes),
                                         run_on("failed", {})};
  const TableSet set = data_table(runs);
  const TextTable& table = set.tables[0];
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0], testing::ElementsAre("words", "3", "12", "2", "7", "18", "1.00"));
  EXPECT_THAT(table.rows[1], testing::ElementsAre("failed", "-", "-", "-", "-", "-", "-"));

  const TestFolder folder;
  set.write(folder / "tables");
  EXPECT_EQ(read_file(folder / "tables/data.csv", "a table"),
            "dataset,instances,positions,outputs,features,d,belief_bytes\nwords,3,12,2,7,18,"
            "1073741824\nfailed,,,,,,\n");
}

}  // namespace
}  // namespace proxbench
