#include "experiments/results/scaling_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// ---- arithmetic

TEST(SerialFraction, IsAmdahlsWhereTimesAre) {
  std::vector<ScalingPoint> points;
  for (const int p : {1, 2, 4, 8}) points.push_back({p, 10.0 * (0.2 + 0.8 / p)});
  EXPECT_NEAR(serial_fraction(points), 0.2, 1e-12);
}

TEST(SerialFraction, IsZeroForIdealOneForNoneAndLessForMore) {
  EXPECT_NEAR(serial_fraction({{1, 8.0}, {4, 2.0}}), 0.0, 1e-12);
  EXPECT_NEAR(serial_fraction({{1, 8.0}, {4, 8.0}}), 1.0, 1e-12);
  EXPECT_LT(serial_fraction({{1, 8.0}, {4, 1.9}}), 0.0);
}

TEST(SerialFraction, NeedsOneThreadAndMore) {
  EXPECT_TRUE(std::isnan(serial_fraction({{1, 8.0}})));
  EXPECT_TRUE(std::isnan(serial_fraction({{2, 8.0}, {4, 4.0}})));
}

TEST(LargestShare, FollowsTheChunks) {
  EXPECT_DOUBLE_EQ(largest_share({{8, 5}}, 1), 1.0);
  EXPECT_DOUBLE_EQ(largest_share({{8, 5}}, 2), 0.5);
  EXPECT_DOUBLE_EQ(largest_share({{8, 5}}, 3), 3.0 / 8.0) << "one thread does three of eight";
  EXPECT_DOUBLE_EQ(largest_share({{8, 5}}, 128), 1.0 / 8.0) << "more threads than chunks";
  EXPECT_DOUBLE_EQ(largest_share({{8, 1}, {2, 2}}, 4), (2.0 + 2.0) / 12.0);
  EXPECT_EQ(largest_share({}, 4), 0.0);
}

TEST(Machine, BandwidthIsAsMeasuredOrThatOfTheSockets) {
  const std::vector<TeamSpeed> speeds{{1, 10e9, {}}, {2, 18e9, {}}};
  const MachineModel machine{.threads = {}, .socket_cores = 4, .socket_bandwidth = 30e9};
  EXPECT_EQ(bandwidth_of(speeds, machine, 2), 18e9);
  EXPECT_EQ(bandwidth_of(speeds, machine, 3), 30e9);
  EXPECT_EQ(bandwidth_of(speeds, machine, 4), 30e9);
  EXPECT_EQ(bandwidth_of(speeds, machine, 5), 50e9) << "a second socket";
  EXPECT_TRUE(std::isnan(bandwidth_of({}, machine, 2)));
}

TEST(Machine, ALoopCostsMoreTheMoreThreadsMeet) {
  const std::vector<TeamSpeed> speeds{
      {1, 1.0, {{"tbb", 1e-9}}}, {2, 1.0, {{"tbb", 1e-6}}}, {3, 1.0, {{"tbb", 2e-6}}}};
  EXPECT_NEAR(loop_cost(speeds, "tbb", 65), 64e-6, 1e-12);
  EXPECT_TRUE(std::isnan(loop_cost(speeds, "openmp", 2)));
}

// ---- made-up runs

PhaseCost phase(const char* name, std::int64_t calls, double seconds, double loop_seconds,
                double bytes = 0.0) {
  return {name, calls, seconds, loop_seconds, 2e9, bytes, {{16, calls}}};
}

/// Loops of 0.8 s that scale, 0.2 s that do not; the third repetition is a slow one.
Scaling made_up() {
  Scaling out;
  out.name = "made-up";
  out.title = "Made up";
  out.threads = {1, 4};
  out.backends = {"openmp"};
  out.cpus = 4;
  out.speeds = {{1, 10e9, {{"openmp", 0.0}}}, {4, 20e9, {{"openmp", 3e-6}}}};
  ScalingProblem problem;
  problem.dataset = "d";
  problem.description = "made up";
  problem.label = "a";
  problem.lambda = 0.5;
  problem.weights = "00";
  for (const int repetition : {1, 2, 3})
    for (const int threads : out.threads) {
      const double slow = repetition == 3 ? 10.0 : 1.0, loops = 0.8 / threads;
      ScalingRun run;
      run.backend = "openmp";
      run.threads = threads;
      run.repetition = repetition;
      run.phases = {phase("scores", 10, slow * loops, slow * loops, 4e9), phase("inference", 0, 0.0, 0.0),
                    phase("solver", 0, slow * 0.2, 0.0)};
      for (const PhaseCost& one : run.phases) run.seconds += one.seconds;
      problem.runs.push_back(run);
    }
  out.problems = {problem};
  return out;
}

