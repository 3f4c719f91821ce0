#pragma once
/// Lower bounds on min F from one full gradient.
///
/// The loss is a sum of log-partitions, A_i(S_i) = max over distributions alpha_i of E[score] + H(alpha_i).
/// Let g(alpha) = sum_i (expected features under alpha_i - features of the gold structure). Then for mu = 0
///
///     min F = max { D(alpha) = sum_i H(alpha_i) : ||g(alpha)||_inf <= lambda }.
///
/// For mu > 0 there is no constraint, but D(alpha) = sum_i H(alpha_i) - sum_j max(|g_j| - lambda, 0)^2 /
/// (2*mu). Any distributions give a bound. We take alpha_i = (1 - t)*(all mass on gold) + t*p_i, where p_i is
/// the model's distribution at some w, so that g(alpha) is t times the gradient of l at w. For mu = 0, t =
/// min(1, lambda/||g||_inf). For mu > 0, t is the point of [0, 1] with the largest D, which is concave in t.
/// With lambda = 0 and t = 1 the gap is exactly ||grad F||^2 / (2*mu) (Le Priol et al. 2018, equation 8). For
/// every structure, H(alpha_i) has a closed form in log p_i(gold) and H(p_i).
///
/// The hinge loss is the maximum of E[cost + score] over alpha_i, so D(alpha) has sum_i E[cost] in place of
/// the entropies. Here we take alpha_i = (1 - t)*(all mass on gold) + t*(all mass on the loss-augmented best
/// structure at w). Its t*sum_i cost is far below min F unless w separates the instances. The alpha that a
/// solver keeps gives a much better bound.
///
/// How tight is the bound? With mu = 0 the gap is about ||w||_1 times the largest violation of the
/// constraint. So it falls as fast as kkt, but not as fast as F: a point that certifies a gap must be nearer
/// to the optimum than one whose F has that gap.
///
/// For the log loss, F(w) - D(alpha) is not computed as a difference but as a sum of terms that are at least
/// 0, with g = g(alpha):
///
///     sum_i KL(alpha_i || p_i)
///       + sum_j [lambda*|w_j| + (mu/2)*w_j^2 + g_j*w_j + max(|g_j| - lambda, 0)^2/(2*mu)].
///
/// So the gap keeps its digits even if F and D agree in nearly all of theirs. A bound on the rounding is then
/// added (core/certificates/rounding.h). The lower bound is F minus this total: it is never above F, and
/// never above min F.
///
/// Rounding makes the residual that of a distribution q_i beside p_i (core/oracle.h, InferenceRounding). That
/// is harmless: alpha_i is then made of q_i, whose g is known up to GradientRounding, and KL(alpha_i || p_i)
/// has room for the difference.

#include "core/certificates/certificate.h"
#include "core/objective.h"

namespace proxbench {

/// What one inference with a gradient reveals about a point.
struct PointBound : Certificate {
  /// Made with the threshold lambda if lambda and mu > 0, slightly less than lambda if mu = 0, and infinity
  /// if lambda = 0.
  Objective::Selection selection;
  double scale = 0.0;  ///< t above
};

/// Computes the lower bound that the model at w gives, from the scores of w. Fills `residual`. Costs two
/// inferences (one for a hinge loss) and about as much as two full gradients. passes() counts at most one of
/// the inferences. If the objective is restricted, this bounds F over its candidates, which is a bound on F
/// if all other weights are proven to be zero. Throws Error if a gold output is unknown.
PointBound bound_at(Objective& objective, const SparseVector& w, const Scores& scores, Residual& residual);

}  // namespace proxbench
