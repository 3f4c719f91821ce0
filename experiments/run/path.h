#pragma once
/// Regularisation paths: the optima of one data set for many penalties, over lambda or over mu from the
/// largest down, each solve starting where the one before ended.
///
/// On a path over mu the solver sees all coordinates. On one over lambda, at lambda_{k+1} the solver sees
/// candidates only, by the sequential strong rule (Tibshirani et al. 2012, Strong rules for discarding
/// predictors in lasso-type problems, section 7): the coordinates with |g_j(w_k)| >= 2*lambda_{k+1} -
/// lambda_k, g the gradient of l, and the support of w_k. The rule can err, so that each solve is followed by
/// one full gradient: coordinates that violate the optimality conditions become candidates, and it is solved
/// again until there are none. That gradient is the one which the rule needs for the next lambda, and it
/// certifies the point: exact where it exceeds the next lambda and on the support; what the rule looks at
/// below may be in single precision.

#include <functional>
#include <span>
#include <vector>

#include "core/monitor.h"
#include "experiments/results/fields.h"
#include "experiments/run/trainer.h"

namespace proxbench {

/// The smallest lambda at which w = 0 is optimal: the max norm of the gradient of l at w = 0. One inference
/// and one full gradient.
double lambda_max(const LoadedData& data, const Loss& loss);

/// What the caller wants to hear of while a path is going on; samples count times and passes since it began.
struct PathHooks : RunHooks {
  /// Off the clock, once a point is done; w in the coordinates of all features.
  std::function<void(const PathPoint&, const SparseVector& w)> on_point;
};

/// The status is converged where every penalty is done and every kkt reached its target, gap-reached where
/// every kkt or gap did; else what stopped the path or kept a point from its target. Figures are those of the
/// last point, costs those of all, w is of the last point, and the trace is of all solves, on one clock; its
/// objective is that of the penalty at hand.
struct PathOutcome : RunOutcome {
  std::vector<PathPoint> points;  ///< those that were done
};

/// Where a path goes on: what an earlier one found at its last penalty, above the first of this one.
struct PathStart {
  SparseVector w;  ///< in the coordinates of all features; 0 is no start
  double lambda = 0.0;
};

/// Solves for all penalties: at least one, each with a smaller lambda or a smaller mu than the one before,
/// and the other of the two the same along the path. Of `settings`, lambda, mu and objective_target mean
/// nothing here, and time_limit bounds the whole path; a point that it cuts short is not among the points. At
/// each point kkt is to come down to
///
///     tol * max(kkt at w = 0, lambda),    kkt at w = 0 being max(lambda_max - lambda, 0),
///
/// the second for lambdas so near to lambda_max that the first is next to nothing: down from lambda_max/2 it
/// is what a solve of that lambda by itself has to reach. With a gap target, a point is done as well once its
/// relative gap is proven; proofs are over all coordinates, whatever the solver is shown, so that such a
/// point is not solved again where the strong rule erred.
///
/// On the clock are the solves (as their monitors count them), the strong rule and the check of the
/// conditions, and the objectives; not the samples, the dual bounds (those that a gap target asks for
/// included), the audits of what solvers leave (KnownStart), and lambda_max. Solvers that are not
/// `exact` are shown all coordinates. Throws what train() throws.
PathOutcome train_path(const LoadedData& data, const RunParameters& settings,
                       std::span<const Penalty> penalties, const PathHooks& hooks = {},
                       const PathStart& start = {});

}  // namespace proxbench
