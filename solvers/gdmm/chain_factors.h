#pragma once
/// Factors of linear chains: a variable for each position, the factor of that number, and a pair for each two
/// neighbours, which share K*K weights.

#include <memory>

#include "core/objective.h"
#include "solvers/gdmm/factors.h"

namespace proxbench {

class ChainFactors final : public Factors {
 public:
  /// The objective, one of a chain with a hinge loss, is borrowed.
  ChainFactors(const Objective& objective, const Settings& settings);

  Vertex search(std::size_t factor, Work& work) const override;
  SparseVector weights() const override;
  /// The weights of positions as they are, those of pairs rounded onto them.
  void labels(Index position, std::vector<LabelWeight>& out) const override;
  void pairs(Index position, std::vector<PairWeight>& out) const override;

 protected:
  double score(std::size_t factor, Value value) const override;
  double cost(std::size_t variable) const override { return cost_[variable]; }
  void add_features(std::size_t factor, Value value, double step) override;
  double feature_curvature(std::size_t factor) const override;

 private:
  bool pairs_by_force_;
  IndexedWeights unary_;
  PairWeights pairs_;
  std::vector<double> cost_;          ///< of a wrong label, by position
  std::vector<double> squared_norm_;  ///< of a position's features
  std::vector<std::size_t> pair_of_;  ///< by its left position
};

}  // namespace proxbench
