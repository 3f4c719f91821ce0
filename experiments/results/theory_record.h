#pragma once
/// theory.json: how solvers converge on problems, by the theory of Zhong et al. (2014). proxbench_theory
/// (experiments/bench/theory_program.cpp) writes it, and plots/theory.py shows it. A number is NaN if it is
/// not defined, e.g. the ratio of the first error.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/numbers.h"

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
};
inline void to_json(nlohmann::ordered_json& json, const TheoryIteration& one) {
  json = {{"iteration", one.iteration},
          {"passes", one.passes},
          {"objective", one.objective},
          {"nnz", one.nnz},
          {"kkt", one.kkt},
          {"error", one.error},
          {"ratio", one.ratio},
          {"order", one.order},
          {"dennis_more", one.dennis_more}};
}

/// A solver on one problem. Its support has settled at the first iteration from which on all have as many
/// nonzeros as the optimum (NaN: never).
struct TheoryArm {
  std::string label;
  double support_settled_at = kNaN;
  std::uint64_t steps_since = 0, unit_steps = 0;  ///< iterations since then, and how many took one pass
  std::vector<TheoryIteration> iterations;
};
inline void to_json(nlohmann::ordered_json& json, const TheoryArm& one) {
  json = {{"label", one.label},
          {"support_settled_at", one.support_settled_at},
          {"unit_steps", one.unit_steps},
          {"steps_since", one.steps_since},
          {"iterations", one.iterations}};
}

/// The Hessian at the optimum on the face of its nonzero weights. The two eigenvalues are the extremes above
/// rounding, which Theorem 1 calls m and M.
struct TheoryFace {
  double rank = kNaN, smallest = kNaN, largest = kNaN;
};
inline void to_json(nlohmann::ordered_json& json, const TheoryFace& one) {
  json = {{"rank", one.rank}, {"smallest", one.smallest}, {"largest", one.largest}};
}

struct TheoryOptimum {
  double nnz = kNaN, objective = kNaN, kkt = kNaN;
};
inline void to_json(nlohmann::ordered_json& json, const TheoryOptimum& one) {
  json = {{"nnz", one.nnz}, {"objective", one.objective}, {"kkt", one.kkt}};
}

/// One data set and lambda.
struct TheoryProblem {
  std::string dataset, description;
  double lambda = 0.0;
  TheoryOptimum optimum = {};
  std::map<std::string, double> stretch = {};  ///< ||Hv|| / ||v|| by the name of v; empty: not computed
  TheoryFace face = {};                        ///< NaN: not computed
  std::vector<TheoryArm> arms = {};
};
inline void to_json(nlohmann::ordered_json& json, const TheoryProblem& one) {
  json = {{"dataset", one.dataset}, {"description", one.description}, {"lambda", one.lambda},
          {"optimum", one.optimum}, {"stretch", one.stretch},         {"face", one.face},
          {"arms", one.arms}};
}

}  // namespace proxbench
