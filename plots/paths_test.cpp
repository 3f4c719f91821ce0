#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_folder.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Two points of a path on the data set "d".
proxbench::Run made_up(const std::string& label, const std::string& grid = "path(20, 10, 2)") {
  proxbench::Run path;
  path.parameters.dataset = "d";
  path.result.description = "made-up words";
  path.parameters.label = label;
  path.parameters.path = grid;
  path.set_status("converged");
  for (const double lambda : {20.0, 10.0}) {
    PathPoint& point = path.points.emplace_back();
    point.lambda = lambda;
    point.certificate.nnz = static_cast<std::uint64_t>(80.0 / lambda);
    point.certificate.objective = 100.0 + lambda;
    point.seconds = 40.0 / lambda;
    point.test_accuracy = 0.5;
  }
  return path;
}

TEST(PathFigures, AreOneForEachQuantityOfADataSet) {
  const TestFolder folder;
  const std::vector<proxbench::Run> paths = {made_up("fast"), made_up("slow")};
  EXPECT_THAT(draw_all(path_charts(paths), folder.path()),
              ElementsAre(folder / "path-d-nnz.png", folder / "path-d-objective.png",
                          folder / "path-d-accuracy.png", folder / "path-d-seconds.png"));
  for (const char* name : {"path-d-nnz", "path-d-objective", "path-d-accuracy", "path-d-seconds"})
    for (const char* extension : {".svg", ".pdf", ".png", ".tsv", ".gp"})
      EXPECT_TRUE(fs::exists(folder / (std::string(name) + extension))) << name << extension;
  EXPECT_EQ(read_text(folder / "path-d-nnz.tsv"),
            "solver\tlambda\tnnz\nfast\t20\t4\nfast\t10\t8\n\n\n"
            "solver\tlambda\tnnz\nslow\t20\t4\nslow\t10\t8\n\n\n");
  EXPECT_THAT(read_text(folder / "path-d-objective.gp"),
              AllOf(HasSubstr("set xrange [22:9.09091]"), HasSubstr("set key inside left bottom")))
      << "the largest lambda on the left, where F is largest, too";
}

TEST(PathFigures, LeaveOutWhatThereIsNothingOf) {
  const TestFolder folder;
  proxbench::Run path = made_up("fast");
  path.timing.comparable = false;
  for (PathPoint& point : path.points) point.test_accuracy = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(draw_all(path_charts({path}), folder.path()),
              ElementsAre(folder / "path-d-nnz.png", folder / "path-d-objective.png"));
  draw_all(path_charts({path}, true), folder / "all");
  EXPECT_THAT(read_text(folder / "all/path-d-seconds.gp"), HasSubstr("NOT COMPARABLE: "));
  EXPECT_THAT(read_text(folder / "all/path-d-nnz.gp"), Not(HasSubstr("NOT COMPARABLE: ")));
  path.points.clear();
  EXPECT_TRUE(draw_all(path_charts({path}), folder / "none").empty());
}

TEST(PathFigures, TellGridsApartAndWhichWereCutShort) {
  const TestFolder folder;
  proxbench::Run cut = made_up("fast", "path(20, 1, 9)"), again = made_up("fast");
  cut.set_status("time-limit");
  again.parameters.repetition = 2;
  draw_all(path_charts({made_up("fast"), cut, again}), folder.path());
  const std::string script = read_text(folder / "path-d-nnz.gp");
  EXPECT_THAT(script,
              AllOf(HasSubstr("title 'fast path(20, 10, 2)'"), HasSubstr("title 'fast path(20, 1, 9)'"),
                    HasSubstr("1 of 2 paths did not reach their tolerance at every λ.")));
}

}  // namespace
}  // namespace proxbench
