#pragma once
/// Factors of multi-label data: a binary variable for each label of each instance, a pair for each two of
/// them, whose weight counts where both are on (Yen et al. 2016, appendix 7.2).
///
/// Of the K*(K - 1)/2 pairs of an instance only those are made that can matter. Of any other, the
/// distribution that agrees with its variables and has as little weight on "both on" as that allows is as
/// good as any other, with multipliers of 0: it is not stored.

#include "core/objective.h"
#include "solvers/gdmm/factors.h"

namespace proxbench {

class LabelFactors final : public Factors {
 public:
  /// The objective, one of multi-label data with a hinge loss, is borrowed.
  LabelFactors(const Objective& objective, const Settings& settings);

  Vertex search(std::size_t factor, Work& work) const override;
  /// Makes the pairs of labels that both have weight where they attract each other or cannot both have it
  /// without being on together, and one more: the most attracting of those that could be on by what all
  /// others add at most.
  void grow(std::size_t instance) override;
  SparseVector weights() const override;
  /// The labels that have weight on "on"; the weights of "both on" moved into what they allow.
  void labels(Index instance, std::vector<LabelWeight>& out) const override;
  void pairs(Index instance, std::vector<PairWeight>& out) const override;

 protected:
  double score(std::size_t factor, Value value) const override;
  double cost(std::size_t) const override { return cost_; }
  void add_features(std::size_t factor, Value value, double step) override;
  double feature_curvature(std::size_t factor) const override;

 private:
  static constexpr Value kBothOn = 3;
  /// alpha of a value.
  double weight_of(std::size_t factor, Value value) const;
  /// The weight of "on" of a label.
  double on(std::size_t instance, Index label) const { return weight_of(variable(instance, label), 1); }
  std::size_t variable(std::size_t instance, Index label) const { return instance * count_ + label; }
  std::size_t pair_index(Index left, Index right) const {
    return left * std::size_t{count_} - std::size_t{left} * (left + 1) / 2 + (right - left - 1);
  }
  bool made(std::size_t instance, Index left, Index right) const {
    return made_[instance * weights_.size() + pair_index(left, right)];
  }
  void make_pair(std::size_t instance, Index left, Index right);

  Index count_;  ///< of labels
  double cost_;
  IndexedWeights unary_;
  std::vector<double> weights_;     ///< of pairs, row-major above the diagonal
  std::vector<double> attraction_;  ///< by label: the sum of its pairs' positive weights
  std::vector<double> squared_norm_;
  std::vector<bool> made_;  ///< by instance and pair
  struct Ends {
    Index left, right;
  };
  std::vector<Ends> ends_;  ///< of pair factors, from the first on
  std::size_t variables_;
  AlignedVector<double> scores_;
};

}  // namespace proxbench
