#include <algorithm>
#include <vector>

#include "oracles/checked_marginals.h"

namespace proxbench {

namespace {

class LabelMarginals final : public CheckedMarginals {
 public:
  using CheckedMarginals::CheckedMarginals;

  /// Weights and pairs that are outside the local polytope by at most kBeliefTolerance are moved into it.
  double add(Index p, MarginalErrors& errors) override {
    const auto gold = structure_.gold_outputs(p);
    double wrong = static_cast<double>(gold.size());
    given_.labels(p, here_);
    given_.pairs(p, pairs_);
    for (std::size_t a = 0; a < here_.size(); ++a) {
      LabelWeight& one = here_[a];
      check(p, one);
      if (one.weight > 1.0 + kBeliefTolerance) refuse(p, text(one) + ", which is above 1");
      one.weight = std::min(one.weight, 1.0);
      if (a > 0 && here_[a - 1].label >= one.label)
        refuse(p, text(one) + " after " + text(here_[a - 1]) + ", where labels must ascend");
      add_label(p, one);
      wrong += std::ranges::binary_search(gold, one.label) ? -one.weight : one.weight;
    }
    check_label_pairs(p);
    // Visits all pairs of listed labels, in the order that pairs_ now has.
    std::size_t at = 0;
    for (std::size_t a = 0; a < here_.size(); ++a)
      for (std::size_t b = a + 1; b < here_.size(); ++b) {
        const LabelWeight &left = here_[a], &right = here_[b];
        const bool listed =
            at < pairs_.size() && pairs_[at].left == left.label && pairs_[at].right == right.label;
        const double both = listed ? pairs_[at++].weight : 0.0,
                     least = std::max(0.0, left.weight + right.weight - 1.0),
                     most = std::min(left.weight, right.weight);
        if (!(both >= least - kBeliefTolerance && both <= most + kBeliefTolerance))
          refuse(p, text(PairWeight{left.label, right.label, both}) + " beside " + text(left) + " and " +
                        text(right));
        expected_.extra[label_pair(outputs_, left.label, right.label)] +=
            std::clamp(both, std::min(least, most), most);
      }
    errors.marginal = std::max(errors.marginal, 4.0);
    errors.additions += 2.0;
    errors.conjugate +=
        static_cast<double>(here_.size() + gold.size()) * static_cast<double>(here_.size() + gold.size());
    return mean_ ? wrong / static_cast<double>(outputs_) : wrong;
  }

 private:
  /// Sorts pairs_. Each pair must consist of two listed labels in ascending order and may appear only once.
  void check_label_pairs(Index p) {
    std::ranges::sort(pairs_, [](const PairWeight& a, const PairWeight& b) {
      return a.left != b.left ? a.left < b.left : a.right < b.right;
    });
    const auto listed = [&](Index label) {
      return std::ranges::binary_search(here_, label, {}, &LabelWeight::label);
    };
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const PairWeight& pair = pairs_[i];
      check(p, pair);
      if (pair.left >= pair.right) refuse(p, text(pair) + ", where the left label must be the smaller");
      if (!listed(pair.left) || !listed(pair.right)) refuse(p, text(pair) + ", one of which has no weight");
      if (i > 0 && pairs_[i - 1].left == pair.left && pairs_[i - 1].right == pair.right)
        refuse(p, text(pair) + " and " + text(pairs_[i - 1]) + ", where each must stand once");
    }
  }

  std::vector<LabelWeight> here_;
  std::vector<PairWeight> pairs_;
};

}  // namespace

std::unique_ptr<MarginalAdder> label_marginals(const Structure& structure, const FactorMarginals& given,
                                               Cost cost, const ExpectedFeatures& expected) {
  return std::make_unique<LabelMarginals>(structure, given, cost, expected);
}

}  // namespace proxbench
