#include "core/base/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/objective.h"
#include "oracles/chain/chain.h"

namespace proxbench {
namespace {

constexpr Index kPositions = 1000, kFeatures = 5, kLabels = 3;

/// A chain with one sequence for every ten positions. Feature j is on at every (j + 1)-th position.
Dataset small_data() {
  Dataset data;
  DesignMatrix::Builder builder;
  Random random(1);
  for (Index p = 0; p < kPositions; ++p) {
    for (Index j = 0; j < kFeatures; ++j)
      if (p % (j + 1) == 0) builder.add(j, 1.0);
    builder.end_position();
    data.gold.push_back(static_cast<Index>(random.below(kLabels)));
    if ((p + 1) % 10 == 0) data.begin.push_back(p + 1);
  }
  data.x = std::move(builder).build(kFeatures);
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs.resize(kLabels);
  vocabulary->features.resize(kFeatures);
  data.vocabulary = vocabulary;
  return data;
}

class PhaseProfiles : public testing::TestWithParam<Backend> {
 protected:
  PhaseProfiles() : objective_(data_.x, oracle_, Penalty{1.0, 0.0}, Parallel(2, GetParam())) {}

  /// Makes one call of each kind.
  void work() {
    Scores scores = objective_.make_scores(), direction = objective_.make_scores();
    Residual residual = objective_.make_residual();
    SparseVector w;
    w.push_back(0, 0.5);  // on at all positions
    w.push_back(4, 0.5);  // feature 1, which is on at every second position
    w.push_back(objective_.unary_weights(), 0.5);
    objective_.scores(w, scores);
    objective_.scores(w, direction);
    objective_.map().advance(scores, 0.5, direction);
    loss_ = objective_.infer({scores, &direction, 0.1}, &residual);
    const Index first_two[] = {0, 1};
    Scores few(kLabels, 20, oracle_.extra_weights());
    objective_.infer_some(first_two, {few}, nullptr);
    std::vector<double> out(w.nnz());
    objective_.partial_gradient(residual, w.index, w.value, out);
    Objective::Selection selection;
    objective_.select_gradient(residual, w, 0.0, selection);
  }

  Dataset data_ = small_data();
  ChainOracle oracle_{data_};
  Objective objective_;
  double loss_ = 0.0;
};

TEST_P(PhaseProfiles, CountCallsAndWorkByDefinition) {
  Profile profile;
  objective_.time_phases(&profile);
  work();
  const double nonzeros = 1000 + 500 + 334 + 250 + 200;
  const PhaseProfile& scores = profile.of(Phase::kScores);
  EXPECT_EQ(scores.calls, 3);
  EXPECT_EQ(scores.work.flops, 2 * (2 * 1500) + 2 * 3 * 1000);
  EXPECT_EQ(scores.work.bytes, 2 * (18 * 1500) + 24 * 3 * 1000);
  const PhaseProfile& inference = profile.of(Phase::kInference);
  EXPECT_EQ(inference.calls, 2);
  EXPECT_DOUBLE_EQ(inference.work.flops, 6 * 9 * 1000 + 2 * 9 * 20);
  EXPECT_EQ(inference.work.bytes, 8 * (3 * 3 * 1000 + 3 * 20));
  const PhaseProfile& partial = profile.of(Phase::kPartialGradient);
  EXPECT_EQ(partial.calls, 1);
  EXPECT_EQ(partial.work.flops, 2 * 1500);
  EXPECT_EQ(partial.work.bytes, 10 * 1500);
  const PhaseProfile& full = profile.of(Phase::kFullGradient);
  EXPECT_EQ(full.calls, 1);
  EXPECT_EQ(full.work.flops, 3 * nonzeros);
  EXPECT_EQ(full.work.bytes, nonzeros * (2 + 8 * 3));
  EXPECT_EQ(profile.of(Phase::kSolver).calls, 0);
}

TEST_P(PhaseProfiles, LoopsBelongToThePhaseAtHand) {
  Profile profile;
  objective_.time_phases(&profile);
  work();
  objective_.parallel().for_each(1, [](std::size_t) {});  // one chunk is no loop
  EXPECT_EQ(profile.of(Phase::kSolver).loop_seconds, 0.0);
  objective_.parallel().for_each(7, [](std::size_t) {});
  EXPECT_GT(profile.of(Phase::kSolver).loop_seconds, 0.0);
  EXPECT_GT(profile.of(Phase::kScores).loop_seconds, 0.0);
  for (const Phase phase : {Phase::kScores, Phase::kInference, Phase::kPartialGradient, Phase::kFullGradient})
    EXPECT_LE(profile.of(phase).loop_seconds, profile.of(phase).seconds) << phase_name(phase);
}

TEST_P(PhaseProfiles, PhasesSumUpToNoMoreThanTheTimeThatPassed) {
  Profile profile;
  const double begin = profile_clock();
  objective_.time_phases(&profile);
  work();
  EXPECT_GT(profile.accounted_seconds(), 0.0);
  EXPECT_LE(profile.accounted_seconds(), profile_clock() - begin);
}

TEST_P(PhaseProfiles, ChangeNoResultAndEndWhenTakenAway) {
  work();
  const double plain = loss_;
  Profile profile;
  objective_.time_phases(&profile);
  work();
  EXPECT_EQ(loss_, plain);
  objective_.time_phases(nullptr);
  const double before = profile.accounted_seconds();
  work();
  EXPECT_EQ(profile.accounted_seconds(), before);
}

INSTANTIATE_TEST_SUITE_P(Backends, PhaseProfiles, testing::Values(Backend::kOpenMP, Backend::kTBB));

TEST(PhaseTimers, InsideAnotherPhaseTheTimeIsTheOuterOnes) {
  Profile profile;
  {
    const PhaseTimer outer(&profile, Phase::kScores, [] { return Work{1.0, 2.0}; });
    const PhaseTimer inner(&profile, Phase::kInference, [] { return Work{100.0, 100.0}; });
  }
  EXPECT_EQ(profile.of(Phase::kInference).calls, 0);
  EXPECT_EQ(profile.of(Phase::kScores).work.bytes, 2.0);
  EXPECT_EQ(profile.current, Phase::kSolver);
}

}  // namespace
}  // namespace proxbench
