#pragma once
/// One run of a solver on a small problem, under the conditions that a test sets, and everything that can be
/// observed of it. For tests and for the conformance suite (experiments/conformance/).

#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/monitor/monitor.h"
#include "core/solver.h"
#include "core/wrapped_oracle.h"
#include "solvers/shared/test_problems.h"

namespace proxbench::test {

inline double kkt_at_zero(const Problem& problem, const Parallel& parallel = Parallel()) {
  Objective objective = problem.objective(parallel);
  return certify(objective, {}).kkt;
}

struct Conditions {
  double tol = 1e-6;
  Parallel parallel = Parallel();
  MonitorOptions monitor = {.max_iterations = 50000};
  std::map<std::string, std::string> options = {};
  SparseVector start = {};
  Interrupt interrupt = {};
  const Oracle* oracle = nullptr;      ///< replaces the problem's own oracle
  double sampling_budget = kInfinity;  ///< every sample is a full one
  std::uint64_t seed = 7;
  std::function<void(const Sample&)> on_sample = {};
};

struct Outcome {
  SolveResult result;
  std::int64_t iterations = 0;
  std::vector<Sample> trace;
  std::size_t sampled =
      0;  ///< rows of the trace that the solver's own calls made; one more row is for the w that it returned
  Audits audits;
  Certificate certificate;
  double lower_bound = 0.0;  ///< on min F: the best bound of any sample
  double kkt_target = 0.0;
};

/// Throws Error unless w satisfies the invariants of SparseVector, with dimension d.
inline void require_sparse(const SparseVector& w, Coord d) {
  const auto fail = [](std::size_t i, const std::string& what) {
    throw Error("entry " + std::to_string(i) + " of the w returned " + what);
  };
  if (w.index.size() != w.value.size()) throw Error("the w returned has not as many values as coordinates");
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    if (w.index[i] >= d) fail(i, "is beyond the dimension");
    if (i > 0 && w.index[i] <= w.index[i - 1]) fail(i, "does not ascend");
    if (w.value[i] == 0.0) fail(i, "is zero");
    if (!std::isfinite(w.value[i])) fail(i, "is not finite");
  }
}

/// Throws what the solver throws. Throws Error if the solver never starts the clock or returns an invalid
/// vector.
inline Outcome run(const SolverInfo& solver, const Problem& problem, const Conditions& setup = {}) {
  const Oracle& oracle = setup.oracle != nullptr ? *setup.oracle : problem.oracle();
  const ProblemSpec& spec = problem.spec();
  Objective objective(problem.data().x, oracle, {spec.lambda, spec.mu}, setup.parallel, spec.loss);
  Objective evaluator = problem.objective(setup.parallel);
  MonitorOptions monitor_options = setup.monitor;
  monitor_options.sampling_budget = setup.sampling_budget;
  monitor_options.interrupt = setup.interrupt;
  if (const Processes* const processes = setup.parallel.processes(); processes != nullptr)
    monitor_options.agree = [processes](double own) { return agree(processes, own); };
  Monitor monitor(evaluator, objective, monitor_options);
  monitor.on_sample = setup.on_sample;
  Options options(solver.options);
  for (const auto& [name, text] : setup.options) options.set(name, text);
  const SolveProblem task{objective, monitor, setup.start, setup.tol, kkt_at_zero(problem, setup.parallel),
                          setup.seed};
  Outcome out;
  out.result = solve_within_limits(*solver.make(options), task);
  out.sampled = monitor.trace().size();
  if (out.sampled == 0) throw Error("monitor.start() was never called");
  require_sparse(out.result.w, objective.dimension());
  monitor.finish(out.result.w);
  out.iterations = monitor.iterations();
  out.trace = monitor.trace();
  out.audits = monitor.audits();
  out.certificate = certify(evaluator, out.result.w);
  out.lower_bound = monitor.lower_bound();
  out.kkt_target = task.kkt_target();
  return out;
}

