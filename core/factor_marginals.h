#pragma once
/// Sparse marginals of the factors of structures, as a dual point keeps them, and checks of them.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

struct LabelWeight {
  Index label;
  double weight;
};
struct PairWeight {
  Index left, right;
  double weight;
};

/// The extra weight of two labels, left < right: row-major above the diagonal.
inline std::size_t label_pair(std::size_t labels, std::size_t left, std::size_t right) {
  return left * labels - left * (left + 1) / 2 + (right - left - 1);
}

/// Marginals that should agree, and weights that should sum to 1, may be off by this much.
inline constexpr double kBeliefTolerance = 1e-9;

class FactorMarginals {
 public:
  virtual ~FactorMarginals() = default;
  /// Fills `out` with the labels of a position that have weight, each at most once: with their distribution,
  /// or, if each output is a variable of its own, with the weights of "on", and the labels ascend. Several
  /// threads may call this and pairs() at once.
  virtual void labels(Index position, std::vector<LabelWeight>& out) const = 0;
  /// Fills `out` with the pairs of labels at this position and the next one of its instance; or, if each
  /// output is a variable of its own, with pairs left < right of labels that labels() lists, each pair once,
  /// with the weight of both being on. Pairs that are not listed have weight 0.
  virtual void pairs(Index position, std::vector<PairWeight>& out) const = 0;
};

/// How exact the expectation of a dual point is, in units of 2^-53.
struct MarginalErrors {
  double marginal = 0.0;   ///< the relative error of an expected output at a position
  double additions = 0.0;  ///< those of a chunk to one of its sums over instances
  double conjugate = 0.0;  ///< the sum over instances of the errors of their parts of D
};

/// Where expected outputs are added: row p at rows + p*width has a number for each output.
struct ExpectedFeatures {
  double* rows;
  std::size_t width;
  double* extra;  ///< a number for each extra weight
};

/// Writes x with six significant digits.
std::string six_digits(double x);

/// Adds the expected outputs and extra weights of instances under given marginals. For one thread.
class MarginalAdder {
 public:
  virtual ~MarginalAdder() = default;
  /// Adds those of an instance and returns its expected cost. Marginals that are off by at most
  /// kBeliefTolerance are first moved to those of a distribution (or of the relaxation). Throws Error, with
  /// the position and what was found there, if they are off by more. `errors` may have those of other
  /// instances: raises `marginal` and adds to the others.
  virtual double add(Index instance, MarginalErrors& errors) = 0;
};

}  // namespace proxbench
