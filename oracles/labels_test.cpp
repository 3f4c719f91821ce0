/// Compares the labels oracle with enumeration over label sets, and with all half-integral points.

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.h"
#include "core/base/test_process_team.h"
#include "core/data/sharing.h"
#include "core/linear_map.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

constexpr Index kLabels = 4;

Dataset random_data(Index instances, Random& random) {
  Dataset data;
  DesignMatrix::Builder builder;
  for (Index i = 0; i < instances; ++i) {
    builder.add(0, 1.0);
    builder.end_position();
    std::vector<Index> on;
    for (Index k = 0; k < kLabels; ++k)
      if (random.uniform() < 0.4) on.push_back(k);
    data.on.add(on);
    data.gold.push_back(kNoOutput);
    data.begin.push_back(i + 1);
  }
  data.x = std::move(builder).build(1);
  data.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"bias"}, {"a", "b", "c", "d"}});
  return data;
}

Scores random_scores(const Oracle& oracle, double pair_scale, Random& random) {
  Scores out(kLabels, oracle.positions(), oracle.extra_weights());
  for (Index k = 0; k < kLabels; ++k)
    for (std::size_t p = 0; p < oracle.positions(); ++p) out.column(k)[p] = random.normal();
  for (double& v : out.extra) v = pair_scale * random.normal();
  return out;
}

/// The score of relaxed label values x, and the cost of x against the gold labels.
struct Point {
  double score, cost;
};
Point at(const Scores& scores, std::size_t p, std::span<const Index> gold, const std::vector<double>& x) {
  Point out{0.0, static_cast<double>(gold.size())};
  for (Index a = 0, e = 0; a < kLabels; ++a) {
    out.score += scores.column(a)[p] * x[a];
    out.cost += std::ranges::count(gold, a) > 0 ? -x[a] : x[a];
    for (Index b = a + 1; b < kLabels; ++b, ++e)
      out.score +=
          scores.extra[e] * (scores.extra[e] > 0.0 ? std::min(x[a], x[b]) : std::max(0.0, x[a] + x[b] - 1.0));
  }
  return out;
}

template <class Visit>
void for_all(int steps, const Visit& visit) {
  std::vector<double> x(kLabels);
  const int values = steps + 1;
  for (int code = 0; code < std::pow(values, kLabels); ++code) {
    int rest = code;
    for (double& one : x) {
      one = static_cast<double>(rest % values) / steps;
      rest /= values;
    }
    visit(x);
  }
}

TEST(Labels, LossIsThatOfTheRelaxation) {
  Random random(1);
  const Dataset data = random_data(200, random);
  const auto oracle = oracle_registry().find("labels").make(data);
  for (const double scale : {0.0, 0.5, 3.0})
    for (const Cost cost : {Cost::kHamming, Cost::kHammingMean}) {
      Scores scores = random_scores(*oracle, scale, random);
      if (scale == 3.0)  // repelling labels form cycles of odd length
        for (double& v : scores.extra) v = -std::abs(v);
      const double unit = cost == Cost::kHammingMean ? 0.25 : 1.0;
      double relaxed = 0.0, exact = 0.0;
      for (std::size_t p = 0; p < oracle->positions(); ++p) {
        const auto gold = oracle->gold_outputs(static_cast<Index>(p));
        std::vector<double> gold_x(kLabels, 0.0);
        for (const Index k : gold) gold_x[k] = 1.0;
        const Point at_gold = at(scores, p, gold, gold_x);
        EXPECT_EQ(at_gold.cost, 0.0);
        for (const auto& [steps, sum] : {std::pair(2, &relaxed), std::pair(1, &exact)}) {
          double best = 0.0;
          for_all(steps, [&](const std::vector<double>& x) {
            const Point here = at(scores, p, gold, x);
            best = std::max(best, here.score + unit * here.cost - at_gold.score);
          });
          *sum += best;
        }
      }
      Residual residual(kLabels, oracle->positions(), oracle->extra_weights());
      const LossAndCost found = oracle->relaxation()->maximise({scores}, cost, &residual, Parallel());
      EXPECT_NEAR(found.loss, relaxed, 1e-9 * relaxed);
      EXPECT_GE(found.loss, exact - 1e-9);
      if (scale == 3.0) {
        EXPECT_GT(found.loss, exact + 1e-3) << "some instances are fractional";
      }
      // The residual is a subgradient, and the loss is a linear function plus the cost.
      double inner = found.cost;
      for (Index k = 0; k < kLabels; ++k)
        for (std::size_t p = 0; p < oracle->positions(); ++p)
          inner += residual.column(k)[p] * scores.column(k)[p];
      for (std::size_t e = 0; e < residual.extra.size(); ++e) inner += residual.extra[e] * scores.extra[e];
      EXPECT_NEAR(inner, found.loss, 1e-9 * relaxed);
      const Scores other = random_scores(*oracle, scale, random);
      double bound = found.cost;
      for (Index k = 0; k < kLabels; ++k)
        for (std::size_t p = 0; p < oracle->positions(); ++p)
          bound += residual.column(k)[p] * other.column(k)[p];
      for (std::size_t e = 0; e < residual.extra.size(); ++e) bound += residual.extra[e] * other.extra[e];
      EXPECT_LE(bound, oracle->relaxation()->maximise({other}, cost, nullptr, Parallel()).loss + 1e-9);
    }
}

