/// Compares the judge with enumeration over all structures, with finite differences and with closed forms.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "oracles/test_judge.h"

namespace proxbench::test {
namespace {

struct Case {
  std::string oracle;
  Dataset data;
};

/// Five instances with three real-valued features. Each value is nonzero with probability 0.7.
Case draw(const std::string& oracle, bool nested, std::uint64_t seed) {
  Case out{oracle, {}};
  Random random(seed);
  const Index outputs = oracle == "candidates" ? 1 : nested ? 6 : 3;
  if (nested) {
    constexpr Index kNone = Hierarchy::kNone;
    out.data.hierarchy =
        std::make_shared<const Hierarchy>(std::vector<Index>{kNone, 0, 0, 2, 2, kNone});  // leaves 1, 3, 4, 5
  }
  DesignMatrix::Builder builder;
  for (int i = 0; i < 5; ++i) {
    const std::size_t length = oracle == "tree" ? 1 : 1 + random.below(4);
    const std::size_t chosen = random.below(length);
    for (std::size_t t = 0; t < length; ++t) {
      for (Index j = 0; j < 3; ++j)
        if (random.uniform() < 0.7) builder.add(j, random.normal());
      builder.end_position();
      constexpr Index kLeaves[] = {1, 3, 4, 5};
      out.data.gold.push_back(oracle == "candidates" ? (t == chosen ? 0 : kNoOutput)
                              : nested               ? kLeaves[random.below(4)]
                                                     : static_cast<Index>(random.below(outputs)));
    }
    out.data.begin.push_back(static_cast<Index>(out.data.gold.size()));
  }
  out.data.x = std::move(builder).build(3);
  auto names = std::make_shared<Vocabulary>();
  names->features.resize(3);
  names->outputs.resize(outputs);
  out.data.vocabulary = names;
  return out;
}

/// sum over j of x_pj * w_jk, by definition.
long double score(const Case& c, const Judge::Weights& w, Index p, Index k) {
  long double sum = 0.0L;
  const auto row = c.data.x.row(p);
  const auto values = c.data.x.row_values(p);
  for (std::size_t i = 0; i < row.size(); ++i)
    sum += static_cast<long double>(values[i]) * w[std::size_t{row[i]} * c.data.outputs() + k];
  return sum;
}

/// The score and the number of wrong positions of every structure of an instance, the gold one first.
struct Scored {
  long double score, wrong;
};
std::vector<Scored> structures(const Case& c, const Judge::Weights& w, std::size_t i) {
  const Index begin = c.data.begin[i], end = c.data.begin[i + 1], outputs = c.data.outputs();
  std::vector<Scored> out{{}};
  const auto add = [&](long double s, long double wrong) {
    if (wrong == 0.0L)
      out.front() = {s, 0.0L};
    else
      out.push_back({s, wrong});
  };
  if (c.oracle == "candidates") {
    for (Index p = begin; p < end; ++p) add(score(c, w, p, 0), c.data.gold[p] == 0 ? 0.0L : 1.0L);
  } else if (c.oracle == "tree") {
    for (Index leaf = 0; leaf < outputs; ++leaf) {
      if (c.data.hierarchy && !c.data.hierarchy->leaf(leaf)) continue;
      long double s = score(c, w, begin, leaf);
      if (c.data.hierarchy)
        for (Index a = c.data.hierarchy->parent(leaf); a != Hierarchy::kNone; a = c.data.hierarchy->parent(a))
          s += score(c, w, begin, a);
      add(s, leaf == c.data.gold[begin] ? 0.0L : 1.0L);
    }
  } else {
    const std::size_t unary = std::size_t{c.data.x.features()} * outputs;
    std::function<void(Index, Index, long double, long double)> extend =
        [&](Index p, Index before, long double s, long double wrong) {
          if (p == end) return add(s, wrong);
          for (Index k = 0; k < outputs; ++k)
            extend(p + 1, k,
                   s + score(c, w, p, k) + (p > begin ? w[unary + std::size_t{before} * outputs + k] : 0.0L),
                   wrong + (k == c.data.gold[p] ? 0.0L : 1.0L));
        };
    extend(begin, 0, 0.0L, 0.0L);
  }
  return out;
}

long double enumerated(const Case& c, const Judge::Weights& w, const Penalty& penalty, const Loss& loss) {
  long double sum = 0.0L;
  for (std::size_t i = 0; i < c.data.instances(); ++i) {
    const std::vector<Scored> all = structures(c, w, i);
    const auto length = static_cast<long double>(c.data.begin[i + 1] - c.data.begin[i]);
    const bool mean = loss.cost == Cost::kHammingMean && c.oracle == "chain";
    long double mass = 0.0L, best = 0.0L;
    for (const Scored& one : all) {
      mass += std::exp(one.score - all.front().score);
      best = std::max(best, one.score - all.front().score + one.wrong / (mean ? length : 1.0L));
    }
    sum += loss.hinge() ? best : std::log(mass);
  }
  for (const long double x : w) sum += penalty.lambda * std::fabs(x) + penalty.mu / 2 * x * x;
  return sum;
}

Judge::Weights draw_weights(std::size_t d, std::uint64_t seed) {
  Random random(seed);
  Judge::Weights w(d);
  for (long double& x : w) x = random.uniform() < 0.2 ? 0.0 : random.normal();
  return w;
}

class JudgeOf : public ::testing::TestWithParam<std::pair<std::string, bool>> {
 protected:
  Case problem(std::uint64_t seed) const { return draw(GetParam().first, GetParam().second, seed); }
};
INSTANTIATE_TEST_SUITE_P(Structures, JudgeOf,
                         ::testing::Values(std::pair("chain", false), std::pair("tree", false),
                                           std::pair("tree", true), std::pair("candidates", false)),
                         [](const auto& tested) {
                           return tested.param.first + (tested.param.second ? "_nested" : "");
                         });

TEST_P(JudgeOf, FindsFByEnumeration) {
  const Penalty penalty{0.3, 0.7};
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const Loss& loss :
         {Loss{}, Loss{Loss::Kind::kHinge, Cost::kHamming}, Loss{Loss::Kind::kHinge, Cost::kHammingMean}}) {
      const Case c = problem(seed);
      const Judge judge(c.data, c.oracle, penalty, loss);
      const Judge::Weights w = draw_weights(judge.dimension(), 100 + seed);
      const long double expected = enumerated(c, w, penalty, loss);
      EXPECT_LE(std::fabs(judge.objective(w) - expected), 1e-17L * expected)
          << "seed " << seed << ", " << loss.text();
    }
}

TEST_P(JudgeOf, FindsTheGradientByDifferences) {
  const Penalty penalty{0.3, 0.7};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Case c = problem(seed);
    const Judge judge(c.data, c.oracle, penalty);
    const Judge::Weights w = draw_weights(judge.dimension(), 200 + seed), g = judge.gradient(w);
    for (std::size_t j = 0; j < w.size(); ++j) {
      constexpr long double kStep = 1e-6L;
      Judge::Weights up = w, down = w;
      up[j] += kStep;
      down[j] -= kStep;
      EXPECT_NEAR(
          static_cast<double>(g[j]),
          static_cast<double>((enumerated(c, up, {}, {}) - enumerated(c, down, {}, {})) / (2 * kStep)), 1e-11)
          << "seed " << seed << ", coordinate " << j;
    }
  }
}

