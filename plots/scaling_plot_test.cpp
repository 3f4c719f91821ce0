#include "plots/scaling_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Scores that scale, a solver that does not, and a full gradient too short for a line.
Scaling made_up(const std::vector<int>& threads, std::size_t problems) {
  Scaling out;
  out.name = "made-up";
  out.threads = threads;
  out.backends = {"openmp", "tbb"};
  out.cpus = threads.back();
  for (std::size_t i = 0; i < problems; ++i) {
    ScalingProblem& problem = out.problems.emplace_back();
    problem.dataset = "d" + std::to_string(i);
    problem.description = "SYNTHETIC words";
    problem.label = "prox_newton";
    problem.lambda = 1.0;
    for (const int count : threads)
      for (const std::string& backend : out.backends) {
        ScalingRun& run = problem.runs.emplace_back();
        run.backend = backend;
        run.threads = count;
        run.phases = {{"scores", 1, 8.0 / count, 8.0 / count, 1e9, 1e9},
                      {"full gradient", 1, 0.001, 0.0, 1e6, 1e6},
                      {"solver", 0, 1.0, 0.0, 0.0, 0.0}};
      }
  }
  return out;
}

TEST(ScalingPlot, DrawsLinesAndBarsOfBothBackEnds) {
  const TestFolder folder;
  const Scaling scaling = made_up({1, 2, 4}, 1);
  EXPECT_THAT(draw_scaling(scaling, phase_scalings(scaling), folder.path()),
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
  const Scaling scaling = made_up({1}, 2);
  EXPECT_THAT(draw_scaling(scaling, phase_scalings(scaling), folder.path()),
              ElementsAre(folder / "scale-d0-lambda1-prox_newton.png", folder / "scale-d1-lambda1-prox_newton.png"));
}

}  // namespace
}  // namespace proxbench
