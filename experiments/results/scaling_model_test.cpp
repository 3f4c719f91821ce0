#include "experiments/results/scaling_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/numbers.h"
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
  EXPECT_NEAR(serial_fraction({1, 2, 4, 8}, {10.0, 6.0, 4.0, 3.0}), 0.2, 1e-12);
}

TEST(SerialFraction, IsZeroForIdealOneForNoneAndLessForMore) {
  EXPECT_NEAR(serial_fraction({1, 4}, {8.0, 2.0}), 0.0, 1e-12);
  EXPECT_NEAR(serial_fraction({1, 4}, {8.0, 8.0}), 1.0, 1e-12);
  EXPECT_LT(serial_fraction({1, 4}, {8.0, 1.9}), 0.0);
}

TEST(SerialFraction, NeedsOneThreadAndMore) {
  EXPECT_TRUE(std::isnan(serial_fraction({1}, {8.0})));
  EXPECT_TRUE(std::isnan(serial_fraction({2, 4}, {8.0, 4.0})));
}

PhaseScaling row(const char* phase, double seconds, double loop_seconds, double serial) {
  PhaseScaling out;
  out.phase = phase;
  out.one = {.phase = phase, .seconds = seconds, .loop_seconds = loop_seconds};
  out.serial_fraction = serial;
  return out;
}

TEST(ScalingModel, ThreadsFollowAmdahlsLaw) {
  EXPECT_DOUBLE_EQ(predicted_by_threads(row("scores", 8.0, 8.0, 0.25), 1), 8.0);
  EXPECT_DOUBLE_EQ(predicted_by_threads(row("scores", 8.0, 8.0, 0.25), 4), 2.0 + 6.0 / 4);
  EXPECT_DOUBLE_EQ(predicted_by_threads(row("scores", 8.0, 8.0, -0.1), 4), 2.0) << "no more than ideal";
  EXPECT_DOUBLE_EQ(predicted_by_threads(row("scores", 8.0, 6.0, kNaN), 3), 2.0 + 6.0 / 3)
      << "without a fit, what lies outside of loops";
}

TEST(ScalingModel, ProcessesShareAllButTheSolver) {
  EXPECT_DOUBLE_EQ(predicted_by_processes(row("scores", 8.0, 8.0, kNaN), {}, 8), 1.0);
  EXPECT_DOUBLE_EQ(predicted_by_processes(row("solver", 3.0, 0.0, kNaN), {}, 64), 3.0);
}

TEST(ScalingModel, CountsMessagesByHand) {
  PhaseScaling inference = row("inference", 6.0, 6.0, kNaN);
  inference.one.sums = 5;
  inference.one.sum_bytes = 40000.0;
  const Network network{.latency = 1e-3, .bandwidth = 1e6};
  EXPECT_DOUBLE_EQ(predicted_by_processes(inference, network, 1), 6.0) << "nothing crosses";
  // Three processes: each sum takes 2 messages there and 2 back, and moves two thirds of the bytes twice.
  EXPECT_NEAR(predicted_by_processes(inference, network, 3), 2.0 + 5 * 4e-3 + 2 * 0.04 * 2 / 3, 1e-12);
}

// ---- made-up runs

PhaseCost phase(const char* name, std::int64_t calls, double seconds, double loop_seconds,
                double bytes = 0.0) {
  return {name, calls, seconds, loop_seconds, 2e9, bytes, calls, 8e5 * static_cast<double>(calls)};
}

/// Loops of 0.8 s scale, 0.2 s do not. The third repetition is slow.
Scaling made_up() {
  Scaling out{"Made up", {}};
  for (const int repetition : {1, 2, 3})
    for (const int threads : {1, 4}) {
      const double slow = repetition == 3 ? 10.0 : 1.0, loops = 0.8 / threads;
      proxbench::Run& run = out.runs.emplace_back();
      run.parameters.dataset = "d";
      run.parameters.label = "a";
      run.parameters.lambda = 0.5;
      run.parameters.backend = "openmp";
      run.parameters.threads = threads;
      run.parameters.repetition = repetition;
      run.provenance.cores = 4;
      run.result.description = "made up";
      run.result.phases = {phase("scores", 10, slow * loops, slow * loops, 4e9),
                           phase("inference", 0, 0.0, 0.0), phase("solver", 0, slow * 0.2, 0.0)};
    }
  return out;
}

