#pragma once
/// Dual points that solvers keep, and the lower bounds on min F that follow from them (dual.h).

#include <vector>

#include "core/factor_marginals.h"
#include "core/objective.h"

namespace proxbench {

/// A dual point that a solver keeps: a distribution over the structures of each instance. The audit uses only
/// these distributions, and nothing else of the solver.
class DualPoint {
 public:
  virtual ~DualPoint() = default;
  /// D(alpha) minus a bound on its rounding: a lower bound on min F. For mu > 0. Throws Error if alpha is no
  /// distribution within rounding.
  virtual double value(const Objective& objective) const = 0;
  /// The solver's own estimate of F(w(alpha)) - D(alpha); NaN if it has none.
  virtual double estimated_gap() const { return kNaN; }
  /// How far the solver's own variables are from such distributions: ||M alpha|| of its consistency
  /// constraints. NaN if they are distributions.
  virtual double infeasibility() const { return kNaN; }
};

/// A dual point given by beliefs (BeliefOracle), for the log loss.
class BeliefPoint : public DualPoint {
 public:
  /// Writes the beliefs of an instance: BeliefOracle::belief_size() logarithms. A point that needs inference
  /// uses `oracle`, which belongs to the caller. Several threads may call this at once.
  virtual void beliefs(const BeliefOracle& oracle, Index instance, double* log_beliefs) const = 0;
  /// Computes entropies and expected features itself, from the distributions that
  /// BeliefOracle::make_consistent() makes of the beliefs. Throws Error if the beliefs fail to be marginals
  /// by more than kBeliefTolerance. Needs memory for a row of K numbers per position.
  double value(const Objective& objective) const final;
};

/// A dual point given by weighted structures, for the hinge loss.
class StructurePoint : public DualPoint {
 public:
  struct Mixture {
    std::vector<double> weight;
    std::vector<Index> outputs;  ///< the structures (InstanceMaxOracle) one after the other
  };
  /// Fills `out` with the mixture of an instance. Several threads may call this at once.
  virtual void mixture(Index instance, Mixture& out) const = 0;
  /// Computes costs and features itself. Throws Error if something listed is no structure, if a weight is
  /// below 0, or if the weights do not sum to 1 within kBeliefTolerance. For oracles with 'max of one
  /// instance'. Needs memory for a row of K numbers per position.
  double value(const Objective& objective) const final;
};

/// A dual point given by sparse marginals of factors (FactorOracle), for the hinge loss. On chains they are
/// marginals of distributions over structures. For label sets they are marginals of the relaxation, and bound
/// its F.
class MarginalPoint : public DualPoint, public FactorMarginals {
 public:
  /// Computes costs and features itself (FactorOracle::marginal_adder()). Throws Error if the lists are not
  /// as FactorMarginals describes them. Needs memory for a row of K numbers per position.
  double value(const Objective& objective) const final;
};

}  // namespace proxbench
