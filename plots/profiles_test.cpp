#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<fs::path> make_profiles(const std::vector<proxbench::Run>& runs, const fs::path& folder,
                                    const PlotConfig& plot,
                                    const std::vector<double>& targets = default_targets(),
                                    bool allow_not_comparable = false) {
  return draw_all(profile_charts(runs, plot, targets, allow_not_comparable), folder);
}

#define SKIP_WITHOUT_GNUPLOT()                          \
  if (std::system("gnuplot --version >/dev/null 2>&1")) \
  GTEST_SKIP() << "gnuplot is not installed: no image can be drawn"

/// A run that is 10 % above f* = 100, and reaches it after `seconds`; 0: never.
proxbench::Run run_of(const std::string& label, double lambda, double seconds) {
  proxbench::Run run;
  run.parameters.experiment = "e";
  run.parameters.dataset = "ocr";
  run.result.description = "made up";
  run.parameters.solver = run.parameters.label = label;
  run.parameters.lambda = lambda;
  run.folder = "results/e/runs/" + run_name(run);
  run.best.objective = 100.0;
  run.best.relative_kkt = 1e-9;
  run.set_status(seconds > 0.0 ? "converged" : "time-limit");
  run.parameters.time_limit = 60.0;
  run.trace.resize(seconds > 0.0 ? 2 : 1);
  run.trace[0].objective = 110.0;
  run.trace.back().passes = 2.0 * seconds;
  if (seconds > 0.0) {
    run.trace[1].seconds = seconds;
    run.trace[1].objective = 100.0;
  }
  return run;
}

/// Three solvers on three problems: ratios 1 2 4, 2 1 inf, 1 2 1.
std::vector<proxbench::Run> three_by_three() {
  return {run_of("a", 1, 1), run_of("b", 1, 2),  run_of("c", 1, 4),   // a is the best
          run_of("a", 2, 6), run_of("b", 2, 3),  run_of("c", 2, 0),   // b is, c never gets there
          run_of("a", 3, 5), run_of("b", 3, 10), run_of("c", 3, 5)};  // a and c are
}

std::string error_of(const std::vector<proxbench::Run>& runs, const PlotConfig& plot) {
  const TestFolder folder;
  try {
    make_profiles(runs, folder / "figures", plot);
    return "";
  } catch (const Error& error) {
    EXPECT_FALSE(fs::exists(folder / "figures"));
    return error.what();
  }
}

TEST(Profiles, OfThreeSolversOnThreeProblems) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  const auto written = make_profiles(three_by_three(), folder.path(), {.kinds = {"profile"}}, {1e-3});
  EXPECT_THAT(written, ElementsAre(folder / "profile-0.001.png"));
  for (const char* extension : {".svg", ".pdf", ".png", ".gp", ".tsv"})
    EXPECT_GT(fs::file_size(folder / (std::string("profile-0.001") + extension)), 50u);
  // From 1 to the right end of the axis, which is 15 % beyond the largest ratio.
  EXPECT_EQ(read_text(folder / "profile-0.001.tsv"),
            "label\tx\tshare\n"
            "a\t1\t0.6666666666666666\na\t2\t1\na\t4.6\t1\n\n\n"
            "b\t1\t0.3333333333333333\nb\t2\t1\nb\t4.6\t1\n\n\n"
            "c\t1\t0.3333333333333333\nc\t4\t0.6666666666666666\nc\t4.6\t0.6666666666666666\n");
  const std::string script = read_text(folder / "profile-0.001.gp");
  EXPECT_THAT(script, HasSubstr("title 'b' with steps"));
  EXPECT_THAT(script, HasSubstr("has an infinite ratio: 1 of 9."));
  EXPECT_THAT(script, HasSubstr("3 problems"));
}

TEST(Profiles, DistributionsCountAllPairsOfProblemsAndTargets) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  std::vector<proxbench::Run> runs = {run_of("a", 1, 4), run_of("a", 2, 0)};
  make_profiles(runs, folder.path(), {.kinds = {"ecdf"}}, {0.2, 1e-3});
  // All start within 20 % at 0 s. One of two reaches 0.1 %, at 4 s.
  EXPECT_EQ(read_text(folder / "ecdf.tsv"),
            "label\tx\tshare\na\t3.4782608695652177\t0.5\na\t4\t0.75\na\t4.6\t0.75\n");
  EXPECT_THAT(read_text(folder / "ecdf.gp"), HasSubstr("Targets: (f − f*) / f* ≤ 0.2, 0.001."));
  EXPECT_THAT(read_text(folder / "ecdf.gp"), HasSubstr("1 of 3 costs to a target lie between two samples"))
      << "between 0 s and 4 s";
}

