#pragma once
/// OWL-QN: orthant-wise limited-memory quasi-Newton (Andrew and Gao, "Scalable training of L1-regularized
/// log-linear models", ICML 2007). Minimises
///
///     F(w) = f(w) + lambda*||w||_1,   f(w) = l(w) + (mu/2)*||w||^2   (the paper's ell, and our elastic net),
///
/// by Algorithm 1. With v the negative pseudo-gradient of F (equation 4), xi the orthant of w and v
/// (section 3.1), H the L-BFGS inverse Hessian of f alone:
///
///     p = pi(H v; v)                          coordinates that disagree with v are set to 0 (equation 3)
///     w+ = pi(w + alpha*p; xi)                each trial is projected onto the orthant (section 3.2)
///     F(w+) <= F(w) - gamma * v^T (w+ - w)    for the first alpha = alpha0 * beta^n that satisfies it
///
/// With lambda = 0 there are no orthants: both projections are the identity, and this is L-BFGS.
///
/// What the paper leaves open, or where this differs:
/// - alpha0 is 1, but 1/||v|| before the first pair (s, y), as in the authors' code (the paper: 1; option
///   first_step).
/// - The paper gives no beta and gamma. m is 10 here; its experiments have m = 5 (option memory).
/// - It stops by the change of F (option change), here by kkt unless that is set.
/// - Footnote 7 skips updates with y^T s < omega to keep y^T s/||y||^2 away from 0, after Byrd et al. 1995.
///   Steps shrink to nothing near the optimum, so a fixed omega would skip every update there. As in Byrd
///   et al. we skip when y^T s < omega * ||y||^2, the bound that Theorem 1 needs.
/// - The condition allows for rounding in F (core/quasi_newton/line_search.h). A search that fails is repeated once with
///   H = H_0, the pairs dropped; when that fails too, no decrease is left: stalled.

#include "core/solver.h"

namespace proxbench {

class OwlQn final : public Solver {
 public:
  explicit OwlQn(const Options& options);
  SolveResult solve(const SolveProblem& problem) override;

 private:
  std::size_t memory_;
  int max_linesearch_;
  double beta_, gamma_, omega_;
  bool unit_first_step_;
  std::int64_t patience_;
  double change_;
};

}  // namespace proxbench
