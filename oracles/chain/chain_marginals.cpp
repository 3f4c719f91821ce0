/// FactorOracle of a chain: one variable with K values for each position, a pair for each two neighbours,
/// whose extra weight is left*K + right.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "oracles/chain/chain.h"
#include "oracles/checked_marginals.h"

namespace proxbench {

namespace {

/// Roundings of a step from one position to the next.
constexpr double kOfStep = 16.0;

class ChainMarginals final : public CheckedMarginals {
 public:
  using CheckedMarginals::CheckedMarginals;

  /// The given marginals may disagree by kBeliefTolerance. So they are replaced by those of a distribution: a
  /// Markov chain that starts from the labels of the first position and moves by the conditional
  /// probabilities of the pairs.
  double add(Index instance, MarginalErrors& errors) override {
    const Index begin = structure_.begin()[instance], end = structure_.begin()[instance + std::size_t{1}];
    double wrong = 0.0;
    std::size_t most = 1;
    given_.labels(begin, next_);
    chain_next_ = next_;
    double total = 0.0;
    for (const LabelWeight& one : chain_next_) total += one.weight;
    for (LabelWeight& one : chain_next_) one.weight /= total;
    for (Index p = begin; p < end; ++p) {
      here_.swap(next_);
      chain_.swap(chain_next_);
      double sum = 0.0;
      for (const LabelWeight& one : here_) {
        check(p, one);
        sum += one.weight;
      }
      if (!(std::abs(sum - 1.0) <= kBeliefTolerance))
        refuse(p, "weights that sum to 1 + " + six_digits(sum - 1.0));
      for (const LabelWeight& one : chain_) {
        add_label(p, one);
        if (one.label != structure_.gold_outputs(p).front()) wrong += one.weight;
      }
      most = std::max(most, chain_.size());
      if (p + 1 == end) break;
      given_.labels(p + 1, next_);
      given_.pairs(p, pairs_);
      for (const PairWeight& pair : pairs_) check(p, pair);
      check_sums(p, p, here_, &PairWeight::left);
      check_sums(p, p + 1, next_, &PairWeight::right);
      move();
      errors.additions += static_cast<double>(pairs_.size());
    }
    const auto length = static_cast<double>(end - begin),
               marginal = length * (2.0 * static_cast<double>(most) + kOfStep);
    errors.marginal = std::max(errors.marginal, marginal);
    errors.additions += 1.0;
    errors.conjugate += (marginal + length * static_cast<double>(most)) * wrong;
    return mean_ ? wrong / length : wrong;
  }

 private:
  /// Moves the chain to the next position and adds its pairs to the expected extra weights. If the pairs of a
  /// label have no weight, the label itself has at most kBeliefTolerance. Its weight then goes to the first
  /// label of the next position.
  void move() {
    chain_next_ = next_;
    for (LabelWeight& one : chain_next_) one.weight = 0.0;
    for (const LabelWeight& from : chain_) {
      double sum = 0.0;
      for (const PairWeight& pair : pairs_)
        if (pair.left == from.label) sum += pair.weight;
      const auto give = [&](Index label, double weight) {
        expected_.extra[std::size_t{from.label} * outputs_ + label] += weight;
        auto to = std::ranges::find(chain_next_, label, &LabelWeight::label);
        if (to == chain_next_.end()) to = chain_next_.insert(to, {label, 0.0});
        to->weight += weight;
      };
      if (!(sum > 0.0)) {
        give(next_.front().label, from.weight);
        continue;
      }
      for (const PairWeight& pair : pairs_)
        if (pair.left == from.label) give(pair.right, from.weight * (pair.weight / sum));
    }
  }
  /// The pairs at p must sum to the weights of the labels at `end_position`, and to 0 for labels without
  /// weight.
  void check_sums(Index p, Index end_position, const std::vector<LabelWeight>& labels,
                  Index PairWeight::*end) {
    left_ = labels;
    for (const PairWeight& pair : pairs_) {
      auto at = std::ranges::find(left_, pair.*end, &LabelWeight::label);
      if (at == left_.end()) at = left_.insert(at, {pair.*end, 0.0});
      at->weight -= pair.weight;
    }
    for (const LabelWeight& one : left_)
      if (!(std::abs(one.weight) <= kBeliefTolerance))
        refuse(p, all_parts("pairs whose sum for label ", one.label, " at position ", end_position,
                            " is off by ", six_digits(-one.weight)));
  }

  std::vector<LabelWeight> here_, next_, left_;  ///< as given
  std::vector<LabelWeight> chain_, chain_next_;  ///< of the Markov chain
  std::vector<PairWeight> pairs_;
};

}  // namespace

std::unique_ptr<MarginalAdder> ChainOracle::marginal_adder(const FactorMarginals& given, Cost cost,
                                                           const ExpectedFeatures& expected) const {
  return std::make_unique<ChainMarginals>(*this, given, cost, expected);
}

}  // namespace proxbench
