#include "experiments/metrics/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
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

/// Three positions with sets of 4 labels: {0, 2}, none and {1, 2, 3}.
Dataset label_sets() {
  Dataset data;
  data.begin = {0, 1, 2, 3};
  data.gold = {kNoOutput, kNoOutput, kNoOutput};
  data.on.add(std::vector<Index>{0, 2});
  data.on.add(std::vector<Index>{});
  data.on.add(std::vector<Index>{1, 2, 3});
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, {"a", "b", "c", "d"}});
  return data;
}

TEST(Metrics, OfLabelSets) {
  const Dataset data = label_sets();
  const auto of = [&](const char* name, const std::vector<Index>& prediction) {
    return metric_registry().find(name).measure(data, prediction);
  };
  // Predicts {0, 1}, {3} and {1, 2}: 3 of 5 guessed labels are right, and 5 are gold. The wrong labels are 1
  // and 2 at the first position, 3 at the second, and 3 at the third.
  const std::vector<Index> guessed{1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0};
  EXPECT_EQ(of("label-f1", guessed), 6.0 / 10.0);
  EXPECT_EQ(of("accuracy", guessed), 8.0 / 12.0);
  const std::vector<Index> none(12, 0), all(12, 1), gold{1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  EXPECT_EQ(of("label-f1", none), 0.0);
  EXPECT_EQ(of("accuracy", none), 7.0 / 12.0);
  EXPECT_EQ(of("label-f1", all), 10.0 / 17.0);
  EXPECT_EQ(of("accuracy", all), 5.0 / 12.0);
  EXPECT_EQ(of("label-f1", gold), 1.0);
  EXPECT_EQ(of("accuracy", gold), 1.0);
  const MetricInfo& f1 = metric_registry().find("label-f1");
  EXPECT_TRUE(f1.applies(data));
  EXPECT_FALSE(f1.applies(sequences()));
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
  const std::vector<Index> second{no, no, 0, 0, 0, no};  // in the first group, an equal of the gold candidate
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

/// Takes the gold and predicted labels of sequences as texts. A gold label that the vocabulary lacks occurs
/// only in the test set.
double chunks_measured(const char* metric, const std::vector<std::vector<std::string>>& gold,
                       const std::vector<std::vector<std::string>>& predicted) {
  const std::vector<std::string> names = {"O", "B-NP", "I-NP", "B-VP", "I-VP"};
  const auto number = [&](const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? kUnknownOutput : static_cast<Index>(found - names.begin());
  };
  Dataset data;
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, names});
  std::vector<Index> prediction;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    for (std::size_t t = 0; t < gold[i].size(); ++t) {
      if (number(gold[i][t]) == kUnknownOutput && gold[i][t] != "?")
        data.unknown_gold[static_cast<Index>(data.gold.size())] = gold[i][t];
      data.gold.push_back(number(gold[i][t]));
      prediction.push_back(number(predicted[i][t]));
    }
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  const MetricInfo& info = metric_registry().find(metric);
  EXPECT_TRUE(info.applies(data));
  return info.measure(data, prediction);
}

struct ChunkCase {
  const char* name;
  std::vector<std::vector<std::string>> gold, predicted;
  double correct, in_gold, in_prediction;
};

