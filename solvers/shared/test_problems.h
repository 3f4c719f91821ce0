#pragma once
/// Small random chain and tree problems. Each has a property that has broken solvers before. For tests and
/// for the conformance suite (experiments/conformance/).

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/data/dataset.h"
#include "core/data/sharing.h"
#include "core/objective.h"
#include "core/solver.h"
#include "oracles/oracles.h"

namespace proxbench::test {

/// Describes the problem to draw.
struct ProblemSpec {
  std::string name;
  Index labels = 4;
  Index features = 20;  ///< drawn features; the bias, copies and features never on are added
  Index sequences = 12;
  Index longest = 6;       ///< sequence lengths are uniform in 1..longest
  double density = 0.3;    ///< probability that a feature is on
  bool bias = false;       ///< one feature shared by all labels and positions
  bool real = false;       ///< standard normal values instead of ones
  bool collinear = false;  ///< each feature has a copy, and another copy with -2 times its values
  Index never_on = 0;
  bool identical = false;  ///< all sequences equal the first one
  double dominance = 0.0;  ///< probability that a label is replaced by label 0
  double lambda = 0.5;
  double mu = 0.0;
  Loss loss = {};
  std::uint64_t seed = 1;
  /// Sequences have one position and are labelled with the leaves of a tree, for the tree oracle. kNested: a
  /// random forest of `labels` nodes, whose outputs the oracle collapses. kFlat: `labels` leaves side by
  /// side.
  enum class Tree { kNone, kFlat, kNested } tree = Tree::kNone;
  /// Draws groups of candidates instead of sequences, for the candidates oracle. `labels` is 1.
  bool candidates = false;
  int scale = 0;  ///< all values are 2^scale times as large
};

/// The same problem in other units: its w is 2^-k times as large, its F is the same. The oracle's own weights
/// do not scale, so the problem must have none that matter.
inline ProblemSpec scaled(ProblemSpec spec, int k) {
  spec.scale += k;
  spec.lambda = std::ldexp(spec.lambda, k);
  spec.mu = std::ldexp(spec.mu, 2 * k);
  return spec;
}

/// A data set and its oracle. A label depends on the features and on the previous label, so the optimum is
/// not trivial.
class Problem {
 public:
  explicit Problem(const ProblemSpec& spec) : spec_(spec) {
    Random random(spec.seed);
    const Index copies = spec.collinear ? 3 : 1;
    const Index total = spec.features * copies + spec.never_on + (spec.bias ? 1 : 0);
    std::vector<double> truth(static_cast<std::size_t>(spec.features) * spec.labels);
    for (double& x : truth) x = random.normal();
    const bool chain = spec.tree == ProblemSpec::Tree::kNone;
    if (spec.tree == ProblemSpec::Tree::kNested)
      data_.hierarchy = std::make_shared<Hierarchy>(random_parents(spec.labels, random));

    DesignMatrix::Builder builder;
    std::vector<double> score(spec.labels);
    const Random first = random;
    for (Index s = 0; s < spec.sequences; ++s) {
      if (spec.identical) random = first;
      const Index length = chain ? 1 + static_cast<Index>(random.below(spec.longest)) : 1;
      for (Index p = 0; p < length; ++p) {
        for (double& x : score) x = random.normal();
        if (p > 0 && !spec.candidates) score[(data_.gold.back() + 1) % spec.labels] += 1.0;
        for (Index j = 0; j < spec.features; ++j) {
          if (random.uniform() >= spec.density) continue;
          const double value = spec.real ? random.normal() : 1.0;
          const double in_units = std::ldexp(value, spec.scale);
          builder.add(j, in_units);
          if (spec.collinear) {
            builder.add(spec.features + j, in_units);
            builder.add(2 * spec.features + j, -2.0 * in_units);
          }
          for (Index k = 0; k < spec.labels; ++k) score[k] += value * truth[j * spec.labels + k];
        }
        if (spec.bias) builder.add(total - 1, std::ldexp(1.0, spec.scale));
        builder.end_position();
        const Index best = best_output(score);
        data_.gold.push_back(random.uniform() < spec.dominance ? 0 : best);
        data_.quality.push_back(score[0]);
      }
      if (spec.candidates) choose_gold();
      data_.begin.push_back(static_cast<Index>(data_.gold.size()));
    }
    if (!spec.candidates) data_.quality.clear();
    data_.x = std::move(builder).build(total);
    auto names = std::make_shared<Vocabulary>();
    for (Index j = 0; j < total; ++j) names->features.push_back("f" + std::to_string(j));
    for (Index k = 0; k < spec.labels; ++k) names->outputs.push_back("y" + std::to_string(k));
    data_.vocabulary = std::move(names);
    oracle_name_ = spec.candidates ? "candidates" : chain ? "chain" : "tree";
    oracle_ = oracle_registry().find(oracle_name_).make(data_);
  }

