/// D of marginals given as lists. Lists that are no marginals are refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/certificates/dual_points.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Marginals that a test lists explicitly.
struct Lists final : MarginalPoint {
  std::vector<std::vector<LabelWeight>> label_lists;  ///< one list for each position
  std::vector<std::vector<PairWeight>> pair_lists;

  void labels(Index position, std::vector<LabelWeight>& out) const override { out = label_lists[position]; }
  void pairs(Index position, std::vector<PairWeight>& out) const override { out = pair_lists[position]; }
};

struct Task {
  Dataset data;
  std::unique_ptr<Oracle> oracle;
  Objective objective() const {
    return Objective(data.x, *oracle, {0.0, 1.0}, Parallel(), {Loss::Kind::kHinge, Cost::kHamming});
  }
};

/// Two positions with a feature each and `outputs` labels. They form one chain with gold labels 0 and 1, or
/// two instances with the label sets {0, 2} and {1}.
Task task(bool chain, Index outputs) {
  Task out;
  DesignMatrix::Builder builder;
  for (Index p = 0; p < 2; ++p) {
    builder.add(p, 1.0);
    builder.end_position();
    out.data.gold.push_back(chain ? p : kNoOutput);
    if (!chain) {
      out.data.on.add(p == 0 ? std::vector<Index>{0, 2} : std::vector<Index>{1});
      out.data.begin.push_back(p + 1);
    }
  }
  if (chain) out.data.begin.push_back(2);
  out.data.x = std::move(builder).build(2);
  Vocabulary names;
  names.features = {"a", "b"};
  for (Index k = 0; k < outputs; ++k) names.outputs.push_back("y" + std::to_string(k));
  out.data.vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  out.oracle = oracle_registry().find(chain ? "chain" : "labels").make(out.data);
  return out;
}

