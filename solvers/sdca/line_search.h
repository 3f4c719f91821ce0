#pragma once
/// The line search of SDCA: how far the beliefs of one instance go from mu towards nu, the marginals of the
/// model at some w. With v = -(1/mu) * E_{nu - mu}[features] the dual changes by
///
///     f(gamma) = H(mu + gamma*(nu - mu)) - (mu/2) * ||w + gamma*v||^2
///
/// (Le Priol et al. 2018, equation 20; here times n). It is concave, and needs no more inference. With m = mu
/// + gamma*(nu - mu), sums over cliques with their signs, and nu the model at w itself,
///
///     f'(gamma)  = -sum (nu - mu) * (log m - log nu) - gamma * mu * ||v||^2
///     f''(gamma) = -sum (nu - mu)^2 / m              - mu * ||v||^2
///
/// Where w has moved to w' since nu was found, f' has one more term, -mu * <w' - w, v> ("shift").

#include "core/oracle.h"

namespace proxbench::sdca {

/// One instance's search. Buffers are reused from call to call.
class LineSearch {
 public:
  /// Takes both ends, as logarithms, which must stay where they are. In the place of log mu comes log m,
  /// wherever the search looks last. `size`: BeliefOracle::belief_size().
  void set(const BeliefOracle::Size& size, double* log_mu, const double* log_nu);
  /// nu - mu on the cliques.
  const double* difference() const { return difference_.data(); }
  /// KL(mu || nu) >= 0: the block's duality gap at w.
  double gap() const { return forward_; }

  /// The gamma in [0, 1] that maximises f at w; where it is not at an end and precision > 0, a point with f'
  /// >= 0 near it, so that f has risen. `curvature` = mu * ||v||^2. Ends where a step is shorter than
  /// `precision`; with 0, after one Newton step from 1/2, which may overshoot.
  double maximise(double curvature, double precision);
  /// The same after a move of w, without another walk over the cliques: a Newton step from the gamma0 found
  /// before, where that is certain to raise f. With h(gamma) = -sum (nu - mu)(log m - log nu), f(gamma) -
  /// f(0) is the integral of h up to gamma, less shift*gamma + curvature*gamma^2/2. The integral up to gamma0
  /// is KL(mu || nu) - KL(m || nu). h falls, to 0 at 1, so below gamma0 the integral is at least its share of
  /// that, and above gamma0 at least all of it.
  double corrected(double curvature, double shift) const;
  /// Makes sure that log m is that of this gamma.
  void go_to(double gamma);
  /// Walks over the cliques that took a logarithm of each, since set().
  int evaluations() const { return evaluations_; }

 private:
  /// f' and f'' at gamma, in terms of w; leaves log m there.
  struct Slope {
    double first, second;
  };
  Slope slope(double gamma, double curvature);

  BeliefOracle::Size size_{};
  double* log_m_ = nullptr;
  const double* log_nu_ = nullptr;
  AlignedVector<double> p_, difference_;
  double forward_ = 0.0, backward_ = 0.0;
  double gamma_ = 0.0;       ///< what maximise() found
  double at_ = 0.0;          ///< the gamma of log_m_
  Slope cliques_{0.0, 0.0};  ///< there: h, and how fast it falls
  double divergence_ = 0.0;  ///< there: KL(m || nu)
  int evaluations_ = 0;
};

}  // namespace proxbench::sdca