TEST_P(JudgeOf, DescendsToTheOptimum) {
  for (const Penalty& penalty : {Penalty{0.3, 0.0}, Penalty{0.0, 0.2}, Penalty{0.2, 0.1}}) {
    const Case c = problem(3);
    const Judge judge(c.data, c.oracle, penalty);
    const Judge::Weights w = judge.descend(Judge::Weights(judge.dimension(), 0.0L));
    // F is flat at its minimum. The last step that lowers F leaves kkt near the square root of F's precision.
    EXPECT_LT(judge.kkt(w), 1e-9L) << penalty.text();
    EXPECT_LT(judge.objective(w), judge.objective(SparseVector{}));
  }
}

/// An instance with two labels.
Dataset one_instance(DesignMatrix::Builder builder, Index features, std::vector<Index> gold) {
  Dataset data;
  data.x = std::move(builder).build(features);
  data.begin = {0, static_cast<Index>(gold.size())};
  data.gold = std::move(gold);
  auto names = std::make_shared<Vocabulary>();
  names->features.resize(features);
  names->outputs.resize(2);
  data.vocabulary = names;
  return data;
}

/// One document, two labels and one feature of any size, so F is a logarithm.
TEST(Judge, IsExactAtAnyScale) {
  for (const double value : {1e-300, 1e-10, 1.0, 1e9, 1e12, 1e308}) {
    DesignMatrix::Builder builder;
    builder.add(0, value);
    builder.end_position();
    const Dataset data = one_instance(std::move(builder), 1, {1});
    const Judge judge(data, "tree", {0.0, 1.0});
    for (const long double s : {-1e5L, -3.0L, 0.0L, 3.0L, 40.0L}) {
      const Judge::Weights w{0.0L, s / static_cast<long double>(value)};
      const long double loss = s < -100.0L ? -s : std::log1p(std::exp(-s));
      EXPECT_LE(std::fabs(judge.loss(w) - loss), 1e-17L * loss) << value << ", " << s;
    }
  }
}

