#pragma once
/// theory.json: how solvers converge on problems, by the theory of Zhong et al. (2014). proxbench_theory
/// (experiments/bench/theory_program.cpp) writes it, and plots/theory.py shows it. A number is NaN if it is
/// not defined, e.g. the ratio of the first error.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "experiments/base/json_members.h"

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

  static auto members() {
    using T = TheoryIteration;
    return std::tuple(std::pair("iteration", &T::iteration), std::pair("passes", &T::passes),
                      std::pair("objective", &T::objective), std::pair("nnz", &T::nnz),
                      std::pair("kkt", &T::kkt), std::pair("error", &T::error), std::pair("ratio", &T::ratio),
                      std::pair("order", &T::order), std::pair("dennis_more", &T::dennis_more));
  }
};

/// A solver on one problem. Its support has settled at the first iteration from which on all have as many
/// nonzeros as the optimum (NaN: never).
struct TheoryArm {
  std::string label;
  double support_settled_at = kNaN;
  std::uint64_t steps_since = 0, unit_steps = 0;  ///< iterations since then, and how many took one pass
  std::vector<TheoryIteration> iterations;

  static auto members() {
    using T = TheoryArm;
    return std::tuple(std::pair("label", &T::label), std::pair("support_settled_at", &T::support_settled_at),
                      std::pair("unit_steps", &T::unit_steps), std::pair("steps_since", &T::steps_since),
                      std::pair("iterations", &T::iterations));
  }
};

/// The Hessian at the optimum on the face of its nonzero weights. The two eigenvalues are the extremes above
/// rounding, which Theorem 1 calls m and M.
struct TheoryFace {
  double rank = kNaN, smallest = kNaN, largest = kNaN;

  static auto members() {
    using T = TheoryFace;
    return std::tuple(std::pair("rank", &T::rank), std::pair("smallest", &T::smallest),
                      std::pair("largest", &T::largest));
  }
};

struct TheoryOptimum {
  double nnz = kNaN, objective = kNaN, kkt = kNaN;

  static auto members() {
    using T = TheoryOptimum;
    return std::tuple(std::pair("nnz", &T::nnz), std::pair("objective", &T::objective),
                      std::pair("kkt", &T::kkt));
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

  static auto members() {
    using T = TheoryProblem;
    return std::tuple(std::pair("dataset", &T::dataset), std::pair("description", &T::description),
                      std::pair("lambda", &T::lambda), std::pair("optimum", &T::optimum),
                      std::pair("stretch", &T::stretch), std::pair("face", &T::face),
                      std::pair("arms", &T::arms));
  }
};

}  // namespace proxbench