TEST(PhaseScalings, AreOfMediansAndBeginWithTheTotal) {
  const Scaling scaling = made_up();
  const std::vector<PhaseScaling> rows = scaling_problems(scaling.runs).at(0).rows;
  ASSERT_EQ(rows.size(), 3u) << "what was never called has no row";
  EXPECT_EQ(rows[0].phase, kTotal);
  EXPECT_DOUBLE_EQ(rows[0].seconds[0].median, 1.0);
  EXPECT_DOUBLE_EQ(rows[0].speedup[1], 2.5);
  EXPECT_NEAR(rows[0].serial_fraction, 0.2, 1e-12);
  EXPECT_NEAR(rows[0].outside_loops(), 0.2, 1e-12);
  EXPECT_EQ(rows[1].phase, "scores");
  EXPECT_THAT(rows[1].efficiency, ElementsAre(1.0, DoubleNear(1.0, 1e-12)));
  EXPECT_EQ(rows[2].phase, "solver");
  EXPECT_DOUBLE_EQ(rows[2].speedup[1], 1.0);
}

TEST(ScalingTables, ShowWhatWasMeasuredAndWhatIsPredicted) {
  Scaling scaling = made_up();
  const auto text = [&] {
    return markdown_document(scaling.title,
                             scaling_tables(scaling_problems(scaling.runs), {8}, {.latency = 1e-3}));
  };
  EXPECT_THAT(text(),
              AllOf(HasSubstr("| openmp | total | 10 | 1 | - | - | 20.0 % | 2.50 | 62.5 % | 20.0 % |"),
                    HasSubstr("| openmp | scores | 10 | 0.8 | 5.00 | 2.50 | 0.0 % | 4.00 | 100.0 % |"),
                    HasSubstr("Medians over 3 repetitions"), Not(HasSubstr("Oversubscribed"))));
  // Eight processes: 0.8 s / 8, 10 sums of 6 messages each, and 7/4 times 8 MB. The solver's 0.2 s stay.
  EXPECT_THAT(
      text(),
      AllOf(HasSubstr("| openmp | scores | 10 | 8 | 8.0 |"), HasSubstr("| openmp | total | 10 | 8 | 3.3 |"),
            HasSubstr("| mpi | scores | 10 | 8 | 5.0 |"), HasSubstr("| mpi | total | 10 | 8 | 2.8 |"),
            HasSubstr("A model, no measurement")));
  scaling.runs[0].provenance.cores = 2;
  EXPECT_THAT(text(), HasSubstr("Oversubscribed: more than 2 threads shared 2 CPUs"));
}

TEST(ScalingFiles, AreReadBack) {
  const TestFolder folder;
  const Scaling scaling = made_up();
  write_json(folder / "scale.json", scaling_json(scaling));
  const Scaling again = read_scaling(folder / "scale.json");
  EXPECT_EQ(scaling_json(again), scaling_json(scaling));
  EXPECT_EQ(again.runs[5].result.phases[0].sum_bytes, 8e6);
  for (const char* text : {R"({"experiment": "e"})", R"({"title": "t", "runs": []})",
                           R"({"title": "t", "runs": [{"record_version": 3}]})"}) {
    folder.write("bad.json", text);
    EXPECT_THROW(read_scaling(folder / "bad.json"), Error) << text;
  }
}

TEST(ScalingFiles, TheCsvHasALineForEachNumberOfThreads) {
  const Scaling scaling = made_up();
  const std::string csv = csv_text(scaling_records(scaling_problems(scaling.runs)));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 2);
  EXPECT_THAT(csv, AllOf(HasSubstr("\nd,0.5,a,openmp,total,4,3,0.4,"),
                         HasSubstr("\nd,0.5,a,openmp,scores,1,3,0.8,")));
}

}  // namespace
}  // namespace proxbench
