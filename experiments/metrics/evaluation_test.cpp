#include "experiments/metrics/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/base/error.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// Makes sequences, each ended by "". `names` are the labels.
Dataset data_of(const std::vector<std::string>& gold, const std::vector<std::string>& names) {
  Dataset data;
  data.vocabulary = std::make_shared<Vocabulary>(Vocabulary{{}, names});
  for (const std::string& label : gold) {
    const auto at = std::ranges::find(names, label);
    if (label.empty()) {
      data.begin.push_back(static_cast<Index>(data.gold.size()));
    } else if (at == names.end()) {
      data.unknown_gold[static_cast<Index>(data.gold.size())] = label;
      data.gold.push_back(kUnknownOutput);
    } else {
      data.gold.push_back(static_cast<Index>(at - names.begin()));
    }
  }
  return data;
}

std::vector<Index> numbers(const std::vector<std::string>& labels, const std::vector<std::string>& names) {
  std::vector<Index> out;
  for (const std::string& label : labels)
    if (!label.empty()) out.push_back(static_cast<Index>(std::ranges::find(names, label) - names.begin()));
  return out;
}

TEST(Evaluation, CountsLabelsAndConfusions) {
  const std::vector<std::string> names{"a", "b", "c"};
  const Dataset data = data_of({"a", "a", "b", "new", "a", ""}, names);
  const Evaluation found = evaluate(data, numbers({"a", "b", "b", "b", "a", ""}, names));
  EXPECT_THAT(found.labels, ElementsAre(Pair("a", MatchCounts{2, 3, 2}), Pair("b", MatchCounts{1, 1, 3}),
                                        Pair("new", MatchCounts{0, 1, 0})))
      << "c is neither gold nor predicted";
  EXPECT_THAT(found.confusions, ElementsAre(Pair(Pair("a", "b"), 1), Pair(Pair("new", "b"), 1)));
  EXPECT_TRUE(found.chunks.empty());
  const Quality a = quality_of(found.labels.at("a")), macro = macro_of(found.labels),
                micro = micro_of(found.labels);
  EXPECT_DOUBLE_EQ(a.precision, 1.0);
  EXPECT_DOUBLE_EQ(a.recall, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(a.f1, 0.8);
  EXPECT_DOUBLE_EQ(macro.precision, (1.0 + 1.0 / 3.0 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(macro.recall, (2.0 / 3.0 + 1.0 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(macro.f1, (0.8 + 0.5 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(micro.precision, 0.6);
  EXPECT_DOUBLE_EQ(micro.recall, 0.6) << "both are the accuracy";
}

/// For gold "NP(1-2) VP(3) NP(4) PP(6)" and predicted "NP(1-2) VP(3) NP(4-5) PP(6)", conlleval counts: PP 1
/// of 1, NP 1 of 2 with 2 found, VP 1 of 1. Overall precision and recall are 3/4.
TEST(Evaluation, CountsChunksByTypeAsConllevalDoes) {
  const std::vector<std::string> names{"O", "B-NP", "I-NP", "B-VP", "B-PP"};
  const Dataset data = data_of({"B-NP", "I-NP", "B-VP", "B-NP", "O", "", "B-PP", ""}, names);
  const Evaluation found =
      evaluate(data, numbers({"B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "", "B-PP", ""}, names));
  EXPECT_THAT(found.chunks, ElementsAre(Pair("NP", MatchCounts{1, 2, 2}), Pair("PP", MatchCounts{1, 1, 1}),
                                        Pair("VP", MatchCounts{1, 1, 1})));
  EXPECT_DOUBLE_EQ(micro_of(found.chunks).f1, 0.75);
  EXPECT_DOUBLE_EQ(macro_of(found.chunks).f1, (0.5 + 1.0 + 1.0) / 3.0);
  EXPECT_DOUBLE_EQ(macro_of({}).f1, 0.0);
}

TEST(Evaluation, CountsSetsOfLabelsAndRefusesGroups) {
  Dataset data = data_of({}, {"x", "y"});
  data.gold = {kNoOutput, kNoOutput};
  data.begin = {0, 1, 2};
  data.on.add(std::vector<Index>{0, 1});
  data.on.add(std::vector<Index>{});
  const Evaluation found = evaluate(data, std::vector<Index>{1, 0, 0, 1});
  EXPECT_THAT(found.labels, ElementsAre(Pair("x", MatchCounts{1, 1, 1}), Pair("y", MatchCounts{0, 1, 1})));
  EXPECT_TRUE(found.confusions.empty());
  data.on = {};
  data.quality = {1.0, 0.0};
  EXPECT_THROW(evaluate(data, std::vector<Index>{0, kNoOutput}), Error);
}

}  // namespace
}  // namespace proxbench