  const ProblemSpec& spec() const { return spec_; }
  const Dataset& data() const { return data_; }
  const Oracle& oracle() const { return *oracle_; }
  const std::string& oracle_name() const { return oracle_name_; }
  /// Keeps only the share of one of several processes (core/data/sharing.h).
  void share(const Processes& processes) {
    data_ = share_of(std::move(data_), processes);
    oracle_ = oracle_registry().find(oracle_name_).make(data_);
  }
  /// Borrows this problem.
  Objective objective(const Parallel& parallel = Parallel()) const& {
    return Objective(data_.x, *oracle_, {spec_.lambda, spec_.mu}, parallel, spec_.loss);
  }

 private:
  /// A forest of uneven depth, with some only children. Each node becomes a child of a node on the path to
  /// the previous node, or a root.
  static std::vector<Index> random_parents(Index nodes, Random& random) {
    std::vector<Index> parent{Hierarchy::kNone};
    while (parent.size() < nodes) {
      std::vector<Index> path{Hierarchy::kNone};
      for (Index a = static_cast<Index>(parent.size()) - 1; a != Hierarchy::kNone; a = parent[a])
        path.push_back(a);
      parent.push_back(path[random.below(path.size())]);
    }
    return parent;
  }
  /// Turns on the best candidate since the last group, and no other.
  void choose_gold() {
    const auto begin = data_.quality.begin() + data_.begin.back();
    std::fill(data_.gold.begin() + data_.begin.back(), data_.gold.end(), kNoOutput);
    data_.gold[static_cast<std::size_t>(std::max_element(begin, data_.quality.end()) -
                                        data_.quality.begin())] = 0;
  }
  /// The label with the largest score, or the leaf whose path has the largest sum.
  Index best_output(std::vector<double> score) const {
    if (data_.hierarchy)
      for (Index k = 0; k < score.size(); ++k) {
        const Index above = data_.hierarchy->parent(k);
        if (above != Hierarchy::kNone) score[k] += score[above];
      }
    Index best = Hierarchy::kNone;
    for (Index k = 0; k < score.size(); ++k) {
      if (data_.hierarchy && !data_.hierarchy->leaf(k)) continue;
      if (best == Hierarchy::kNone || score[k] > score[best]) best = k;
    }
    return best;
  }

