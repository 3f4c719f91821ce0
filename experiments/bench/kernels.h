#pragma once
/// The kernels of training, at a point of a problem. Used by the programs that time them and that count their
/// instructions.

#include <memory>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/objective.h"
#include "oracles/oracles.h"

namespace proxbench {

/// A training set with its oracle.
struct Task {
  Task(Dataset data_in, const std::string& oracle_name, double lambda_in = 1.0)
      : data(std::move(data_in)), oracle(oracle_registry().find(oracle_name).make(data)), lambda(lambda_in) {}
  Objective objective(int threads) const { return {data.x, *oracle, {lambda, 0.0}, Parallel(threads)}; }

  Dataset data;
  std::unique_ptr<Oracle> oracle;
  double lambda;
};

/// A task at given weights, with its scores and residual, and buffers for the results of kernels.
struct Point {
  Point(std::shared_ptr<const Task> task_in, int threads, SparseVector weights)
      : task(std::move(task_in)),
        objective(task->objective(threads)),
        w(std::move(weights)),
        scores(objective.make_scores()),
        residual(objective.make_residual()) {
    objective.scores(w, scores);
    objective.infer({scores}, &residual);
  }
  /// Makes `count` weights, spread evenly over features and outputs.
  Point(std::shared_ptr<const Task> task_in, int threads, std::size_t count)
      : Point(task_in, threads, spread(task_in->objective(threads), count)) {}

  std::shared_ptr<const Task> task;
  Objective objective;
  SparseVector w;
  Scores scores;
  Residual residual;
  double threshold = 0.99 * task->lambda;  ///< of selected gradients
  std::vector<double> dense, gradient;
  Objective::Selection selection;

 private:
  static SparseVector spread(const Objective& objective, std::size_t count) {
    SparseVector out;
    Random random(2);
    const Coord stretch = objective.unary_weights() / count;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(i * stretch + random.below(stretch), 0.1 * random.normal());
    return out;
  }
};

using Kernel = void (*)(Point&);

inline void infer(Point& p) {
  p.objective.infer({p.scores}, &p.residual);
}
inline void infer_value(Point& p) {
  p.objective.infer({p.scores}, nullptr);
}
inline void make_scores(Point& p) {
  p.objective.scores(p.w, p.scores);
}
inline void full_gradient(Point& p) {
  p.dense.resize(p.objective.dimension());
  p.gradient.resize(p.dense.size());
  p.objective.gradient(p.residual, p.dense, p.gradient);
}
inline void partial_gradient(Point& p) {
  p.gradient.resize(p.w.nnz());
  p.objective.partial_gradient(p.residual, p.w.index, p.w.value, p.gradient);
}
inline void select_gradient(Point& p) {
  p.objective.select_gradient(p.residual, p.w, p.threshold, p.selection);
}

}  // namespace proxbench