TEST(Labels, GivesTheSameBitsOnAnyNumberOfThreads) {
  Random random(2);
  const Dataset data = random_data(1000, random);
  const auto oracle = oracle_registry().find("labels").make(data);
  const Scores scores = random_scores(*oracle, 2.0, random);
  Residual one(kLabels, oracle->positions(), oracle->extra_weights()), three = one;
  EXPECT_EQ(oracle->relaxation()->maximise({scores}, Cost::kHamming, &one, Parallel(1)).loss,
            oracle->relaxation()->maximise({scores}, Cost::kHamming, &three, Parallel(3)).loss);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.extra, three.extra);
}

TEST(Labels, PredictsTheBestSetWhereTheRelaxationIsIntegral) {
  Random random(3);
  const Dataset data = random_data(300, random);
  const auto oracle = oracle_registry().find("labels").make(data);
  for (const double scale : {0.0, 0.5, 3.0}) {
    const Scores scores = random_scores(*oracle, scale, random);
    std::vector<Index> outputs(data.prediction_size());
    oracle->decode(scores, Decoding::kStructure, outputs, Parallel());
    int same = 0;
    for (std::size_t p = 0; p < oracle->positions(); ++p) {
      double best = 0.0, relaxed = 0.0;
      for_all(1, [&](const std::vector<double>& x) { best = std::max(best, at(scores, p, {}, x).score); });
      for_all(2,
              [&](const std::vector<double>& x) { relaxed = std::max(relaxed, at(scores, p, {}, x).score); });
      std::vector<double> x(kLabels);
      for (Index k = 0; k < kLabels; ++k) x[k] = outputs[p * kLabels + k];
      const double found = at(scores, p, {}, x).score;
      EXPECT_LE(found, best + 1e-12);
      if (relaxed <= best + 1e-12) {
        EXPECT_NEAR(found, best, 1e-9);
        ++same;
      }
    }
    EXPECT_GT(same, 150);
  }
}

TEST(Labels, CountsGoldPairsAndNamesThem) {
  Random random(4);
  const Dataset data = random_data(50, random);
  const OracleInfo& info = oracle_registry().find("labels");
  const auto oracle = info.make(data);
  ASSERT_EQ(oracle->extra_weights(), 6u);
  const std::vector<double> gold = oracle->gold_extra(Parallel());
  const std::vector<std::vector<std::string>> pairs{{"a", "b"}, {"a", "c"}, {"a", "d"},
                                                    {"b", "c"}, {"b", "d"}, {"c", "d"}};
  for (std::size_t e = 0; e < pairs.size(); ++e) {
    EXPECT_EQ(info.extra.names(e, data), pairs[e]);
    double count = 0.0;
    for (std::size_t p = 0; p < data.positions(); ++p) {
      const auto on = [&](const std::string& name) {
        return std::ranges::count(data.on.at(p), static_cast<Index>(name[0] - 'a')) > 0;
      };
      count += on(pairs[e][0]) && on(pairs[e][1]) ? 1.0 : 0.0;
    }
    EXPECT_EQ(gold[e], count);
  }
}

TEST(Labels, RefusesOtherData) {
  Dataset data;
  data.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"f"}, {"a"}});
  data.gold = {0};
  data.begin = {0, 1};
  EXPECT_THROW(oracle_registry().find("labels").make(data), Error);
}

TEST(Labels, SumsAreTheSameForAnyProcesses) {
  Random random(17);
  const Dataset data = random_data(900, random);  // a few chunks, the last one partial
  const auto oracle = oracle_registry().find("labels").make(data);
  const Scores scores = random_scores(*oracle, 1.0, random);
  Residual residual(kLabels, oracle->positions(), oracle->extra_weights());
  const LossAndCost alone = oracle->relaxation()->maximise({scores}, Cost::kHamming, &residual, Parallel());
  for (const int count : {2, 3, 4})
    run_process_team(count, [&](const Processes& processes) {
      const Index first = shares(data.begin, count)[static_cast<std::size_t>(processes.rank())];
      const auto own = oracle_registry().find("labels").make(share_of(data, processes));
      Scores part(kLabels, own->positions(), own->extra_weights());
      for (Index k = 0; k < kLabels; ++k)
        for (std::size_t p = 0; p < own->positions(); ++p) part.column(k)[p] = scores.column(k)[first + p];
      part.extra = scores.extra;
      Residual found(kLabels, own->positions(), own->extra_weights());
      const LossAndCost sums = own->relaxation()->maximise({part}, Cost::kHamming, &found,
                                                           Parallel(1, Backend::kOpenMP, &processes));
      EXPECT_NEAR(sums.loss, alone.loss, 1e-14 * alone.loss) << count << " processes";
      EXPECT_EQ(sums.cost, alone.cost) << count << " processes";
      for (std::size_t e = 0; e < residual.extra.size(); ++e)
        EXPECT_NEAR(found.extra[e], residual.extra[e], 1e-12) << count << " processes";
    });
}

}  // namespace
}  // namespace proxbench