  ProblemSpec spec_;
  std::string oracle_name_;
  Dataset data_;
  std::unique_ptr<Oracle> oracle_;
};

inline std::vector<ProblemSpec> problem_specs() {
  return {
      {.name = "sparse", .seed = 11},
      {.name = "bias", .bias = true, .seed = 12},
      {.name = "dense real values", .density = 1.0, .real = true, .seed = 13},
      {.name = "collinear", .features = 8, .bias = true, .collinear = true, .seed = 14},
      {.name = "collinear real values", .features = 8, .real = true, .collinear = true, .seed = 15},
      {.name = "sequences of length 1", .sequences = 40, .longest = 1, .seed = 16},
      {.name = "features never on", .never_on = 30, .seed = 17},
      {.name = "one label dominant", .sequences = 30, .bias = true, .dominance = 0.95, .seed = 18},
      {.name = "two labels", .labels = 2, .bias = true, .seed = 19},
      {.name = "more labels than a vector register holds", .labels = 9, .sequences = 30, .seed = 20},
      {.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21},
      {.name = "elastic net", .bias = true, .mu = 0.3, .seed = 22},
      {.name = "elastic net, collinear",
       .features = 8,
       .real = true,
       .collinear = true,
       .mu = 0.01,
       .seed = 23},
      {.name = "tree", .labels = 14, .sequences = 60, .seed = 24, .tree = ProblemSpec::Tree::kNested},
      {.name = "tree, real values and bias",
       .labels = 25,
       .features = 12,
       .sequences = 80,
       .bias = true,
       .real = true,
       .lambda = 1.0,
       .seed = 25,
       .tree = ProblemSpec::Tree::kNested},
      {.name = "tree, collinear, elastic net",
       .labels = 9,
       .features = 8,
       .sequences = 40,
       .collinear = true,
       .lambda = 0.2,
       .mu = 0.1,
       .seed = 26,
       .tree = ProblemSpec::Tree::kNested},
      {.name = "multiclass", .labels = 5, .sequences = 50, .seed = 27, .tree = ProblemSpec::Tree::kFlat},
      {.name = "binary",
       .labels = 2,
       .sequences = 50,
       .bias = true,
       .seed = 28,
       .tree = ProblemSpec::Tree::kFlat},
      {.name = "candidates", .labels = 1, .sequences = 60, .seed = 29, .candidates = true},
      {.name = "candidates, real values, collinear, elastic net",
       .labels = 1,
       .features = 8,
       .sequences = 40,
       .longest = 12,
       .real = true,
       .collinear = true,
       .lambda = 0.2,
       .mu = 0.1,
       .seed = 30,
       .candidates = true},
  };
}

/// Real-valued problems whose weights all scale with the values. Sequences of one position have no
/// transitions.
inline std::vector<ProblemSpec> scale_specs() {
  return {
      {.name = "chain without transitions", .sequences = 40, .longest = 1, .real = true, .seed = 61},
      {.name = "tree",
       .labels = 14,
       .features = 12,
       .sequences = 60,
       .real = true,
       .seed = 62,
       .tree = ProblemSpec::Tree::kNested},
      {.name = "multiclass",
       .labels = 5,
       .features = 10,
       .sequences = 50,
       .real = true,
       .seed = 63,
       .tree = ProblemSpec::Tree::kFlat},
      {.name = "candidates",
       .labels = 1,
       .features = 10,
       .sequences = 40,
       .longest = 8,
       .real = true,
       .seed = 64,
       .candidates = true},
  };
}
inline constexpr int kScales[] = {-400, -40, -13, 7, 40, 400};

/// Adapts the problem to a solver with these needs: takes its loss, and replaces the l1 penalty by an l2
/// penalty if the solver needs a smooth one.
inline ProblemSpec suited(ProblemSpec spec, const Needs& needs) {
  if (spec.mu == 0.0 && (needs.smooth || needs.l2)) spec.mu = spec.lambda;
  if (needs.smooth) spec.lambda = 0.0;
  if (std::ranges::count(needs.capabilities, Capability::kFactors) > 0) {
    spec.tree = ProblemSpec::Tree::kNone;
    spec.candidates = false;
  }
  spec.loss.kind = needs.loss;
  return spec;
}

/// Data from which little or nothing can be learned.
inline std::vector<ProblemSpec> degenerate_specs() {
  using Tree = ProblemSpec::Tree;
  return {
      {.name = "one instance", .sequences = 1, .seed = 41},
      {.name = "one instance of one position", .sequences = 1, .longest = 1, .lambda = 0.1, .seed = 42},
      {.name = "one document", .sequences = 1, .lambda = 0.1, .seed = 43, .tree = Tree::kFlat},
      {.name = "one label", .labels = 1, .seed = 44},
      {.name = "one class", .labels = 1, .seed = 45, .tree = Tree::kFlat},
      {.name = "no feature ever on", .density = 0.0, .seed = 46},
      {.name = "no feature ever on, tree", .density = 0.0, .seed = 47, .tree = Tree::kNested},
      {.name = "most instances without a feature",
       .sequences = 40,
       .longest = 2,
       .density = 0.01,
       .lambda = 0.1,
       .seed = 48},
      {.name = "most documents without a feature",
       .sequences = 60,
       .density = 0.01,
       .lambda = 0.1,
       .seed = 49,
       .tree = Tree::kNested},
      {.name = "identical instances", .sequences = 20, .identical = true, .seed = 50},
      {.name = "identical documents", .sequences = 20, .identical = true, .seed = 51, .tree = Tree::kNested},
      {.name = "positions that differ in their label alone",
       .features = 3,
       .sequences = 30,
       .density = 1.0,
       .seed = 52},
      {.name = "every feature thrice", .features = 3, .sequences = 20, .collinear = true, .seed = 53},
      {.name = "sequences of length 1", .sequences = 20, .longest = 1, .seed = 54},
      {.name = "groups of one candidate", .labels = 1, .longest = 1, .seed = 55, .candidates = true},
      {.name = "one group", .labels = 1, .sequences = 1, .lambda = 0.1, .seed = 56, .candidates = true},
  };
}

/// A problem with more coordinates and positions than fit into one chunk of any parallel loop over them.
inline ProblemSpec large_spec() {
  return {.name = "large",
          .labels = 5,
          .features = 8000,
          .sequences = 300,
          .longest = 12,
          .density = 0.004,
          .bias = true,
          .seed = 31};
}
inline ProblemSpec large_tree_spec() {
  return {.name = "large tree",
          .labels = 60,
          .features = 1500,
          .sequences = 900,
          .density = 0.01,
          .bias = true,
          .seed = 32,
          .tree = ProblemSpec::Tree::kNested};
}

inline ProblemSpec large_candidates_spec() {
  return {.name = "large candidates",
          .labels = 1,
          .features = 40000,
          .sequences = 900,
          .longest = 20,
          .density = 0.0005,
          .bias = true,
          .seed = 33,
          .candidates = true};
}

}  // namespace proxbench::test
