#include "core/linear_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/test_process_team.h"
#include "core/certificates/rounding.h"
#include "core/data/sharing.h"
#include "oracles/chain/chain.h"

namespace proxbench {
namespace {

using Wide = __float128;

/// A matrix and a residual whose sums over positions lose digits if they are computed carelessly.
struct AdversarialData {
  std::string name;
  Index positions, outputs;
  /// Returns 0 if the feature is not on.
  std::function<double(Index p, Index j, Random& random)> value;
  std::function<double(Index p, Index k, Random& random)> residual;
};

constexpr Index kFeatures = 9;

double normal(Index, Index, Random& random) {
  return random.normal();
}

std::vector<AdversarialData> adversarial_data() {
  return {
      {"features of very different scale", 3000, 5,
       [](Index, Index j, Random& random) {
         return random.normal() * std::ldexp(1.0, 40 * (static_cast<int>(j) - 4));
       },
       normal},
      {"one huge cell", 500, 2,
       [](Index p, Index j, Random& random) { return p == 77 && j == 3 ? 1e12 : random.normal(); },
       [](Index p, Index, Random& random) { return p == 77 ? 1e-14 : random.normal(); }},
      {"heavy tails", 20000, 3, [](Index, Index, Random& random) { return std::exp(8.0 * random.normal()); },
       [](Index, Index, Random& random) { return random.normal() * std::exp(8.0 * random.normal()); }},
      {"terms that cancel", 20000, 1, [](Index p, Index, Random&) { return 1.0 + 1e-9 * (p / 2); },
       [](Index p, Index, Random&) { return (p % 2 == 0 ? 1.0 : -1.0) * (1.0 + p / 2); }},
      {"rare features with small residuals", 40000, 4,
       [](Index p, Index j, Random&) { return p % (1 + 997 * j) == 0 ? 3.0 : 0.0; },
       [](Index p, Index, Random& random) { return random.normal() * (p % 997 == 0 ? 1e-12 : 1.0); }},
      {"binary", 30000, 26,
       [](Index, Index j, Random& random) { return random.uniform() < 0.3 / (1 + j) ? 1.0 : 0.0; },
       [](Index, Index, Random& random) { return random.normal() * std::exp(8.0 * random.normal()); }},
      {"many positions, few entries", 150000, 2,
       [](Index p, Index j, Random& random) { return (p + j) % 5000 == 0 ? random.normal() : 0.0; }, normal},
      {"one position", 1, 3, normal, normal},
  };
}

Dataset data_of(const AdversarialData& adversary) {
  Random random(11);
  Dataset data;
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs.resize(adversary.outputs);
  vocabulary->features.resize(kFeatures);
  data.vocabulary = vocabulary;
  DesignMatrix::Builder rows;
  for (Index p = 0; p < adversary.positions; ++p) {
    for (Index j = 0; j < kFeatures; ++j)
      if (const double x = adversary.value(p, j, random); x != 0.0) rows.add(j, x);
    rows.end_position();
    data.gold.push_back(0);
    if (p % 3 == 2 || p + 1 == adversary.positions) data.begin.push_back(p + 1);
  }
  data.x = std::move(rows).build(kFeatures);
  return data;
}

class EachAdversarial : public testing::TestWithParam<AdversarialData> {
 protected:
  /// The part of the residual that this process holds.
  Residual residual_of(const LinearMap& map, std::size_t first) const {
    Random random(12);
    Residual out = map.make_scores();
    for (Index p = 0; p < GetParam().positions; ++p)
      for (Index k = 0; k < GetParam().outputs; ++k) {
        const double r = GetParam().residual(p, k, random);
        if (p >= first && p < first + map.x().positions()) out.column(k)[p - first] = r;
      }
    return out;
  }
  static std::vector<Coord> all(const LinearMap& map) {
    std::vector<Coord> out;
    for (Coord c = 0; c < map.unary_weights(); ++c) out.push_back(c);
    return out;
  }
  /// The errors of an exact residual.
  static ResidualErrors none(const LinearMap& map) {
    const std::vector<double> zeros(map.x().positions(), 0.0);
    return {zeros, zeros};
  }
  /// Computes the adjoint in three ways: from rows, from all columns, and from one column at a time.
  static std::vector<std::vector<double>> each_way(const LinearMap& map, const Residual& residual) {
    std::vector<std::vector<double>> out(3, std::vector<double>(map.unary_weights()));
    map.for_each_gradient(
        residual, 0.0, [](Index) { return true; },
        [&](std::size_t, Index j, const double* g, std::size_t step) {
          for (Index k = 0; k < map.outputs(); ++k) out[0][j * map.outputs() + k] = g[k * step];
        });
    map.share(std::span(out[0]).first(map.unary_weights()), map.outputs());
    map.partial_adjoint(residual, all(map), out[1]);
    for (const Coord c : all(map)) map.partial_adjoint(residual, {{c}}, std::span(out[2]).subspan(c, 1));
    return out;
  }
};

TEST_P(EachAdversarial, GradientsAreAsExactAsPlainSums) {
  const Dataset data = data_of(GetParam());
  const ChainOracle oracle(data);
  const LinearMap map(data.x, oracle, Parallel(2));
  const Residual residual = residual_of(map, 0);
  const std::vector<std::vector<double>> ways = each_way(map, residual);
  const std::vector<SharpGradient> sharp = sharp_gradients(map, residual, all(map), none(map));
  for (Index j = 0; j < kFeatures; ++j)
    for (Index k = 0; k < map.outputs(); ++k) {
      Wide sum = 0.0, size = 0.0;
      for (const Index p : data.x.column(j)) {
        const auto row = data.x.row(p);
        const auto at = std::ranges::lower_bound(row, j) - row.begin();
        const double x = data.x.binary() ? 1.0 : data.x.row_values(p)[static_cast<std::size_t>(at)];
        const Wide term = Wide(x) * residual.column(k)[p];
        sum += term;
        size += term < 0 ? -term : term;
      }
      const Wide bound = (data.x.additions(j) + 1.0) * 0x1p-53 * size;
      for (const std::vector<double>& way : ways) {
        const Wide off = way[j * map.outputs() + k] - sum;
        EXPECT_LE(static_cast<double>(off < 0 ? -off : off), static_cast<double>(bound)) << j << ", " << k;
        EXPECT_EQ(way, ways[0]);
      }
      const Wide off = sharp[j * map.outputs() + k].value - sum,
                 sharp_bound = sharp[j * map.outputs() + k].error;
      EXPECT_LE(static_cast<double>(off < 0 ? -off : off), static_cast<double>(sharp_bound))
          << j << ", " << k;
      const Wide once = 0x1p-52 * (sum < 0 ? -sum : sum),
                 n = 2.0 * static_cast<double>(data.x.column_size(j) + 1);
      EXPECT_LE(static_cast<double>(off < 0 ? -off : off),
                static_cast<double>(once + n * n * 0x1p-106 * size));
    }
}

TEST_P(EachAdversarial, GradientsHaveTheSameBitsForAnyThreads) {
  const Dataset data = data_of(GetParam());
  const ChainOracle oracle(data);
  const LinearMap map(data.x, oracle, Parallel());
  const std::vector<double> once = each_way(map, residual_of(map, 0))[0];
  for (const int threads : {2, 3, 4})
    EXPECT_EQ(each_way(LinearMap(data.x, oracle, Parallel(threads)), residual_of(map, 0))[0], once);
}

TEST_P(EachAdversarial, GradientsOfSeveralProcessesAreTheSameOnAllAndWithinRoundingOfOne) {
  const Dataset data = data_of(GetParam());
  const ChainOracle oracle(data);
  const LinearMap map(data.x, oracle, Parallel());
  const std::vector<SharpGradient> exact = sharp_gradients(map, residual_of(map, 0), all(map), none(map));
  Residual sizes = residual_of(map, 0);
  for (double& r : sizes.values) r = std::abs(r);
  for (const int count : {2, 3, 5}) {
    if (data.begin.size() <= static_cast<std::size_t>(count)) continue;
    run_process_team(count, [&](const Processes& processes) {
      const auto first = data.begin[shares(data.begin, count)[static_cast<std::size_t>(processes.rank())]];
      const Dataset part = share_of(data_of(GetParam()), processes);
      const ChainOracle own(part);
      const LinearMap own_map(part.x, own, Parallel(2, Backend::kOpenMP, &processes));
      const Residual residual = residual_of(own_map, first);
      const std::vector<std::vector<double>> ways = each_way(own_map, residual);
      const std::vector<SharpGradient> sharp =
          sharp_gradients(own_map, residual, all(own_map), none(own_map));
      for (const Coord c : all(map)) {
        const Index j = map.feature_of(c);
        double size = 0.0;  // sum of |x r|
        data.x.for_each_in_column(
            j, [&](std::size_t p, double x) { size += std::abs(x) * sizes.column(map.output_of(c))[p]; });
        EXPECT_NEAR(ways[0][c], exact[c].value,
                    1.01 * (part.x.additions(j) + 1.0) * 0x1p-53 * size + exact[c].error);
        EXPECT_NEAR(sharp[c].value, exact[c].value, sharp[c].error + exact[c].error);
        EXPECT_EQ(sharp[c].value, agree(&processes, sharp[c].value));
      }
      for (const std::vector<double>& way : ways) EXPECT_EQ(way, ways[0]);
      std::vector<double> of_first = ways[0];
      share(&processes, 0, of_first);
      EXPECT_EQ(ways[0], of_first);
    });
  }
}

/// Few frequent features and many rare ones, so that blocks of positions are large.
Dataset mostly_rare(Index positions, Index frequent, Index rare) {
  Random random(3);
  Dataset data;
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs.resize(5);
  vocabulary->features.resize(frequent + rare);
  data.vocabulary = vocabulary;
  DesignMatrix::Builder rows;
  for (Index p = 0; p < positions; ++p) {
    for (Index j = 0; j < frequent; ++j)
      if (random.uniform() < 0.3) rows.add(j, 1.0);
    rows.add(frequent + static_cast<Index>(random.below(rare)), 1.0);
    rows.end_position();
    data.gold.push_back(0);
    if (p % 10 == 9) data.begin.push_back(p + 1);
  }
  data.x = std::move(rows).build(frequent + rare);
  return data;
}

/// Most rows of the residual are small, as where a model is certain. A feature whose rows are too small for a
/// gradient above the bound is skipped, so those that are visited, and all bits, must be those of a plain
/// visit.
TEST(LinearMap, VisitsTheFeaturesAboveABound) {
  const Dataset data = mostly_rare(30000, 6, 9000);
  ASSERT_GT(data.x.block_begin(1), 10000u) << "several windows of rows in a block";
  const ChainOracle oracle(data);
  const LinearMap map(data.x, oracle, Parallel(2));
  Random random(4);
  Residual residual = map.make_scores();
  for (std::size_t p = 0; p < 30000; ++p) {
    const double size = random.uniform() < 0.02 ? 1.0 : 1e-3;
    for (Index k = 0; k < map.outputs(); ++k) residual.column(k)[p] = size * random.normal();
  }
  using Gradients = std::map<Index, std::vector<double>>;
  const auto visited = [&](double bound, const LinearMap::Wanted& wanted) {
    std::vector<Gradients> parts(map.feature_chunks());
    map.for_each_gradient(residual, bound, wanted,
                          [&](std::size_t chunk, Index j, const double* g, std::size_t step) {
                            for (Index k = 0; k < map.outputs(); ++k) parts[chunk][j].push_back(g[k * step]);
                          });
    Gradients all;
    for (const Gradients& part : parts) all.insert(part.begin(), part.end());
    return all;
  };
  const Gradients all = visited(0.0, [](Index) { return true; });
  ASSERT_EQ(all.size(), map.features());
  std::vector<Coord> coordinates;
  for (Coord c = 0; c < map.unary_weights(); ++c) coordinates.push_back(c);
  std::vector<double> by_column(coordinates.size());
  map.partial_adjoint(residual, coordinates, by_column);
  for (const Coord c : coordinates)
    ASSERT_EQ(all.at(map.feature_of(c))[map.output_of(c)], by_column[c]) << "rows in windows, and columns";
  for (const double bound : {1e-4, 0.02, 0.5, 2.0, 1e3}) {
    const auto wanted = [](Index j) { return j % 1000 == 7; };
    Gradients expected;
    for (const auto& [j, g] : all)
      if (wanted(j) || std::ranges::any_of(g, [&](double x) { return std::abs(x) > bound; })) expected[j] = g;
    EXPECT_EQ(visited(bound, wanted), expected) << bound;
  }
  residual.column(2)[123] = kNaN;
  const Gradients found = visited(1e3, [](Index) { return false; });
  EXPECT_EQ(found.size(), data.x.row(123).size()) << "features with a NaN";
}

/// x_pj^2 in place of x_pj, for a matrix with values.
TEST(LinearMap, AddsSquares) {
  const Dataset data = data_of(adversarial_data()[2]);
  const ChainOracle oracle(data);
  const LinearMap map(data.x, oracle, Parallel(2));
  Residual residual = map.make_scores();
  for (double& r : residual.values) r = 1.0;
  std::vector<Coord> coordinates;
  for (Coord c = 0; c < map.unary_weights(); ++c) coordinates.push_back(c);
  for (const std::size_t count : {coordinates.size(), std::size_t{1}}) {  // by rows, by columns
    std::vector<double> found(count);
    map.partial_adjoint(residual, std::span(coordinates).first(count), found, true);
    for (std::size_t c = 0; c < count; ++c) {
      double expected = 0.0;
      data.x.for_each_in_column(map.feature_of(c), [&](std::size_t, double x) { expected += x * x; });
      EXPECT_NEAR(found[c], expected, 1e-12 * expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EachAdversarial, testing::ValuesIn(adversarial_data()), [](const auto& of) {
  std::string name = of.param.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

}  // namespace
}  // namespace proxbench
