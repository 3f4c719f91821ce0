#pragma once
/// theory.json: how solvers converge on problems, by the theory of Zhong et al. (2014). proxbench_theory
/// (experiments/bench/theory_program.cpp) writes it, and plots/theory.py shows it. A number is NaN if it is
/// not defined, e.g. the ratio of the first error.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "experiments/base/json_values.h"

namespace proxbench {

/// The iterate after one iteration. Errors e_t are those of experiments/bench/theory.h.
struct TheoryIteration {
  std::int64_t iteration = 0;
  double passes = 0.0, objective = 0.0;
  std::uint64_t nnz = 0;
  double kkt = kNaN;
  double error = kNaN;        ///< e_t
  double ratio = kNaN;        ///< e_t / e_{t-1}
  double order = kNaN;        ///< log of this ratio divided by log of the previous one
  double dennis_more = kNaN;  ///< kkt / ||m(w_t) - m(w_{t-1})||

  static const Schema<TheoryIteration>& schema() {
    using T = TheoryIteration;
    static const Schema<T> rows({row(&T::iteration, "iteration"), row(&T::passes, "passes"),
                                 row(&T::objective, "objective"), row(&T::nnz, "nnz"), row(&T::kkt, "kkt"),
                                 row(&T::error, "error"), row(&T::ratio, "ratio"), row(&T::order, "order"),
                                 row(&T::dennis_more, "dennis_more")});
    return rows;
  }
};

/// A solver on one problem. Its support has settled at the first iteration from which on all have as many
/// nonzeros as the optimum (NaN: never).
struct TheoryArm {
  std::string label;
  double support_settled_at = kNaN;
  std::uint64_t steps_since = 0, unit_steps = 0;  ///< iterations since then, and how many took one pass
  std::vector<TheoryIteration> iterations;

  static const Schema<TheoryArm>& schema() {
    using T = TheoryArm;
    static const Schema<T> rows({row(&T::label, "label"), row(&T::support_settled_at, "support_settled_at"),
                                 row(&T::unit_steps, "unit_steps"), row(&T::steps_since, "steps_since"),
                                 row(&T::iterations, "iterations")});
    return rows;
  }
};

/// The Hessian at the optimum on the face of its nonzero weights. The two eigenvalues are the extremes above
/// rounding, which Theorem 1 calls m and M.
struct TheoryFace {
  double rank = kNaN, smallest = kNaN, largest = kNaN;

  static const Schema<TheoryFace>& schema() {
    using T = TheoryFace;
    static const Schema<T> rows(
        {row(&T::rank, "rank"), row(&T::smallest, "smallest"), row(&T::largest, "largest")});
    return rows;
  }
};

struct TheoryOptimum {
  double nnz = kNaN, objective = kNaN, kkt = kNaN;

  static const Schema<TheoryOptimum>& schema() {
    using T = TheoryOptimum;
    static const Schema<T> rows({row(&T::nnz, "nnz"), row(&T::objective, "objective"), row(&T::kkt, "kkt")});
    return rows;
  }
};

/// One data set and lambda.
struct TheoryProblem {
  std::string dataset, description;
  double lambda = 0.0;
  TheoryOptimum optimum = {};
  std::map<std::string, double> stretch = {};  ///< ||Hv|| / ||v|| by the name of v; empty: not computed
  TheoryFace face = {};                        ///< NaN: not computed
  std::vector<TheoryArm> arms = {};

  static const Schema<TheoryProblem>& schema() {
    using T = TheoryProblem;
    static const Schema<T> rows({row(&T::dataset, "dataset"), row(&T::description, "description"),
                                 row(&T::lambda, "lambda"), row(&T::optimum, "optimum"),
                                 row(&T::stretch, "stretch"), row(&T::face, "face"), row(&T::arms, "arms")});
    return rows;
  }
};

}  // namespace proxbench
