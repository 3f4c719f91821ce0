#pragma once

#include <string>

#include "core/oracle.h"

namespace proxbench {

/// What the marginals of all structures share: checks of single weights, and sums of expected outputs.
class CheckedMarginals : public MarginalAdder {
 public:
  /// All but the cost are borrowed.
  CheckedMarginals(const Structure& structure, const FactorMarginals& given, Cost cost,
                   const ExpectedFeatures& expected)
      : structure_(structure),
        given_(given),
        expected_(expected),
        outputs_(structure.outputs()),
        mean_(cost == Cost::kHammingMean) {}

 protected:
  void check(Index position, const LabelWeight& one) const;
  void check(Index position, const PairWeight& pair) const;
  static std::string text(const LabelWeight& one);
  static std::string text(const PairWeight& pair);
  /// Throws Error.
  [[noreturn]] static void refuse(Index position, const std::string& found);
  void add_label(Index p, const LabelWeight& one) {
    expected_.rows[p * expected_.width + one.label] += one.weight;
  }

  const Structure& structure_;
  const FactorMarginals& given_;
  const ExpectedFeatures expected_;
  const Index outputs_;
  const bool mean_;  ///< costs are shares
};

/// FactorOracle::marginal_adder() of label sets. An instance is one position. It has a binary variable for
/// each output, and a pair for each two outputs. The extra weight of a pair (label_pair()) counts if both
/// outputs are on.
std::unique_ptr<MarginalAdder> label_marginals(const Structure& structure, const FactorMarginals& given,
                                               Cost cost, const ExpectedFeatures& expected);

}  // namespace proxbench
