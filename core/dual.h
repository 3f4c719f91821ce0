#pragma once
/// Lower bounds on min F from one full gradient, and what they prove about single coordinates.
///
/// The loss is a sum of log-partitions, A_i(S_i) = max over distributions alpha_i of E[score] + H(alpha_i).
/// So with g(alpha) = sum_i (expected features under alpha_i - features of the gold structure), for mu = 0
///
///     min F = max { D(alpha) = sum_i H(alpha_i) : ||g(alpha)||_inf <= lambda },
///
/// and for mu > 0 there is no constraint, but D(alpha) = sum_i H(alpha_i) - sum_j max(|g_j| - lambda, 0)^2 /
/// (2*mu). Any distributions give a bound. Taken are alpha_i = (1 - t)*(all mass on gold) + t*p_i, p_i the
/// model's at some w, whose g(alpha) is t times the gradient of l at w. For mu = 0, t = min(1,
/// lambda/||g||_inf); for mu > 0, the t in [0, 1] with the largest D, which is concave in t. With lambda = 0
/// and t = 1 the gap is exactly ||grad F||^2 / (2*mu) (Le Priol et al. 2018, equation 8). H(alpha_i) has a
/// closed form in log p_i(gold) and H(p_i) alone, for every structure.
///
/// The hinge loss is the maximum of E[cost + score] over alpha_i, so D(alpha) has sum_i E[cost] in place of
/// the entropies. Taken are alpha_i = (1 - t)*(all mass on gold) + t*(all mass on the loss-augmented best
/// structure at w); that t*sum_i cost is far below min F unless w separates the instances: a solver's own
/// alpha bounds it well.
///
/// How tight that is: with mu = 0 the gap is about ||w||_1 times the largest violation of the constraint, so
/// it falls as fast as kkt does, and not as fast as F: a point that certifies a gap must be nearer to the
/// optimum than one that only has it.
///
/// For the log loss, F(w) - D(alpha) is summed up as it stands, a sum of terms that are at least 0:
///
///     sum_i KL(alpha_i || p_i) + sum_j [lambda*|w_j| + (mu/2)*w_j^2 + g_j*w_j + max(|g_j| - lambda,
///     0)^2/(2*mu)],
///
/// g = g(alpha). So it keeps its digits where F and D agree in nearly all of theirs. What rounding may have
/// taken away is then added (core/rounding.h). The bound is F less all that: never above F, and never above
/// min F.

#include <limits>
#include <vector>

#include "core/base/types.h"
#include "core/objective.h"

namespace proxbench {

/// A dual point and its value, a lower bound on min F: what rounding may add to it has been taken off.
struct DualBound {
  double value = 0.0;
  double scale = 1.0;  ///< t
};

/// What one inference with a gradient says of a point.
struct PointBound {
  double loss, objective;  ///< l and F
  double rounding;         ///< of F (objective_rounding())
  /// With a threshold of lambda where both penalties are there, a bit less for l1 alone, infinite for l2
  /// alone.
  Objective::Selection selection;
  DualBound bound;  ///< 0 where the one found is not finite
};

/// The lower bound that the model at w gives, from its scores. Fills `residual`. Costs two inferences, of a
/// hinge loss one, of which passes() counts one at most, and about as much as two full gradients. If the
/// objective is restricted, this bounds F over its candidates; that is a bound on F if all other weights are
/// proven to be zero. Throws Error if a gold output is unknown.
PointBound bound_at(Objective& objective, const SparseVector& w, const Scores& scores, Residual& residual);

/// A dual point that a solver keeps: a distribution over the structures of each instance. Of what it holds
/// the audit here takes the distributions alone.
class DualPoint {
 public:
  virtual ~DualPoint() = default;
  /// D(alpha), a lower bound on min F, less what rounding may have added. Throws Error where alpha is no
  /// distribution within rounding. For mu > 0.
  virtual double value(const Objective& objective) const = 0;
  /// What the solver takes F(w(alpha)) - D(alpha) for; NaN: it has no estimate.
  virtual double estimated_gap() const { return std::numeric_limits<double>::quiet_NaN(); }
  /// How far the solver's own variables are from such distributions, ||M alpha|| of its consistency
  /// constraints; NaN: they are distributions.
  virtual double infeasibility() const { return std::numeric_limits<double>::quiet_NaN(); }
};

/// By how much marginals, or weights that should sum to 1, may fail.
inline constexpr double kBeliefTolerance = 1e-9;

/// As beliefs (BeliefOracle), for the log loss.
class BeliefPoint : public DualPoint {
 public:
  /// Writes the instance's beliefs, BeliefOracle::belief_size() logarithms. `oracle` is the reader's, for
  /// what takes inference. Several threads may call it at once.
  virtual void beliefs(const BeliefOracle& oracle, Index instance, double* log_beliefs) const = 0;
  /// Entropies and expected features are found here, of the distributions that
  /// BeliefOracle::make_consistent() makes of the beliefs. Throws Error where the beliefs fail to be
  /// marginals by more than kBeliefTolerance. Takes a row of K numbers a position.
  double value(const Objective& objective) const final;
};

/// As structures with weights, for the hinge loss.
class StructurePoint : public DualPoint {
 public:
  struct Mixture {
    std::vector<double> weight;
    std::vector<Index> outputs;  ///< one structure (InstanceMaxOracle) after the other
  };
  /// Fills `out` with the instance's. Several threads may call it at once.
  virtual void mixture(Index instance, Mixture& out) const = 0;
  /// Costs and features are found here. Throws Error where a structure is none, a weight is below 0, or their
  /// sum is not 1 within kBeliefTolerance. For oracles with 'max of one instance'. Takes a row of K numbers a
  /// position.
  double value(const Objective& objective) const final;
};

struct LabelWeight {
  Index label;
  double weight;
};
struct PairWeight {
  Index left, right;
  double weight;
};

/// As sparse marginals of factors (FactorOracle), for the hinge loss. On chains they are those of
/// distributions over structures; of label sets those of the relaxation, whose F they bound.
class MarginalPoint : public DualPoint {
 public:
  /// Fills `out` with the labels of a position that have weight: on chains they sum to 1, of label sets each
  /// is the weight of "on", and they ascend. No label stands twice. Several threads may call it at once,
  /// pairs() too.
  virtual void labels(Index position, std::vector<LabelWeight>& out) const = 0;
  /// On chains the pairs of labels at this position and the next of its instance; of label sets the pairs,
  /// left < right, that are both on, of labels that labels() lists, each once. Those not listed have none.
  virtual void pairs(Index position, std::vector<PairWeight>& out) const = 0;
  /// Costs and features are found here. Throws Error, with the position and what was found there, where lists
  /// are not as above, weights are none of a distribution, or pairs do not agree with their labels, by more
  /// than kBeliefTolerance. Takes a row of K numbers a position.
  double value(const Objective& objective) const final;
};

}  // namespace proxbench