TEST(PhaseScalings, AreOfMediansAndBeginWithTheTotal) {
  const Scaling scaling = made_up();
  const std::vector<PhaseScaling> rows = phase_scalings(scaling, {});
  ASSERT_EQ(rows.size(), 3u) << "what was never called has no row";
  EXPECT_EQ(rows[0].phase, kTotal);
  EXPECT_DOUBLE_EQ(rows[0].seconds[0].median, 1.0);
  EXPECT_DOUBLE_EQ(rows[0].speedup[1], 2.5);
  EXPECT_NEAR(rows[0].serial_fraction, 0.2, 1e-12);
  EXPECT_NEAR(rows[0].outside_loops, 0.2, 1e-12);
  EXPECT_EQ(rows[1].phase, "scores");
  EXPECT_THAT(rows[1].efficiency, ElementsAre(1.0, DoubleNear(1.0, 1e-12)));
  EXPECT_EQ(rows[1].chunks_per_loop, 16.0);
  EXPECT_EQ(rows[2].phase, "solver");
  EXPECT_DOUBLE_EQ(rows[2].speedup[1], 1.0);
}

TEST(PhaseScalings, PredictByChunksMemoryAndLoops) {
  const Scaling scaling = made_up();
  const MachineModel machine{.threads = {64}, .socket_cores = 64, .socket_bandwidth = 40e9};
  const std::vector<PhaseScaling> rows = phase_scalings(scaling, machine);
  const std::vector<ScalingPoint>& scores = rows[1].predicted;
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_DOUBLE_EQ(scores[0].seconds, 0.8);
  EXPECT_DOUBLE_EQ(scores[1].seconds, 0.2 + 10 * 3e-6) << "bytes take as long: 4e9 / 20e9";
  EXPECT_DOUBLE_EQ(scores[2].seconds, 4e9 / 40e9 + 10 * 63e-6) << "16 chunks allow 0.05, memory does not";
  EXPECT_DOUBLE_EQ(rows[2].predicted[2].seconds, 0.2) << "the solver's are outside loops";
  EXPECT_DOUBLE_EQ(rows[0].predicted[2].seconds, scores[2].seconds + 0.2);
}

TEST(ScalingTables, ShowWhatWasMeasuredAndWhatIsPredicted) {
  Scaling scaling = made_up();
  const auto text = [&] {
    return markdown_document(scaling.title, scaling_tables(scaling, {}, phase_scalings(scaling, {})));
  };
  EXPECT_THAT(text(),
              AllOf(HasSubstr("| openmp | total | 10 | 1 | - | - | 20.0 % | 2.50 | 62.5 % | 20.0 % |"),
                    HasSubstr("| openmp | scores | 10 | 0.8 | 5.00 | 2.50 | 0.0 % | 4.00 | 100.0 % |"),
                    HasSubstr("Medians over 3 repetitions"), Not(HasSubstr("Oversubscribed"))));
  scaling.cpus = 2;
  EXPECT_THAT(text(), HasSubstr("Oversubscribed: more than 2 threads shared 2 CPUs"));
}

TEST(ScalingFiles, AreReadBack) {
  const TestFolder folder;
  const Scaling scaling = made_up();
  const std::vector<PhaseScaling> rows = phase_scalings(scaling, {});
  write_json(folder / "scale.json", scaling_report(scaling, {}, rows));
  const Scaling again = read_scaling(folder / "scale.json");
  EXPECT_EQ(scaling_to_json(again), scaling_to_json(scaling));
  folder.write("bad.json", R"({"experiment": "e"})");
  EXPECT_THROW(read_scaling(folder / "bad.json"), Error);
}

TEST(ScalingFiles, TheCsvHasALineForEachNumberOfThreads) {
  const Scaling scaling = made_up();
  const std::string csv = scaling_csv(phase_scalings(scaling, {}));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * (2 + 3));
  EXPECT_THAT(csv, AllOf(HasSubstr("\nd,0.5,a,openmp,total,4,3,0.4,"),
                         HasSubstr("\nd,0.5,a,openmp,solver,64,0,,,,,,0.2,")));
}

}  // namespace
}  // namespace proxbench
