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
