#pragma once
/// Steps of all instances at once, beside the steps of bcfw that change one instance at a time.
///
/// Let z(w) be H of all atoms that are kept, and a their weights. A step of the proximal point method on the
/// dual over these atoms (Rockafellar, "Augmented Lagrangians and applications of the proximal point
/// algorithm in convex programming", Math. Oper. Res. 1976) minimises
///
///     phi(w) = (mu/2)*||w||^2 + sum_i max over distributions b_i of [b_i.z_i(w) - ||b_i - a_i||^2/(2*sigma)]
///
/// The maximum is at b_i(w), the projection of a_i + sigma*z_i onto the simplex. A semismooth Newton method
/// with conjugate gradients minimises phi (Li, Sun, Toh, "A highly efficient semismooth Newton augmented
/// Lagrangian method for solving Lasso problems", SIAM J. Optim. 2018, section 3.2). Row y of Psi holds the
/// features of atom y minus those of gold:
///
///     gradient = mu*w + Psi^T b(w)
///     Hessian  = mu*I + sigma * sum_i Psi_i^T P_i Psi_i    P_i subtracts the mean over atoms with b_i > 0
///
/// Then a moves towards b(w) as far as D rises. The point w has a much smaller F than w(a): near the optimum
/// D is flat in a, but F is not flat in w(a).

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "solvers/bcfw/mixtures.h"
#include "solvers/shared/instances/weight_rows.h"

namespace proxbench::bcfw {

/// The matrix Psi. A vector of weights has a run of J numbers for each output, then the extra weights.
class Planes {
 public:
  /// The atoms of all instances, one after the other. Borrows the objective.
  Planes(const Objective& objective, MixtureStore& mixtures);
  /// Only these rows of `all`.
  Planes(const Planes& all, const std::vector<bool>& wanted);

  std::size_t size() const { return cell_begin_.size() - 1; }
  /// The rows of instance i are [begin()[i], begin()[i + 1]).
  std::span<const std::size_t> begin() const { return begin_; }
  /// out = Psi v.
  void values(std::span<const double> v, std::vector<double>& out) const;
  /// out = Psi^T weight.
  void features(std::span<const double> weight, std::vector<double>& out) const;

 private:
  /// The feature vector of a position, on one output.
  struct Cell {
    Index position, output;
  };
  struct Part {
    std::size_t of;  ///< a cell or an extra weight
    double value;
  };

  /// The cells and the extra weights of a row.
  std::span<const Part> parts(std::size_t row) const {
    return {parts_.data() + cell_begin_[row], parts_.data() + cell_begin_[row + 1]};
  }
  std::span<const Part> extras(std::size_t row) const {
    return {extras_.data() + extra_begin_[row], extras_.data() + extra_begin_[row + 1]};
  }

  const Objective* objective_;
  std::vector<Cell> cells_;
  std::vector<Part> parts_, extras_;  ///< of all rows, one after the other
  std::vector<std::size_t> cell_begin_{0}, extra_begin_{0}, begin_{0}, first_cell_{0};
};

class JointSteps {
 public:
  /// Whether vectors of weights are short beside X, so that conjugate gradients cost little.
  static bool pay(const Objective& objective);
  explicit JointSteps(const Objective& objective) : objective_(objective) {}

  /// Makes one step from the weights of the atoms, and returns the new D. `gap` is an estimate of F - D. If
  /// `stop()` is true or a number is not finite, changes no weights and returns nothing.
  std::optional<double> step(MixtureStore& mixtures, double gap, const std::function<bool()>& stop);
  /// Sets the weights w(a) after a step.
  void dual_weights(WeightRows& out) const { write(dual_w_, out); }
  /// Sets the w that minimises phi.
  void primal_weights(WeightRows& out) const { write(w_, out); }

 private:
  double gradient(const Planes& planes, std::span<const double> z);
  void newton_direction(const Planes& planes);
  double search(const Planes& planes, std::span<const double> z, std::vector<double>& along);
  void project(const Planes& planes, std::span<const double> z, std::vector<double>& out) const;
  double move(const Planes& planes, MixtureStore& mixtures);
  void write(std::span<const double> from, WeightRows& out) const;

  const Objective& objective_;
  double sigma_ = 1.0;
  std::vector<double> w_, dual_w_;             ///< w_ is empty before the first step
  std::vector<double> cost_, weight_, moved_;  ///< of the atoms; moved_ is b(w)
  std::vector<double> gradient_, direction_;
};

}  // namespace proxbench::bcfw
