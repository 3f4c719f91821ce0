/// Factors of linear chains: a variable for each position, and a pair for each two neighbouring positions.
/// The number of a variable's factor is that of its position. All pairs share K*K weights.

#include <algorithm>

#include "solvers/gdmm/factors.h"
#include "solvers/gdmm/rounding.h"

namespace proxbench {
namespace {

/// Up to this many labels, looking at all pairs with vector instructions is faster than keeping weights
/// sorted.
constexpr Index kFewLabels = 64;

class ChainFactors final : public Factors {
 public:
  ChainFactors(const Objective& objective, const Settings& settings)
      : Factors(objective, objective.outputs(), 1, settings),
        pairs_by_force_(settings.search == Settings::Search::kBrute ||
                        (settings.search == Settings::Search::kAuto && objective.outputs() <= kFewLabels)),
        pairs_(objective.outputs(), !pairs_by_force_),
        pair_of_(objective.oracle().positions(), 0) {
    for (std::size_t i = 0; i < instances(); ++i)
      for (const Index p : objective.oracle().positions_of(i))
        add_variable(i, objective.oracle().gold_outputs(p).front());
    for (std::size_t i = 0; i < instances(); ++i)
      for (Index p = objective.oracle().begin()[i] + 1; p < objective.oracle().begin()[i + 1]; ++p)
        pair_of_[p - 1] = add_pair(i, p - 1, p);
  }

  Vertex search(std::size_t factor, Work& work) const override {
    const Factor& f = factors_[factor];
    if (f.pair) {
      collect(edges_[f.edges[0]], -settings_.rho, work.left);
      collect(edges_[f.edges[1]], -settings_.rho, work.right);
      const PairChoice best = pairs_by_force_ ? best_pair_by_force(pairs_, work.left, work.right)
                                              : best_pair(pairs_, work.left, work.right);
      return {Value{best.left} * labels_ + best.right, -best.value};
    }
    collect_all(f, settings_.rho, work.left);
    const auto position = static_cast<Index>(factor);
    const auto gold = static_cast<Index>(f.gold);
    const LabelChoice best = settings_.search == Settings::Search::kBrute
                                 ? work.search.best_by_force(unary_, position, gold, cost(factor), work.left)
                                 : work.search.best(unary_, position, gold, cost(factor), work.left);
    return {best.label, -best.value};
  }

  /// The weights of positions are marginals as they are. pairs() rounds the weights of pairs onto them.
  void labels(Index position, std::vector<LabelWeight>& out) const override {
    out.clear();
    double sum = 0.0;
    for (const Atom& atom : active(position)) {
      out.push_back({static_cast<Index>(atom.value), std::max(atom.weight, 0.0)});
      sum += out.back().weight;
    }
    for (LabelWeight& one : out) one.weight /= sum;  // removes the rounding of many steps
  }

  void pairs(Index position, std::vector<PairWeight>& out) const override {
    std::vector<LabelWeight> left, right;
    labels(position, left);
    labels(position + 1, right);
    out.clear();
    for (const Atom& atom : active(pair_of_[position]))
      out.push_back({left_of(atom.value), right_of(atom.value), std::max(atom.weight, 0.0)});
    round_onto(left, right, out);
  }

 private:
  double score(std::size_t factor, Value value) const override {
    return factors_[factor].pair ? pairs_.values()[value]
                                 : unary_.score(static_cast<Index>(factor), static_cast<Index>(value));
  }

  void add_features(std::size_t factor, Value value, double step) override {
    if (factors_[factor].pair)
      pairs_.add(left_of(value), right_of(value), step);
    else
      unary_.add_features(static_cast<Index>(factor), static_cast<Index>(value), step);
  }

  std::span<const double> pair_weights() const override { return pairs_.values(); }

  bool pairs_by_force_;
  PairWeights pairs_;
  std::vector<std::size_t> pair_of_;  ///< by the left position
};

}  // namespace

std::unique_ptr<Factors> make_chain_factors(const Objective& objective, const Factors::Settings& settings) {
  return std::make_unique<ChainFactors>(objective, settings);
}

}  // namespace proxbench
