#pragma once
/// The linear relaxation of a pairwise problem on binary variables, solved exactly.

#include <algorithm>
#include <vector>

#include "core/base/types.h"

namespace proxbench {

/// max sum_k unary[k]*x_k + sum over pairs of weight*z, subject to 0 <= x <= 1 and max(0, x_a + x_b - 1) <= z
/// <= min(x_a, x_b). This is the local polytope of the variables and their pairs.
struct PairwiseProblem {
  struct Pair {
    Index a, b;
    double weight;
  };
  std::vector<double> unary;
  std::vector<Pair> pairs;  ///< each unordered pair at most once, a != b
};

/// The value of z at the solution, given x.
inline double pair_value(double weight, double x_a, double x_b) {
  return weight > 0.0 ? std::min(x_a, x_b) : std::max(0.0, x_a + x_b - 1.0);
}

/// Sets x to a solution whose entries are all 0, 1/2 or 1, and returns its value. Computes one maximum flow
/// (roof duality: Boros, Hammer, "Pseudo-Boolean optimization", Discrete Applied Mathematics 2002). The value
/// is below the maximum by at most 2^-49 times the number of terms times the largest coefficient, plus the
/// rounding of the value itself. NaN if a coefficient is not finite.
double solve_relaxation(const PairwiseProblem& problem, std::vector<double>& x);

/// Makes a relaxed solution integral. Variables at 1/2 are decided in ascending order: a variable is on if
/// this raises the value, given the decided variables and with all undecided ones off.
void round_halves(const PairwiseProblem& problem, std::vector<double>& x);

}  // namespace proxbench