TEST(Profiles, OtherMeasuresGoToFiguresOfTheirOwn) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  std::vector<proxbench::Run> runs = three_by_three();
  runs[0].timing.comparable = false;  // passes stay comparable
  EXPECT_THAT(make_profiles(runs, folder.path(), {.kinds = {"profile", "ecdf"}, .x = {"passes"}}, {1e-3}),
              ElementsAre(folder / "profile-0.001-passes.png", folder / "ecdf-passes.png"));
  EXPECT_THAT(read_text(folder / "ecdf-passes.gp"), Not(HasSubstr("NOT COMPARABLE")));
}

TEST(Profiles, RefuseTimingsThatAreNotComparable) {
  std::vector<proxbench::Run> runs = three_by_three();
  runs[4].timing.comparable = false;
  EXPECT_THAT(error_of(runs, {}), HasSubstr("the timings of 1 of 9 runs are not comparable: "
                                            "ocr-lambda2-b-rep1; expected --allow-not-comparable"));
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  make_profiles(runs, folder.path(), {.kinds = {"ecdf"}}, default_targets(), true);
  EXPECT_THAT(read_text(folder / "ecdf.gp"), HasSubstr("set title '{/:Bold NOT COMPARABLE: "));
}

TEST(Profiles, LeaveOutProblemsThatNotAllSolversWereRunOnAndSaySo) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  std::vector<proxbench::Run> runs = three_by_three();
  runs.pop_back();                         // c on the third problem
  runs[2].set_status("crashed(SIGSEGV)");  // c on the first, although it reached the target
  make_profiles(runs, folder.path(), {.kinds = {"profile"}}, {1e-3});
  EXPECT_THAT(read_text(folder / "profile-0.001.tsv"), HasSubstr("c\t1\t0\nc\t2.3\t0\n"));
  const std::string script = read_text(folder / "profile-0.001.gp");
  EXPECT_THAT(script, HasSubstr("2 problems"));
  EXPECT_THAT(script, HasSubstr("1 failed: ocr-lambda1-c-rep1 crashed(SIGSEGV)."));
  EXPECT_THAT(script, HasSubstr("1 left out: e: ocr, lambda = 3, repetition 1 (not run: c)."));
}

TEST(Profiles, SayWhatIsKnownOfTheData) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  std::vector<proxbench::Run> runs = {run_of("a", 1, 1), run_of("a", 2, 2)};
  runs[1].result.description = "synthetic words";
  runs[0].best.kkt_at_zero = 50.0;  // f* to 2 * 1e-9 * 50 / 1 = 1e-7
  make_profiles(runs, folder.path(), {.kinds = {"profile"}}, {1e-3, 1e-8});
  const std::string loose = read_text(folder / "profile-0.001.gp"),
                    tight = read_text(folder / "profile-1e-08.gp");
  EXPECT_THAT(loose, HasSubstr("set title '{/:Bold PARTLY SYNTHETIC DATA: "));
  EXPECT_THAT(loose, Not(HasSubstr("f* is proven")));
  EXPECT_THAT(tight, HasSubstr("f* is proven to a relative accuracy of 1.0e-07 at worst"));
}

TEST(Profiles, KeepMachinesApartInSeconds) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  std::vector<proxbench::Run> runs = three_by_three();
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].provenance.machine = i < 3 ? "fast" : "slow";
  EXPECT_THAT(make_profiles(runs, folder.path(), {.kinds = {"ecdf"}, .x = {"seconds", "passes"}}),
              ElementsAre(folder / "ecdf-fast.png", folder / "ecdf-slow.png", folder / "ecdf-passes.png"));
  EXPECT_THAT(read_text(folder / "ecdf-slow.gp"), HasSubstr("2 problems: (experiment, data set, penalty, "
                                                            "repetition), on slow"));
}

TEST(Profiles, RefuseWhatCannotBeCompared) {
  EXPECT_EQ(error_of({}, {}), "no runs to draw");
  EXPECT_THAT(error_of(three_by_three(), {.x = {"pases"}}),
              HasSubstr("expected one of seconds, passes, updates, iterations"));
  EXPECT_THAT(error_of({run_of("a", 1, 1), run_of("b", 2, 1)}, {}),
              HasSubstr("no problem that all of a, b were run on; left out: e: ocr, lambda = 1, repetition 1 "
                        "(not run: b); e: ocr, lambda = 2, repetition 1 (not run: a)"));
}

}  // namespace
}  // namespace proxbench
