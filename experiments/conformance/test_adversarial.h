#pragma once
/// Data sets that have made solvers and certificates state something false, one row each. For tests.

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/data/dataset.h"
#include "core/penalty.h"

namespace proxbench::test {

/// Real-valued data before they become a data set: a row of numbers for each position, with 0 for an absent
/// feature.
struct Draft {
  std::string oracle = "tree";  ///< with a flat hierarchy; or chain, candidates
  Index outputs = 2;
  std::vector<std::vector<double>> rows = {};
  std::vector<Index> gold = {};
  std::vector<Index> begin = {0};

  /// Appends a feature whose value at a position is value(position).
  void add_feature(const std::function<double(std::size_t)>& value) {
    for (std::size_t p = 0; p < rows.size(); ++p) rows[p].push_back(value(p));
  }
  void scale(double factor) {
    for (std::vector<double>& row : rows)
      for (double& x : row) x *= factor;
  }

  Dataset dataset() const {
    Dataset out;
    DesignMatrix::Builder builder;
    for (const std::vector<double>& row : rows) {
      for (std::size_t j = 0; j < row.size(); ++j)
        if (row[j] != 0.0) builder.add(static_cast<Index>(j), row[j]);
      builder.end_position();
    }
    const std::size_t features = rows.front().size();
    out.x = std::move(builder).build(static_cast<Index>(features));
    out.gold = gold;
    out.begin = begin;
    auto names = std::make_shared<Vocabulary>();
    for (std::size_t j = 0; j < features; ++j) names->features.push_back("f" + std::to_string(j));
    for (Index k = 0; k < outputs; ++k) names->outputs.push_back("y" + std::to_string(k));
    out.vocabulary = std::move(names);
    if (oracle == "candidates")
      for (const Index g : gold) out.quality.push_back(g == 0 ? 1.0 : 0.0);
    out.digest = digest_of(out);
    return out;
  }
};

/// What to draw: standard normal features, and gold outputs that depend on them with noise.
struct Drawing {
  std::string oracle = "tree";
  Index outputs = 2;
  std::size_t instances = 40, length = 1, features = 3;
  std::uint64_t seed = 1;
};

inline Draft draw(const Drawing& what) {
  Random random(what.seed);
  Draft out{.oracle = what.oracle, .outputs = what.outputs};
  std::vector<double> truth(what.features * what.outputs);
  for (double& x : truth) x = 1.5 * random.normal();
  for (std::size_t i = 0; i < what.instances; ++i) {
    std::size_t chosen = 0;
    double highest = 0.0;
    for (std::size_t t = 0; t < what.length; ++t) {
      std::vector<double> row(what.features);
      for (double& x : row) x = random.normal();
      std::size_t best = 0;
      double largest = 0.0;
      for (std::size_t k = 0; k < what.outputs; ++k) {
        double score = random.normal();
        for (std::size_t j = 0; j < what.features; ++j) score += row[j] * truth[j * what.outputs + k];
        if (k == 0 || score > largest) {
          best = k;
          largest = score;
        }
      }
      if (t == 0 || largest > highest) {
        chosen = t;
        highest = largest;
      }
      out.rows.push_back(std::move(row));
      out.gold.push_back(what.oracle == "candidates" ? kNoOutput : static_cast<Index>(best));
    }
    if (what.oracle == "candidates") out.gold[out.begin.back() + chosen] = 0;
    out.begin.push_back(static_cast<Index>(out.rows.size()));
  }
  return out;
}

struct AdversarialData {
  std::string name;
  Draft data;
  /// The typical size of the values. The penalties are scaled so that the problem equals one with values near
  /// 1.
  double scale = 1.0;
  std::int64_t iterations = 100;  ///< the limit of each run
  bool brief = false;             ///< too slow to judge for all penalties and starts
};

inline std::ostream& operator<<(std::ostream& out, const AdversarialData& adversary) {
  return out << adversary.name;
}

/// The penalties to try with an adversary, in the units of its values.
inline std::vector<Penalty> penalties_of(const AdversarialData& adversary) {
  const double lambda = adversary.scale, mu = adversary.scale * adversary.scale;
  if (adversary.brief) return {{lambda, 0.0}, {0.0, mu}};
  return {{lambda, 0.0}, {0.0, mu}, {0.5 * lambda, 0.1 * mu}};
}

inline Draft changed(Draft draft, const std::function<void(Draft&)>& change) {
  change(draft);
  return draft;
}

/// Three features resemble an age, an income and a time in seconds since 1970.
inline Draft with_people(const Drawing& what) {
  return changed(draw(what), [](Draft& d) {
    for (std::vector<double>& row : d.rows) {
      row[0] = std::round(45.0 + 15.0 * row[0]);
      row[1] = std::round(3e4 * std::exp(0.6 * row[1]));
      row[2] = std::round(1.6e9 + 3e7 * row[2]);
    }
  });
}

inline Draft with_cell(const Drawing& what, double value) {
  return changed(draw(what), [value](Draft& d) { d.rows[7][0] = value; });
}

inline std::vector<AdversarialData> adversarial_data() {
  const Drawing documents{},
      sequences{.oracle = "chain", .outputs = 3, .instances = 12, .length = 4, .seed = 2},
      groups{.oracle = "candidates", .outputs = 1, .instances = 25, .length = 4, .seed = 3};
  const Drawing many{.instances = 200, .features = 4, .seed = 4};
  const auto tiny = [](const Drawing& what) { return changed(draw(what), [](Draft& d) { d.scale(1e-10); }); };
  const auto constant = [](const Drawing& what) {
    return changed(draw(what), [](Draft& d) { d.add_feature([](std::size_t) { return 1e9; }); });
  };
  return {
      {.name = "a cell of 1e4", .data = with_cell(many, 1e4)},
      {.name = "a cell of 1e6", .data = with_cell(many, 1e6)},
      {.name = "a cell of 1e12", .data = with_cell(many, 1e12)},
      {.name = "a cell of 1e6 in sequences", .data = with_cell(sequences, 1e6)},
      {.name = "a cell of 1e12 in sequences", .data = with_cell(sequences, 1e12)},
      {.name = "a cell of 1e6 in groups", .data = with_cell(groups, 1e6)},
      {.name = "a cell of 1e12 in groups", .data = with_cell(groups, 1e12)},
      {.name = "a cell of 1e308", .data = with_cell(documents, 1e308)},
      {.name = "a cell of 1e308 in sequences", .data = with_cell(sequences, 1e308)},
      {.name = "a cell of 1e308 in groups", .data = with_cell(groups, 1e308)},
      {.name = "tiny values", .data = tiny(documents), .scale = 1e-10},
      {.name = "tiny values in sequences", .data = tiny(sequences), .scale = 1e-10},
      {.name = "tiny values in groups", .data = tiny(groups), .scale = 1e-10},
      {.name = "a constant column of 1e9", .data = constant(documents)},
      {.name = "a constant column of 1e9 in sequences", .data = constant(sequences)},
      {.name = "duplicate columns",
       .data = changed(draw(documents),
                       [](Draft& d) {
                         const auto rows = d.rows;
                         for (int copy = 0; copy < 3; ++copy)
                           d.add_feature([&](std::size_t p) { return rows[p][0]; });
                       })},
      {.name = "columns that cancel",
       .data = changed(draw(documents),
                       [](Draft& d) {
                         Random random(9);
                         std::vector<double> large(d.rows.size());
                         for (double& x : large) x = 1e8 * random.normal();
                         d.add_feature([&](std::size_t p) { return large[p]; });
                         d.add_feature([&](std::size_t p) { return d.rows[p][0] - large[p]; });
                       })},
      {.name = "a feature that separates",
       .data = changed(
           draw(documents),
           [](Draft& d) { d.add_feature([&](std::size_t p) { return d.gold[p] == 0 ? -1e3 : 1e3; }); })},
      {.name = "one label alone", .data = draw({.outputs = 1})},
      {.name = "one label alone in sequences",
       .data = draw({.oracle = "chain", .outputs = 1, .instances = 8, .length = 3})},
      {.name = "one label of three that occurs",
       .data = changed(draw({.outputs = 3}),
                       [](Draft& d) {
                         for (Index& g : d.gold) g = 1;
                       })},
      {.name = "one instance", .data = draw({.outputs = 3, .instances = 1})},
      {.name = "one sequence", .data = draw({.oracle = "chain", .outputs = 3, .instances = 1, .length = 5})},
      {.name = "one group",
       .data = draw({.oracle = "candidates", .outputs = 1, .instances = 1, .length = 5})},
      {.name = "empty rows",
       .data = changed(draw(sequences),
                       [](Draft& d) {
                         for (std::size_t p = 0; p < d.rows.size(); ++p)
                           if (p % 5 != 0) d.rows[p].assign(d.rows[p].size(), 0.0);
                       })},
      {.name = "sequences of length 1",
       .data = draw({.oracle = "chain", .outputs = 3, .instances = 30, .length = 1})},
      {.name = "a sequence of length 5000",
       .data = draw({.oracle = "chain", .outputs = 2, .instances = 1, .length = 5000, .features = 2}),
       .iterations = 10,
       .brief = true},
      {.name = "200 labels",
       .data = draw({.outputs = 200, .instances = 60, .features = 2}),
       .iterations = 30,
       .brief = true},
      {.name = "200 labels in sequences",
       .data = draw({.oracle = "chain", .outputs = 200, .instances = 2, .length = 2, .features = 1}),
       .iterations = 10,
       .brief = true},
      {.name = "age, income, time", .data = with_people(documents)},
      {.name = "age, income, time in sequences", .data = with_people(sequences)},
      {.name = "age, income, time in groups", .data = with_people(groups)},
  };
}

}  // namespace proxbench::test