/// Weights of 1e16 on columns that cancel. The scores are those of the remainder, 1 and -1.
TEST(Judge, KeepsWhatCancellingScoresLeave) {
  DesignMatrix::Builder builder;
  for (int t = 0; t < 3; ++t) {
    builder.add(0, 1.0);
    builder.add(1, 1.0);
    builder.add(2, 1.0);
    builder.end_position();
  }
  const Dataset data = one_instance(std::move(builder), 3, {0, 1, 0});
  const Judge judge(data, "chain", {1.0, 0.0});
  const Judge::Weights w{1e16L, 0.0L, -1e16L, 0.0L, 1.0L, 0.0L, 0.0L, 0.0L, 0.0L, 0.0L};
  const long double right = std::log1p(std::exp(-1.0L)), wrong = 1.0L + right;
  EXPECT_LE(std::fabs(judge.loss(w) - (2 * right + wrong)), 1e-17L * (2 * right + wrong));
}

/// The bound covers the rounding of plain double-precision sums of scores that cancel. It is at most some
/// hundred units of their sizes.
TEST(Judge, BoundsTheRoundingOfPlainSums) {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    DesignMatrix::Builder builder;
    std::vector<double> x(8);
    for (Index j = 0; j < 8; ++j)
      builder.add(j, x[j] = random.normal() * std::pow(10.0, 4 * random.normal()));
    builder.end_position();
    const Dataset data = one_instance(std::move(builder), 8, {1});
    const Judge judge(data, "tree", {0.0, 1e-300});
    Judge::Weights w(16, 0.0L);
    double sum = 0.0, sizes = 0.0;
    for (std::size_t j = 0; j < 8; ++j) {
      const double weight = random.normal() / x[j] * std::pow(10.0, 3 * random.normal());
      w[2 * j + 1] = weight;
      sum += x[j] * weight;
      sizes += std::abs(x[j] * weight);
    }
    const double loss = sum > 0 ? std::log1p(std::exp(-sum)) : -sum + std::log1p(std::exp(sum));
    const long double off = std::fabs(judge.loss(w) - static_cast<long double>(loss));
    EXPECT_LE(off, judge.rounding(w));
    EXPECT_LE(judge.rounding(w), 400 * 0x1p-53L * (1.0L + sizes));
  }
}

}  // namespace
}  // namespace proxbench::test
