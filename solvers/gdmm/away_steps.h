#pragma once
/// Frank-Wolfe steps with away steps on the augmented Lagrangian, all factors at once (Yen et al. 2016,
/// Algorithm 2; Lacoste-Julien and Jaggi 2015).

#include <vector>

#include "core/base/parallel.h"
#include "core/monitor.h"
#include "solvers/gdmm/factors.h"

namespace proxbench {

class AwaySteps {
 public:
  /// alpha is the vertex of all gold values. Both are borrowed.
  AwaySteps(Factors& factors, const Parallel& parallel);

  /// One step; none where the monitor is out of time after the search.
  void step(Monitor& monitor);

 private:
  /// A value for each factor, and its weight in alpha.
  struct Corner {
    std::vector<Factors::Value> value;
    double weight;
  };
  /// Takes in factors that were made since.
  void extend();
  /// alpha += share * (corner - alpha).
  void move(double share, const std::vector<Factors::Value>& corner);
  /// <gradient, corner>.
  double slope(const std::vector<Factors::Value>& corner) const;
  /// <gradient, alpha>.
  double slope_here() const;

  Factors& factors_;
  const Parallel& parallel_;
  std::vector<Corner> corners_;
};

}  // namespace proxbench