std::string refusal(const Task& at, const Lists& lists) {
  try {
    lists.value(at.objective());
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

Lists chain_lists() {
  Lists out;
  out.label_lists = {{{1, 0.25}, {0, 0.75}}, {{0, 0.5}, {2, 0.5}}};
  out.pair_lists = {{{0, 0, 0.5}, {0, 2, 0.25}, {1, 2, 0.25}}, {}};
  return out;
}

TEST(DualMarginals, OfAChainHaveTheValueOfTheirDistribution) {
  // Costs by hand: position 0 is wrong with weight 1/4, position 1 (gold 1) with weight 1. g: position 0
  // (-1/4, 1/4, 0), position 1 (1/2, -1, 1/2), pairs (0,0) 1/2, (0,2) 1/4, (1,2) 1/4 and gold (0,1) -1.
  const double squares = 2 * 0.0625 + 0.25 + 1.0 + 0.25 + 0.25 + 2 * 0.0625 + 1.0;
  const Task at = task(true, 3);
  EXPECT_NEAR(chain_lists().value(at.objective()), 1.25 - squares / 2.0, 1e-12);
  EXPECT_LE(chain_lists().value(at.objective()), 1.25 - squares / 2.0) << "rounding is taken off";
}

TEST(DualMarginals, OfAChainAreAuditedBehindAPairOfAnUnlistedLabel) {
  const Task at = task(true, 3);
  // Label 1 of position 1 is not listed. A pair with it may have a weight as small as rounding leaves it ...
  Lists rounding = chain_lists();
  rounding.pair_lists[0].insert(rounding.pair_lists[0].begin(), {0, 1, 1e-12});
  EXPECT_EQ(refusal(at, rounding), "accepted");
  // ... but all pairs listed after it must still agree, at both ends.
  for (const std::size_t end : {0, 1}) {
    Lists wrong = rounding;
    wrong.pair_lists[0][1].weight -= 0.125;
    wrong.pair_lists[0].push_back(end == 0 ? PairWeight{1, 0, 0.125} : PairWeight{0, 2, 0.125});
    EXPECT_THAT(refusal(at, wrong),
                AllOf(HasSubstr("position 0: the dual point has pairs whose sum for label"),
                      HasSubstr("at position " + std::to_string(end) + " is off by"), HasSubstr("0.125")));
  }
  // Many small weights on an unlisted label add up to a large one.
  Lists many = chain_lists();
  for (int i = 0; i < 1000; ++i) many.pair_lists[0].push_back({0, 1, 1e-10});
  many.pair_lists[0][0].weight -= 1e-7;
  EXPECT_THAT(refusal(at, many), AllOf(HasSubstr("at position 1 is off by"), HasSubstr("1e-07")));
}

TEST(DualMarginals, OfAChainAreRefusedWithThePositionAndWhatWasFound) {
  const Task at = task(true, 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [&](const std::function<void(Lists&)>& change) {
    Lists lists = chain_lists();
    change(lists);
    return refusal(at, lists);
  };
  EXPECT_THAT(with([](Lists& l) { l.label_lists[0][0].weight += 3e-9; }),
              HasSubstr("position 0: the dual point has weights that sum to 1 + 3e-09"));
  EXPECT_THAT(with([](Lists& l) {
                l.label_lists[0][0] = {3, 0.25};
              }),
              HasSubstr("position 0: the dual point has weight 0.25 on label 3 of 3"));
  EXPECT_THAT(with([](Lists& l) {
                l.label_lists[0] = {{0, 1.0}, {1, -1e-30}};
              }),
              HasSubstr("position 0: the dual point has weight -1e-30 on label 1"));
  EXPECT_THAT(with([&](Lists& l) { l.label_lists[0][0].weight = nan; }), HasSubstr("position 0"));
  EXPECT_THAT(with([](Lists& l) { l.pair_lists[0][0].right = 7; }),
              HasSubstr("on the pair 0, 7 of 3 labels"));
  EXPECT_THAT(with([](Lists& l) {
                l.pair_lists[0].push_back({2, 0, -1e-30});
              }),
              HasSubstr("weight -1e-30 on the pair 2, 0"));
  EXPECT_THAT(with([&](Lists& l) { l.pair_lists[0][2].weight = nan; }), HasSubstr("position 0"));
}

Lists set_lists() {
  Lists out;
  out.label_lists = {{{0, 0.75}, {2, 0.5}, {3, 0.5}}, {{1, 1.0}}};
  out.pair_lists = {{{2, 3, 0.125}, {0, 2, 0.25}, {0, 3, 0.5}}, {}};
  return out;
}

TEST(DualMarginals, OfLabelSetsHaveTheValueOfTheRelaxation) {
  // Instance 0 has gold {0, 2} and costs 1/4 + 1/2 + 1/2. Instance 1 has all weight on gold. g: (-1/4, 0,
  // -1/2, 1/2), pairs (0,2) 1/4 - 1, (0,3) 1/2, (2,3) 1/8. The pairs come in any order.
  const double squares = 0.0625 + 0.25 + 0.25 + 0.5625 + 0.25 + 0.015625;
  const Task at = task(false, 4);
  EXPECT_NEAR(set_lists().value(at.objective()), 1.25 - squares / 2.0, 1e-12);
  EXPECT_LE(set_lists().value(at.objective()), 1.25 - squares / 2.0);
}

TEST(DualMarginals, OfLabelSetsAreRefusedWithThePositionAndWhatWasFound) {
  const Task at = task(false, 4);
  const auto with = [&](const std::function<void(Lists&)>& change) {
    Lists lists = set_lists();
    change(lists);
    return refusal(at, lists);
  };
  EXPECT_THAT(
      with([](Lists& l) { std::swap(l.label_lists[0][0], l.label_lists[0][1]); }),
      HasSubstr("position 0: the dual point has weight 0.75 on label 0 after weight 0.5 on label 2, where "
                "labels must ascend"));
  EXPECT_THAT(with([](Lists& l) {
                l.label_lists[1].push_back({1, 1.0});
              }),
              HasSubstr("position 1: the dual point has weight 1 on label 1 after weight 1 on label 1"));
  EXPECT_THAT(with([](Lists& l) { l.label_lists[1][0].label = 4; }), HasSubstr("weight 1 on label 4 of 4"));
  EXPECT_THAT(with([](Lists& l) { l.label_lists[1][0].weight = 1.0 + 2e-9; }), HasSubstr("which is above 1"));
  EXPECT_THAT(with([](Lists& l) {
                l.pair_lists[0][0] = {3, 2, 0.125};
              }),
              HasSubstr("weight 0.125 on the pair 3, 2, where the left label must be the smaller"));
  EXPECT_THAT(with([](Lists& l) {
                l.pair_lists[0].push_back({3, 3, 0.125});
              }),
              HasSubstr("on the pair 3, 3, where the left label must be the smaller"));
  EXPECT_THAT(with([](Lists& l) {
                l.pair_lists[0].push_back({0, 2, 0.0});
              }),
              AllOf(HasSubstr("weight 0.25 on the pair 0, 2"), HasSubstr("where each must stand once")));
  EXPECT_THAT(with([](Lists& l) {
                l.pair_lists[0].push_back({1, 3, 0.125});
              }),
              HasSubstr("weight 0.125 on the pair 1, 3, one of which has no weight"));
  EXPECT_THAT(
      with([](Lists& l) { l.pair_lists[0][0].weight = 0.5 + 2e-9; }),
      HasSubstr("weight 0.5 on the pair 2, 3 beside weight 0.5 on label 2 and weight 0.5 on label 3"));
  EXPECT_THAT(with([](Lists& l) { l.pair_lists[0].pop_back(); }),
              HasSubstr("weight 0 on the pair 0, 3 beside weight 0.75 on label 0 and weight 0.5 on label 3"));
}

}  // namespace
}  // namespace proxbench