/// Counted by hand by the rules of conlleval.pl.
TEST(Metrics, ChunksAreCountedAsConllevalDoes) {
  const std::vector<ChunkCase> cases = {
      {"IOB2, all right", {{"B-NP", "I-NP", "O", "B-VP"}}, {{"B-NP", "I-NP", "O", "B-VP"}}, 2, 2, 2},
      {"a chunk too long is wrong", {{"B-NP", "I-NP", "O"}}, {{"B-NP", "I-NP", "I-NP"}}, 0, 1, 1},
      {"a chunk too short is wrong", {{"B-NP", "I-NP", "I-NP"}}, {{"B-NP", "I-NP", "O"}}, 0, 1, 1},
      {"IOB1 in gold and IOB2 in the prediction are the same chunks",
       {{"I-NP", "I-NP", "O", "I-VP"}},
       {{"B-NP", "I-NP", "O", "B-VP"}},
       2,
       2,
       2},
      {"IOB1: B parts two chunks of a type", {{"I-NP", "B-NP", "I-NP"}}, {{"I-NP", "I-NP", "I-NP"}}, 0, 2, 1},
      {"I of another type starts a chunk", {{"B-NP", "I-VP"}}, {{"B-NP", "B-VP"}}, 2, 2, 2},
      {"the type counts", {{"B-NP", "I-NP"}}, {{"B-VP", "I-VP"}}, 0, 1, 1},
      {"a type that changes within ends the chunk", {{"B-NP", "I-NP"}}, {{"B-NP", "I-VP"}}, 0, 1, 2},
      {"B after B", {{"B-NP", "B-NP"}}, {{"B-NP", "B-NP"}}, 2, 2, 2},
      {"the end of a sequence ends a chunk",
       {{"B-NP", "I-NP"}, {"I-NP"}, {"O"}},
       {{"B-NP", "I-NP"}, {"I-NP"}, {"B-VP"}},
       2,
       2,
       3},
      {"one wrong among several",
       {{"B-NP", "O", "B-VP", "B-NP", "I-NP"}},
       {{"B-NP", "O", "B-VP", "B-NP", "B-NP"}},
       2,
       3,
       4},
      {"nothing predicted", {{"B-NP", "O"}}, {{"O", "O"}}, 0, 1, 0},
      {"nothing there", {{"O", "O"}}, {{"O", "O"}}, 0, 0, 0},
      {"a label of the test set alone is a chunk of its type", {{"B-NP", "I-LST"}}, {{"B-NP", "O"}}, 1, 2, 1},
      {"and goes on with one", {{"B-LST", "I-LST"}}, {{"O", "O"}}, 0, 1, 0},
      {"a tag that is neither B nor I starts no chunk without a type", {{"O", "X"}}, {{"O", "O"}}, 0, 0, 0},
      {"an unknown label without a name is a chunk that is missed",
       {{"B-NP", "?"}},
       {{"B-NP", "I-NP"}},
       0,
       2,
       1},
  };
  for (const ChunkCase& one : cases) {
    SCOPED_TRACE(one.name);
    const double precision = one.in_prediction > 0 ? one.correct / one.in_prediction : 0.0;
    const double recall = one.in_gold > 0 ? one.correct / one.in_gold : 0.0;
    EXPECT_EQ(chunks_measured("chunk-precision", one.gold, one.predicted), precision);
    EXPECT_EQ(chunks_measured("chunk-recall", one.gold, one.predicted), recall);
    EXPECT_DOUBLE_EQ(chunks_measured("chunk-f1", one.gold, one.predicted),
                     one.correct > 0 ? 2.0 * precision * recall / (precision + recall) : 0.0);
  }
}

TEST(Metrics, ChunksAreOfLabelsThatLookLikeThem) {
  const auto applies = [](std::vector<std::string> labels) {
    Dataset data = sequences();
    data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, std::move(labels)});
    const std::vector<const MetricInfo*> found = metrics_for(data);
    EXPECT_EQ(found.front(), &trace_metric());
    return std::count(found.begin(), found.end(), &metric_registry().find("chunk-f1")) == 1;
  };
  EXPECT_TRUE(applies({"B-NP", "I-NP", "O"}));
  EXPECT_TRUE(applies({"O", "I-PER"})) << "IOB1";
  EXPECT_TRUE(applies({"O", "B", "I"}));
  EXPECT_TRUE(applies({"b-np", "i-np", "o"})) << "in lower case";
  EXPECT_TRUE(applies({"B-NP", "I-NP", "E-NP", "S-NP", "O"}));
  EXPECT_TRUE(applies({"O", "U-PER"}));
  EXPECT_TRUE(applies({"B", "M", "E", "S"})) << "words of Chinese";
  EXPECT_FALSE(applies({"O"}));
  EXPECT_FALSE(applies({"S", "O"}));
  EXPECT_FALSE(applies({"B-NP", "I-NP", "O", "NN"}));
  EXPECT_FALSE(applies({"a", "b", "o"}));
}

}  // namespace
}  // namespace proxbench
