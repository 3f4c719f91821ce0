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

/// Runs whose scores scale and whose solver does not, with a full gradient too short for a line.
std::vector<proxbench::Run> made_up(const std::vector<int>& threads, std::size_t problems) {
  std::vector<proxbench::Run> out;
  for (std::size_t i = 0; i < problems; ++i)
    for (const int count : threads)
      for (const char* backend : {"openmp", "tbb"}) {
        proxbench::Run& run = out.emplace_back();
        run.parameters.dataset = "d" + std::to_string(i);
        run.parameters.label = "prox_newton";
        run.parameters.backend = backend;
        run.parameters.threads = count;
        run.provenance.cores = static_cast<std::uint64_t>(threads.back());
        run.result.description = "SYNTHETIC words";
        run.result.phases = {{"scores", 1, 8.0 / count, 8.0 / count, 1e9, 1e9},
                             {"full gradient", 1, 0.001, 0.0, 1e6, 1e6},
                             {"solver", 0, 1.0, 0.0, 0.0, 0.0}};
      }
  return out;
}

TEST(ScalingPlot, DrawsLinesAndBarsOfBothBackEnds) {
  const TestFolder folder;
  const std::vector<proxbench::Run> runs = made_up({1, 2, 4}, 1);
  EXPECT_THAT(draw_all(scaling_charts(scaling_problems(runs)), folder.path()),
              ElementsAre(folder / "scale.png"));
  for (const char* name : {"scale.svg", "scale.pdf", "scale.gp"})
    EXPECT_GT(fs::file_size(folder / name), 100u);
  const std::string data = read_text(folder / "scale.tsv"), script = read_text(folder / "scale.gp");
  EXPECT_THAT(data, AllOf(HasSubstr("openmp\tscores\t4\t2\t2\t2\t4\t1\n"),
                          HasSubstr("tbb\tsolver\t4\t1\t1\t1\t1\t0.25\n")));
  EXPECT_THAT(script,
              AllOf(HasSubstr("SYNTHETIC DATA: d0, λ = 1, prox\\_newton"),
                    HasSubstr("set xtics ('1' 1, '2' 2, '4' 4)"), HasSubstr("title 'full gradient'")));
  EXPECT_THAT(data, Not(HasSubstr("openmp\tfull gradient\t4\t0.001"))) << "too short for a line";
}

TEST(ScalingPlot, HasAFigureForEachProblemAndOneThreadIsEnough) {
  const TestFolder folder;
  const std::vector<proxbench::Run> runs = made_up({1}, 2);
  EXPECT_THAT(
      draw_all(scaling_charts(scaling_problems(runs)), folder.path()),
      ElementsAre(folder / "scale-d0-lambda1-prox_newton.png", folder / "scale-d1-lambda1-prox_newton.png"));
}

}  // namespace
}  // namespace proxbench
