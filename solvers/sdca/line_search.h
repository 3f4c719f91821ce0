#pragma once
/// The line search of SDCA: how far the beliefs of one instance move from mu towards nu, the model's
/// marginals at some w. With v = -(1/mu) * E_{nu - mu}[features] the dual changes by
///
///     f(gamma) = H(mu + gamma*(nu - mu)) - (mu/2) * ||w + gamma*v||^2
///
/// (Le Priol et al. 2018, equation 20; here times n). f is concave and needs no further inference. Let m = mu
/// + gamma*(nu - mu), let sums over cliques carry their signs, and let nu be the model at w itself. Then
///
///     f'(gamma)  = -sum (nu - mu) * (log m - log nu) - gamma * mu * ||v||^2
///     f''(gamma) = -sum (nu - mu)^2 / m              - mu * ||v||^2
///
/// If w has moved to w' since nu was found, f' has one more term, -mu * <w' - w, v> ("shift").

#include "core/oracle.h"

namespace proxbench::sdca {

/// The search of one instance. Its buffers are reused from call to call.
class LineSearch {
 public:
  /// Takes mu and nu as logarithms, and borrows both arrays. Overwrites log_mu by log m at the last gamma
  /// that the search tried. `size`: BeliefOracle::belief_size().
  void set(const BeliefOracle::Size& size, double* log_mu, const double* log_nu);
  /// nu - mu on the cliques.
  const double* difference() const { return difference_.data(); }
  /// KL(mu || nu) >= 0: the block's duality gap at w.
  double gap() const { return forward_; }

  /// Returns the gamma in [0, 1] that maximises f at w. If the maximum is inside and precision > 0, returns a
  /// nearby point with f' >= 0, so that f has risen. `curvature` = mu * ||v||^2. Stops when a step is shorter
  /// than `precision`. With precision 0, takes a single Newton step from 1/2, which may overshoot.
  double maximise(double curvature, double precision);
  /// Corrects the gamma0 of maximise() after w has moved, without another walk over the cliques. Returns a
  /// Newton step from gamma0 if this step is certain to raise f, else the maximiser of a lower bound. The
  /// bound: let h(gamma) = -sum (nu - mu)(log m - log nu). f(gamma) - f(0) is the integral of h up to gamma,
  /// minus shift*gamma + curvature*gamma^2/2. The integral up to gamma0 is I0 = KL(mu || nu) - KL(m || nu). h
  /// falls to 0 at 1. So the integral up to gamma is at least (gamma/gamma0)*I0 below gamma0, and at least I0
  /// above.
  double corrected(double curvature, double shift) const;
  /// Ensures that log m belongs to this gamma.
  void go_to(double gamma);
  /// The number of walks over the cliques since set() that took a logarithm of each.
  int evaluations() const { return evaluations_; }

 private:
  /// f' and f'' at gamma, at the w of set(). Leaves log m at gamma.
  struct Slope {
    double first, second;
  };
  Slope slope(double gamma, double curvature);

  BeliefOracle::Size size_{};
  double* log_m_ = nullptr;
  const double* log_nu_ = nullptr;
  AlignedVector<double> p_, difference_;
  double forward_ = 0.0, backward_ = 0.0;
  double gamma_ = 0.0;       ///< the result of maximise()
  double at_ = 0.0;          ///< log_m_ belongs to this gamma
  Slope cliques_{0.0, 0.0};  ///< h at at_, and how fast h falls
  double divergence_ = 0.0;  ///< KL(m || nu) at at_
  int evaluations_ = 0;
};

}  // namespace proxbench::sdca
