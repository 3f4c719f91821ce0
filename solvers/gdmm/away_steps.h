#pragma once
/// Frank-Wolfe steps with away steps on the augmented Lagrangian, all factors at once (Yen et al. 2016,
/// Algorithm 2; Lacoste-Julien and Jaggi 2015).
///
/// The paper takes one direction and one step size for all m factors: its rate falls with m*m, for the domain
/// is a product of m simplices. Here each factor has a direction of its own (towards its greedy value, or
/// away from its worst active one) and a step of its own, that of its quadratic model times a share that all
/// have in common: what the coupling of factors leaves of such steps made at once. The share follows the
/// exact step along the sum of all.

#include <vector>

#include "core/base/parallel.h"
#include "core/monitor.h"
#include "solvers/gdmm/factors.h"

namespace proxbench {

class AwaySteps {
 public:
  /// Both are borrowed.
  AwaySteps(Factors& factors, const Parallel& parallel) : factors_(factors), parallel_(parallel) {}

  /// One step, which never raises L; none where the monitor is out of time after the search.
  void step(Monitor& monitor);

 private:
  /// Of alpha_f, to be added.
  struct Change {
    std::size_t factor;
    Factors::Value value;
    double weight;
  };
  /// The changes of one factor, appended.
  void choose(std::size_t factor, Factors::Work& work, std::vector<Change>& out) const;
  /// <gradient, changes>.
  double slope() const;
  /// alpha += share * changes.
  void move(double share);

  Factors& factors_;
  const Parallel& parallel_;
  double share_ = 1.0;
  std::vector<Change> changes_;
};

}  // namespace proxbench
