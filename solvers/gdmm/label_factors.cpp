/// Factors of multi-label data: a binary variable for each label of each instance, and a pair for each two of
/// these variables. The weight of a pair counts if both labels are on (Yen et al. 2016, appendix 7.2).
///
/// Only those of an instance's K*(K - 1)/2 pairs are made that can matter. Any other pair needs no storage:
/// with multipliers of 0, no distribution is better than the one that agrees with its variables and has the
/// least possible weight on "both on".

#include <algorithm>

#include "solvers/gdmm/factors.h"

namespace proxbench {
namespace {

class LabelFactors final : public Factors {
 public:
  LabelFactors(const Objective& objective, const Settings& settings)
      : Factors(objective, 2, objective.outputs(), settings),
        count_(objective.outputs()),
        weights_(objective.map().extra_weights(), 0.0),
        attraction_(count_, 0.0),
        made_(objective.instances() * weights_.size(), false),
        variables_(objective.instances() * count_),
        scores_(padded(count_), 0.0) {
    for (Index i = 0; i < objective.instances(); ++i) {
      const auto gold = objective.oracle().gold_outputs(i);
      for (Index k = 0; k < count_; ++k) add_variable(i, std::ranges::binary_search(gold, k) ? 1 : 0);
    }
    for (Index i = 0; i < objective.instances(); ++i) {
      const auto gold = objective.oracle().gold_outputs(i);
      for (std::size_t a = 0; a < gold.size(); ++a)
        for (std::size_t b = a + 1; b < gold.size(); ++b) make_pair(i, gold[a], gold[b]);
    }
  }

  Vertex search(std::size_t factor, Work&) const override {
    Vertex best{0, gradient(factor, 0)};
    for (Value value = 1; value < (is_pair(factor) ? Value{4} : Value{2}); ++value)
      if (const double g = gradient(factor, value); g < best.gradient) best = {value, g};
    return best;
  }

  /// Makes the pairs whose two labels both have alpha("on") > 0, if w of the pair is positive or if the two
  /// alpha("on") sum to more than 1. Then makes one more: among the labels that could be on, the pair with
  /// the largest w > 0. A label could be on if its score, its cost and all its positive pair weights sum to
  /// more than 0.
  void grow(std::size_t instance) override {
    std::vector<LabelWeight> with_weight;
    labels(static_cast<Index>(instance), with_weight);
    for (std::size_t a = 0; a < with_weight.size(); ++a)
      for (std::size_t b = a + 1; b < with_weight.size(); ++b) {
        const Index left = with_weight[a].label, right = with_weight[b].label;
        if (!made(instance, left, right) &&
            (weights_[pair_index(left, right)] > 0.0 || on(instance, left) + on(instance, right) > 1.0))
          make_pair(instance, left, right);
      }

    std::ranges::fill(scores_, 0.0);
    unary_.add_scores(static_cast<Index>(instance), scores_.data());
    std::vector<Index> possible;
    for (Index k = 0; k < count_; ++k) {
      const std::size_t own = variable(instance, k);
      const double cost = gold(own) == 1 ? -this->cost(own) : this->cost(own);
      if (attraction_[k] > 0.0 && scores_[k] + cost + attraction_[k] > 0.0) possible.push_back(k);
    }
    double best = 0.0;
    Index left = 0, right = 0;
    for (std::size_t a = 0; a < possible.size(); ++a)
      for (std::size_t b = a + 1; b < possible.size(); ++b) {
        const double weight = weights_[pair_index(possible[a], possible[b])];
        if (weight <= best || made(instance, possible[a], possible[b])) continue;
        best = weight;
        left = possible[a];
        right = possible[b];
      }
    if (best > 0.0) make_pair(instance, left, right);
  }

  /// Lists the labels with weight on "on". pairs() clamps the weights of "both on" to the range that these
  /// allow.
  void labels(Index instance, std::vector<LabelWeight>& out) const override {
    out.clear();
    for (Index k = 0; k < count_; ++k)
      if (const double weight = on(instance, k); weight > 0.0) out.push_back({k, std::min(weight, 1.0)});
  }

