#pragma once
/// A problem at random weights, for tests of its second derivatives.

#include "solvers/shared/test_problems.h"

namespace proxbench::prox_newton {

struct Point {
  explicit Point(const test::Problem& problem, double size = 0.4) : objective(problem.objective()) {
    Random random(3);
    for (Coord c = 0; c < objective.dimension(); ++c)
      if (random.uniform() < 0.6) w.push_back(c, size * random.normal());
    Scores scores = objective.make_scores();
    residual = objective.make_residual();
    objective.scores(w, scores);
    objective.infer({scores}, &residual);
  }
  /// sum_p x_pj x_pj' m_pk (1 - m_pk), or 0 if the outputs differ.
  double entry(Coord a, Coord b) const {
    const Index k = static_cast<Index>(a % objective.outputs());
    if (b % objective.outputs() != k) return 0.0;
    double sum = 0.0;
    for (Index p = 0; p < objective.map().x().positions(); ++p) {
      const double* column = residual.find(k);
      double m = residual.owns(k) ? column[p] : residual.share[k] * column[p];
      if (residual.owns(k))
        for (const Index on : objective.oracle().gold_outputs(p)) m += on == k ? 1.0 : 0.0;
      sum += value(p, a / objective.outputs()) * value(p, b / objective.outputs()) * m * (1.0 - m);
    }
    return sum;
  }
  double value(Index p, Coord feature) const {
    const auto row = objective.map().x().row(p);
    const auto values = objective.map().x().row_values(p);
    for (std::size_t e = 0; e < row.size(); ++e)
      if (row[e] == feature) return values.empty() ? 1.0 : values[e];
    return 0.0;
  }

  Objective objective;
  SparseVector w;
  Residual residual;
};

}  // namespace proxbench::prox_newton
