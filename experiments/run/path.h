#pragma once
/// Regularisation paths: the optima of one data set for a sequence of penalties. Either lambda or mu descends
/// from its largest value. Each solve starts at the optimum of the previous one.
///
/// On a path over mu the solver sees all coordinates. On a path over lambda it sees only candidates, which
/// the sequential strong rule selects (Tibshirani et al. 2012, Strong rules for discarding predictors in
/// lasso-type problems, section 7). For lambda_{k+1} these are the support of w_k and the coordinates with
/// |g_j(w_k)| >= 2*lambda_{k+1} - lambda_k, where g is the gradient of l. The rule can be wrong. So one full
/// gradient follows each solve: coordinates that violate the optimality conditions become candidates, and the
/// problem is solved again until none is left. The rule for the next lambda uses the same gradient, and so
/// does the certificate of the point. The gradient is exact on the support and where it exceeds the next
/// lambda. The smaller values that only the rule reads may be in single precision.

#include <span>

#include "core/monitor/monitor.h"
#include "experiments/results/fields.h"
#include "experiments/run/training.h"

namespace proxbench {

/// The smallest lambda at which w = 0 is optimal: the max norm of the gradient of l at w = 0. Costs one
/// inference and one full gradient.
double lambda_max(const LoadedData& data, const Loss& loss);

/// The result of an earlier path at its last penalty, which is above the first penalty of the path that
/// starts here.
struct PathStart {
  SparseVector w;  ///< in the coordinates of all features; w = 0: no start
  double lambda = 0.0;
};

/// Solves for all penalties. There must be at least one. Along the path either lambda or mu descends
/// strictly, and the other one is constant. The function ignores lambda, mu and objective_target of
/// `settings`. time_limit bounds the whole path; a point that it interrupts is not among the points.
///
/// The returned status is kConverged if every penalty is done and every kkt reached its target. It is
/// kGapReached if every kkt or gap reached its target. Otherwise it is the status of the limit or signal that
/// stopped the path, or of a point that missed its target. Figures and w belong to the last point. Costs are
/// totals over all points. The trace covers all solves on one clock; its objective is F with the current
/// penalty. Samples count time and passes from the start of the path.
///
/// The target for kkt at each point is
///
///     tol * max(kkt at w = 0, lambda),    where kkt at w = 0 is max(lambda_max - lambda, 0).
///
/// The second term matters if lambda is so near to lambda_max that the first is almost 0. From lambda_max/2
/// down, the target is the same as for a single solve at that lambda. With a gap target, a point is also done
/// once its relative gap is proven. Proofs cover all coordinates, whatever the solver sees, so such a point
/// is not solved again if the strong rule was wrong.
///
/// The clock counts the solves (as their monitors count them), the strong rule, the check of the conditions,
/// and the construction of objectives. It does not count samples, dual bounds (not even those for a gap
/// target), audits of the states that solvers leave (KnownStart), or lambda_max. Solvers that are not `exact`
/// see all coordinates. Throws the same errors as train().
RunOutcome train_path(const LoadedData& data, const RunParameters& settings,
                      std::span<const Penalty> penalties, const RunHooks& hooks = {},
                      const PathStart& start = {});

}  // namespace proxbench
