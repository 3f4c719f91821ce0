#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/csv.h"
#include "experiments/results/fields.h"

namespace proxbench {
namespace {

TEST(PathFile, IsReadAsItWasWritten) {
  const TestFolder folder;
  const auto line = [](const PathPoint& point) { return csv_line(path_columns(), point); };
  PathPoint point{.number = 1, .lambda = 0.1, .kkt_target = 1e-7, .seconds = 1.25, .iterations = 12};
  point.certificate = {.objective = 3.5, .loss = 3.0, .l1 = 5.0, .kkt = 1e-9, .dual = 3.25, .nnz = 7};
  point.status = Status::kStalled;
  const std::string text = csv_header(path_columns()) + "\n" + line(point) + "\n";
  const std::filesystem::path file = folder.write("path.csv", text + "2,0.05,3.");
  repair_csv(csv_header(path_columns()), file);  // as after a kill
  EXPECT_EQ(read_text(file), text);
  const std::vector<PathPoint> read = read_csv(path_columns(), file);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(line(read.front()), line(point));
  EXPECT_EQ(read.front().certificate.dual, 3.25);
  EXPECT_TRUE(std::isnan(read.front().test_accuracy));
  for (const std::string& wrong : {std::string("nonsense\n"), text + "2,3\n"})
    EXPECT_THROW(read_csv(path_columns(), folder.write("path.csv", wrong)), Error);
}

}  // namespace
}  // namespace proxbench
