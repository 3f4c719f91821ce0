#include "solvers/gdmm/chain_factors.h"

#include <algorithm>

#include "solvers/gdmm/rounding.h"

namespace proxbench {
namespace {

/// Up to so many labels, vectors look at all pairs sooner than trees of sorted weights are kept in order.
constexpr Index kFewLabels = 64;

}  // namespace

ChainFactors::ChainFactors(const Objective& objective, const Settings& settings)
    : Factors(objective.instances(), objective.outputs(), settings),
      pairs_by_force_(settings.search == Settings::Search::kBrute ||
                      (settings.search == Settings::Search::kAuto && objective.outputs() <= kFewLabels)),
      unary_(objective.x(), objective.outputs()),
      pairs_(objective.outputs(), !pairs_by_force_),
      pair_of_(objective.structure().positions(), 0) {
  const auto begin = objective.structure().begin();
  const bool mean = objective.loss().cost == Cost::kHammingMean;
  for (std::size_t i = 0; i < instances(); ++i)
    for (Index p = begin[i]; p < begin[i + 1]; ++p) {
      add_variable(i, objective.structure().gold_outputs(p).front());
      cost_.push_back(mean ? 1.0 / static_cast<double>(objective.structure().length(static_cast<Index>(i)))
                           : 1.0);
      squared_norm_.push_back(unary_.squared_norm(p));
    }
  for (std::size_t i = 0; i < instances(); ++i)
    for (Index p = begin[i]; p + 1 < begin[i + 1]; ++p) pair_of_[p] = add_pair(i, p, p + std::size_t{1});
}

Factors::Vertex ChainFactors::search(std::size_t factor, Work& work) const {
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
                               ? work.search.best_by_force(unary_, position, gold, cost_[factor], work.left)
                               : work.search.best(unary_, position, gold, cost_[factor], work.left);
  return {best.label, -best.value};
}

double ChainFactors::score(std::size_t factor, Value value) const {
  return factors_[factor].pair ? pairs_.values()[value]
                               : unary_.score(static_cast<Index>(factor), static_cast<Index>(value));
}

void ChainFactors::add_features(std::size_t factor, Value value, double step) {
  if (factors_[factor].pair)
    pairs_.add(static_cast<Index>(value / labels_), static_cast<Index>(value % labels_), step);
  else
    unary_.add(static_cast<Index>(factor), static_cast<Index>(value), step);
}

double ChainFactors::feature_curvature(std::size_t factor) const {
  return (factors_[factor].pair ? 1.0 : squared_norm_[factor]) / settings_.mu;
}

void ChainFactors::labels(Index position, std::vector<LabelWeight>& out) const {
  out.clear();
  double sum = 0.0;
  for (const Atom& atom : active(position)) {
    out.push_back({static_cast<Index>(atom.value), std::max(atom.weight, 0.0)});
    sum += out.back().weight;
  }
  for (LabelWeight& one : out) one.weight /= sum;  // rounding of many steps
}

void ChainFactors::pairs(Index position, std::vector<PairWeight>& out) const {
  std::vector<LabelWeight> left, right;
  labels(position, left);
  labels(position + 1, right);
  out.clear();
  for (const Atom& atom : active(pair_of_[position]))
    out.push_back({static_cast<Index>(atom.value / labels_), static_cast<Index>(atom.value % labels_),
                   std::max(atom.weight, 0.0)});
  round_onto(left, right, out);
}

SparseVector ChainFactors::weights() const {
  SparseVector out = unary_.nonzeros();
  const Coord first = static_cast<Coord>(unary_.x().features()) * labels_;
  for (std::size_t c = 0; c < pairs_.values().size(); ++c)
    if (pairs_.values()[c] != 0.0) out.push_back(first + c, pairs_.values()[c]);
  return out;
}

}  // namespace proxbench
