#include "experiments/metrics/metrics.h"

#include <gtest/gtest.h>

#include <vector>

namespace proxbench {
namespace {

/// Three sequences of 2, 1 and 3 positions; one label does not occur in training.
Dataset sequences() {
  Dataset data;
  data.begin = {0, 2, 3, 6};
  data.gold = {0, 1, 1, kUnknownOutput, 0, 2};
  return data;
}

double measured(const char* name, const std::vector<Index>& prediction) {
  return metric_registry().find(name).measure(sequences(), prediction);
}

TEST(Metrics, AccuracyCountsPositions) {
  EXPECT_EQ(measured("accuracy", {0, 1, 1, 0, 0, 2}), 5.0 / 6.0) << "the unknown output is a miss";
  EXPECT_EQ(measured("accuracy", {1, 1, 0, 2, 2, 2}), 2.0 / 6.0);
  EXPECT_EQ(&trace_metric(), &metric_registry().find("accuracy"));
}

TEST(Metrics, StructureAccuracyCountsInstances) {
  EXPECT_EQ(measured("structure-accuracy", {0, 1, 1, 0, 0, 2}), 2.0 / 3.0) << "the unknown output is a miss";
  EXPECT_EQ(measured("structure-accuracy", {0, 0, 1, 0, 0, 2}), 1.0 / 3.0);
  EXPECT_EQ(measured("structure-accuracy", {0, 0, 0, 0, 0, 0}), 0.0);
}

/// Groups of 3, 1 and 2 candidates; two of the first have the highest quality.
Dataset groups() {
  Dataset data;
  data.begin = {0, 3, 4, 6};
  data.gold = {kNoOutput, 0, kNoOutput, 0, kNoOutput, 0};
  data.counts = {{1, 4, 4}, {2, 4, 2}, {2, 4, 2}, {1, 1, 3}, {0, 3, 2}, {3, 3, 3}};
  for (const MatchCounts& c : data.counts) data.quality.push_back(f1_of(c.correct, c.gold, c.guessed));
  return data;
}

TEST(Metrics, OfCandidatesChosen) {
  const Dataset data = groups();
  const auto of = [&](const char* name, const std::vector<Index>& prediction) {
    return metric_registry().find(name).measure(data, prediction);
  };
  const Index no = kNoOutput;
  const std::vector<Index> second{no, no, 0, 0, 0, no};  // of the first group an equal of the gold one
  EXPECT_EQ(of("accuracy", second), 1.0 / 3);
  EXPECT_EQ(of("ranking-accuracy", second), 2.0 / 3);
  EXPECT_DOUBLE_EQ(of("mean-quality", second), (4.0 / 6 + 2.0 / 4 + 0.0) / 3);
  EXPECT_EQ(of("ranking-f1", second), 2.0 * (2 + 1 + 0) / ((4 + 1 + 3) + (2 + 3 + 2)));
  EXPECT_EQ(of("oracle-f1", second), 2.0 * (2 + 1 + 3) / ((4 + 1 + 3) + (2 + 3 + 3)));
  EXPECT_EQ(of("ranking-f1", data.gold), of("oracle-f1", second));
  EXPECT_EQ(of("accuracy", data.gold), 1.0);
}

TEST(Metrics, ThoseOfCandidatesApplyToThemAlone) {
  Dataset data = groups();
  const auto applies = [&](const char* name) { return metric_registry().find(name).applies(data); };
  EXPECT_FALSE(applies("structure-accuracy")) << "accuracy says the same";
  for (const char* name : {"ranking-accuracy", "mean-quality", "ranking-f1", "oracle-f1"})
    EXPECT_TRUE(applies(name));
  data.counts.clear();
  for (const char* name : {"ranking-f1", "oracle-f1"}) EXPECT_FALSE(applies(name));
  data = sequences();
  for (const char* name : {"ranking-accuracy", "mean-quality"}) EXPECT_FALSE(applies(name));
}

TEST(Metrics, SayWhatTheyApplyTo) {
  const MetricInfo& structures = metric_registry().find("structure-accuracy");
  Dataset documents = sequences();
  EXPECT_TRUE(structures.applies(documents));
  documents.begin = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(structures.applies(documents));
  EXPECT_EQ(metric_registry().find("accuracy").applies, nullptr);
}

}  // namespace
}  // namespace proxbench