  void pairs(Index instance, std::vector<PairWeight>& out) const override {
    std::vector<LabelWeight> listed;
    labels(instance, listed);
    const auto made = factors_of(instance).subspan(count_);
    out.clear();
    for (std::size_t a = 0; a < listed.size(); ++a)
      for (std::size_t b = a + 1; b < listed.size(); ++b) {
        const auto pair = std::ranges::find_if(made, [&](std::size_t f) {
          const Ends& ends = ends_[f - variables_];
          return ends.left == listed[a].label && ends.right == listed[b].label;
        });
        const double least = std::max(0.0, listed[a].weight + listed[b].weight - 1.0);
        const double both = std::clamp(pair == made.end() ? 0.0 : weight_of(*pair, kBothOn), least,
                                       std::max(least, std::min(listed[a].weight, listed[b].weight)));
        if (both > 0.0) out.push_back({listed[a].label, listed[b].label, both});
      }
  }

 private:
  static constexpr Value kBothOn = 3;
  struct Ends {
    Index left, right;
  };

  double score(std::size_t factor, Value value) const override {
    if (is_pair(factor)) {
      const Ends& ends = ends_[factor - variables_];
      return value == kBothOn ? weights_[pair_index(ends.left, ends.right)] : 0.0;
    }
    return value == 1 ? unary_.score(position_of(factor), static_cast<Index>(factor % count_)) : 0.0;
  }

  void add_features(std::size_t factor, Value value, double step) override {
    if (!is_pair(factor)) {
      if (value == 1) unary_.add_features(position_of(factor), static_cast<Index>(factor % count_), step);
      return;
    }
    if (value != kBothOn) return;
    const Ends& ends = ends_[factor - variables_];
    double& weight = weights_[pair_index(ends.left, ends.right)];
    const double change = std::max(weight + step, 0.0) - std::max(weight, 0.0);
    weight += step;
    attraction_[ends.left] += change;
    attraction_[ends.right] += change;
  }

  std::span<const double> pair_weights() const override { return weights_; }

  /// The weight of a value in alpha_f.
  double weight_of(std::size_t factor, Value value) const {
    const auto atom = std::ranges::find(active(factor), value, &Atom::value);
    return atom == active(factor).end() ? 0.0 : atom->weight;
  }

  /// The weight of the value "on" of a label.
  double on(std::size_t instance, Index label) const { return weight_of(variable(instance, label), 1); }
  std::size_t variable(std::size_t instance, Index label) const { return instance * count_ + label; }
  std::size_t pair_index(Index left, Index right) const { return label_pair(count_, left, right); }
  bool made(std::size_t instance, Index left, Index right) const {
    return made_[instance * weights_.size() + pair_index(left, right)];
  }

  /// Makes the factor of a pair of labels. Its first distribution has the marginals of the two labels.
  void make_pair(std::size_t instance, Index left, Index right) {
    made_[instance * weights_.size() + pair_index(left, right)] = true;
    ends_.push_back({left, right});
    const std::size_t pair = add_pair(instance, variable(instance, left), variable(instance, right));
    const double a = on(instance, left), b = on(instance, right), both = std::max(0.0, a + b - 1.0);
    const double weight[] = {1.0 - a - b + both, b - both, a - both, both};
    for (Value value = 0; value < 4; ++value)
      shift(pair, value, weight[value] - (value == gold(pair) ? 1.0 : 0.0));
  }

  Index count_;                     ///< of labels
  std::vector<double> weights_;     ///< of pairs, row-major above the diagonal
  std::vector<double> attraction_;  ///< by label: the sum of its pairs' positive weights
  std::vector<bool> made_;          ///< by instance and pair
  std::vector<Ends> ends_;          ///< of pair factors, from the first on
  std::size_t variables_;
  AlignedVector<double> scores_;
};

}  // namespace

std::unique_ptr<Factors> make_label_factors(const Objective& objective, const Factors::Settings& settings) {
  return std::make_unique<LabelFactors>(objective, settings);
}

}  // namespace proxbench
