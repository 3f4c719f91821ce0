#pragma once
/// Steps of the proximal point method on the dual over the atoms that are kept, each by Newton's method.
///
/// Let z(w) be H of all atoms (ssnal.cpp), and a their weights. A step of the proximal point method
/// (Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
/// programming", Math. Oper. Res. 1976) minimises
///
///     phi(w) = (mu/2)*||w||^2 + sum_i max over distributions b_i of [b_i.z_i(w) - ||b_i - a_i||^2/(2*sigma)]
///
/// The maximum is at b_i(w), the projection of a_i + sigma*z_i onto the simplex. A semismooth Newton method
/// with conjugate gradients minimises phi (Li, Sun, Toh, "A highly efficient semismooth Newton augmented
/// Lagrangian method for solving Lasso problems", SIAM J. Optim. 2018, section 3.2). With Psi of planes.h:
///
///     gradient = mu*w + Psi^T b(w)
///     Hessian  = mu*I + sigma * sum_i Psi_i^T P_i Psi_i    P_i subtracts the mean over atoms with b_i > 0
///
/// Its blocks by output, without the products of two positions, precondition the conjugate gradients. Then a
/// moves towards b(w) as far as D rises. The point w has a much smaller F than w(a): near the optimum D is
/// flat in a, but F is not flat in w(a).

#include <functional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "solvers/shared/rough_hessian.h"
#include "solvers/ssnal/planes.h"

namespace proxbench::ssnal {

class ProximalSteps {
 public:
  /// Starts at the weights of the atoms, with w = w(a).
  ProximalSteps(const Objective& objective, MixtureStore& mixtures);

  /// Makes one step. `gap` is an estimate of F - D. If stop() is true or a number is not finite, returns
  /// false, and the atoms keep their weights.
  bool step(MixtureStore& mixtures, double gap, const std::function<bool()>& stop);
  /// D(a).
  double dual() const { return dual_; }
  /// The w that minimises phi.
  std::span<const double> w() const { return w_; }

 private:
  void read(MixtureStore& mixtures);
  double gradient(const Planes& planes, std::span<const double> z);
  void project(const Planes& planes, std::span<const double> z, std::vector<double>& out) const;
  Planes active(const Planes& planes) const;
  bool newton_direction(const Planes& active, const std::function<bool()>& stop);
  void precondition(std::span<const double> r, std::vector<double>& out) const;
  double search(const Planes& planes, std::span<const double> z, std::vector<double>& along);
  void move(std::span<const std::size_t> begin, MixtureStore& mixtures);

  const Objective& objective_;
  dense::RoughHessian rough_;
  double sigma_, dual_ = 0.0;
  std::vector<double> w_;
  std::vector<double> cost_, weight_, moved_;  ///< of the atoms; moved_ is b(w)
  std::vector<double> features_, of_moved_;    ///< Psi^T * weight_, Psi^T * moved_
  std::vector<double> gradient_, direction_;
};

}  // namespace proxbench::ssnal