/// Forwards inference to `inner`, then calls hook(calls before, value), which may throw or change the value.
class HookedOracle final : public WrappedOracle,
                           public InstanceOracle,
                           public BeliefOracle,
                           public CovarianceOracle,
                           public MaxOracle,
                           public InstanceMaxOracle {
 public:
  HookedOracle(const Oracle& inner, std::function<double(int, double)> hook)
      : WrappedOracle(inner), hook_(std::move(hook)) {}
  const InstanceOracle* instance() const override { return inner_.instance() != nullptr ? this : nullptr; }
  const BeliefOracle* beliefs() const override { return inner_.beliefs() != nullptr ? this : nullptr; }
  const CovarianceOracle* covariance() const override {
    return inner_.covariance() != nullptr ? this : nullptr;
  }
  const MaxOracle* max() const override { return inner_.max() != nullptr ? this : nullptr; }
  const InstanceMaxOracle* instance_max() const override {
    return inner_.instance_max() != nullptr ? this : nullptr;
  }
  const MaxOracle* relaxation() const override { return inner_.relaxation() != nullptr ? this : nullptr; }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    passes += 1.0;
    return hook_(calls++, WrappedOracle::infer(at, residual, parallel));
  }
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override {
    passes += static_cast<double>(instances.size()) / static_cast<double>(inner_.instances());
    return hook_(calls++, WrappedOracle::infer_some(instances, at, residual, parallel));
  }
  double infer_instance(Index instance, const double* scores, std::span<const double> extra, double* residual,
                        std::span<double> extra_residual) const override {
    passes += 1.0 / static_cast<double>(inner_.instances());
    return hook_(calls++,
                 inner_.instance()->infer_instance(instance, scores, extra, residual, extra_residual));
  }
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs) const override {
    passes += 1.0 / static_cast<double>(inner_.instances());
    return hook_(calls++, inner_.beliefs()->infer_beliefs(instance, scores, extra, log_beliefs));
  }
  LossAndCost maximise(const ScorePoint& at, Cost cost, Residual* residual,
                       const Parallel& parallel) const override {
    passes += 1.0;
    LossAndCost sums = best().maximise(at, cost, residual, parallel);
    sums.loss = hook_(calls++, sums.loss);
    return sums;
  }
  LossAndCost best_structure(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                             std::span<Index> outputs) const override {
    passes += 1.0 / static_cast<double>(inner_.instances());
    LossAndCost value = inner_.instance_max()->best_structure(instance, cost, scores, extra, outputs);
    value.loss = hook_(calls++, value.loss);
    return value;
  }
  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override {
    ++covariances_calls;
    inner_.covariance()->covariances(scores, instance, features, out);
  }
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override {
    passes += 1.0;
    return hook_(calls++, WrappedOracle::infer_and_keep(at, residual, kept, parallel));
  }
  /// Calls the hook only because it may throw: a derivative has no value.
  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override {
    passes += 1.0;
    hook_(calls++, 0.0);
    WrappedOracle::derivative(at, direction, out, parallel);
  }

  Size belief_size(Index instance) const override { return inner_.beliefs()->belief_size(instance); }
  void gold_beliefs(Index instance, double score, double* log_beliefs) const override {
    inner_.beliefs()->gold_beliefs(instance, score, log_beliefs);
  }
  void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const override {
    inner_.beliefs()->structure_beliefs(instance, outputs, beliefs);
  }
  void expectation(Index instance, const double* beliefs, double* rows,
                   std::span<double> extra) const override {
    inner_.beliefs()->expectation(instance, beliefs, rows, extra);
  }
  void make_consistent(Index instance, double* beliefs) const override {
    inner_.beliefs()->make_consistent(instance, beliefs);
  }
  double inconsistency(Index instance, const double* beliefs) const override {
    return inner_.beliefs()->inconsistency(instance, beliefs);
  }
  double max_flops() const override { return best().max_flops(); }
  double cost_of(Index instance, Cost cost, std::span<const Index> outputs) const override {
    return inner_.instance_max()->cost_of(instance, cost, outputs);
  }
  void scores_of(Index instance, const double* scores, std::span<const double> extra,
                 std::span<const Index> outputs, std::span<double> out) const override {
    inner_.instance_max()->scores_of(instance, scores, extra, outputs, out);
  }
  void gold_structure(Index instance, std::span<Index> outputs) const override {
    inner_.instance_max()->gold_structure(instance, outputs);
  }
  std::span<const Index> outputs_on(Index output) const override {
    return inner_.instance_max()->outputs_on(output);
  }
  void extra_on(std::span<const Index> outputs, std::vector<std::size_t>& on) const override {
    inner_.instance_max()->extra_on(outputs, on);
  }

  mutable int calls = 0;
  mutable double passes = 0.0;
  mutable std::atomic<std::int64_t> covariances_calls = 0;  ///< calls of covariances()

 private:
  const MaxOracle& best() const { return inner_.max() != nullptr ? *inner_.max() : *inner_.relaxation(); }

  std::function<double(int, double)> hook_;
};

}  // namespace proxbench::test
