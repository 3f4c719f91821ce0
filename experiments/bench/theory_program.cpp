/// proxbench_theory JOB.json...: the theory of Zhong et al. (2014) on the problems of the jobs
/// (experiments/bench/theory.h). Each job of a sweep is an arm of one problem. The program runs each job
/// again and examines every iterate. Prints theory.json, which theory_charts() reads (plots/figures.h).
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/bench/job_program.h"
#include "experiments/bench/theory.h"
#include "solvers/solvers.h"

namespace proxbench::theory {
namespace {

/// No dense Hessian is made for faces with more coordinates, and no dense directions for problems with more
/// weights.
constexpr std::size_t kMostOnFace = 1000;
constexpr Coord kMostWeights = 100'000'000;
/// The tolerance of w*.
constexpr double kTol = 1e-13;

/// One problem with its optimum and its arms.
class Study {
 public:
  Study(const LoadedData& data, const RunParameters& job)
      : job_(job),
        data_(data),
        reduced_(data.reduced(job.penalty)),
        oracle_(data.oracle()),
        evaluator_(data.objective(reduced_, job.penalty)),
        kkt_at_zero_(certify(evaluator_, {}).kkt) {
    best_ = solve("prox-newton", {}, kTol, nullptr);
    Objective objective = make_objective();
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(best_, scores);
    objective.infer({scores}, &residual);
    marginals_ = oracle_.last();
    const Certificate certificate = certify(evaluator_, best_);
    problem_.dataset = job.dataset;
    problem_.description = data.train().description;
    problem_.lambda = job.penalty.lambda;
    problem_.optimum = {static_cast<double>(best_.nnz()), certificate.objective, certificate.kkt};
    const bool derivative = has_capability(objective.oracle(), Capability::kDerivative);
    if (derivative && objective.dimension() <= kMostWeights &&
        (data.oracle_name() == "chain" || data.oracle_name() == "tree"))
      problem_.stretch = stretches(objective);
    if (!derivative || best_.nnz() == 0 || best_.nnz() > kMostOnFace) return;
    problem_.face = spectrum(hessian_on(objective, best_, best_.index));
    problem_.arms.push_back(
        make_arm("newton, on the face", newton_on_face(objective, oracle_, best_), best_.nnz()));
  }

  void add_arm(const RunParameters& job) {
    fmt::print(stderr, "{}, lambda = {}: {}\n", job.dataset, job.penalty.lambda, job.label);
    Marginals before;
    std::vector<TheoryIteration> iterations;
    solve(job.solver, job.solver_options, job.tol, [&](const Sample& sample) {
      // The oracle keeps no marginals before the first step. The last iterate may be sampled twice.
      if (sample.iteration == 0 || (!iterations.empty() && iterations.back().iteration == sample.iteration))
        return;
      iterations.push_back({.iteration = sample.iteration,
                            .passes = sample.passes,
                            .objective = sample.objective,
                            .nnz = sample.nnz,
                            .kkt = sample.kkt,
                            .error = distance(oracle_.last(), marginals_),
                            .dennis_more = dennis_more(sample.kkt, oracle_.last(), before)});
      before = oracle_.last();
    });
    problem_.arms.push_back(make_arm(job.label, std::move(iterations), best_.nnz()));
  }

  const TheoryProblem& problem() const { return problem_; }

 private:
  Objective make_objective() const {
    return {reduced_.all ? data_.train().x : reduced_.x, oracle_, job_.penalty, data_.parallel()};
  }

  SparseVector solve(const std::string& name, const std::map<std::string, std::string>& options, double tol,
                     const std::function<void(const Sample&)>& on_sample) {
    Objective objective = make_objective();
    MonitorOptions watch;
    watch.time_limit = job_.time_limit;
    if (on_sample != nullptr) {
      watch.max_iterations = job_.max_iterations;
      watch.sample_kkt = true;
      watch.dense_samples = job_.max_iterations;
    }
    Monitor monitor(evaluator_, objective, watch);
    monitor.on_sample = on_sample;
    const SolverInfo& solver = solver_registry().find(name);
    const SolveResult result = solver.make(options_from(solver.options, options))
                                   ->solve({objective, monitor, {}, tol, kkt_at_zero_, job_.seed});
    monitor.finish(result.w);
    return result.w;
  }

  /// Returns stretch() of the directions of Theorem 3, and of a random direction on the support of w*.
  std::map<std::string, double> stretches(Objective& objective) const {
    Curvature curvature = curvature_at(objective, best_);
    std::map<std::string, double> out;
    if (best_.nnz() > 0) {
      std::vector<double> random_on_support(objective.dimension(), 0.0);
      Random random(1);
      for (const Coord c : best_.index) random_on_support[c] = random.normal();
      out["random on the support"] = stretch(curvature, random_on_support);
    }
    for (const auto& [name, v] : null_directions(objective, data_.train().hierarchy.get(), 1))
      out[name] = stretch(curvature, v);
    return out;
  }

  const RunParameters& job_;
  const LoadedData& data_;
  const LoadedData::Reduced& reduced_;
  MarginalsOracle oracle_;
  Objective evaluator_;
  double kkt_at_zero_;
  SparseVector best_;
  Marginals marginals_;
  TheoryProblem problem_;
};

void run(std::vector<RunParameters> jobs) {
  std::map<std::string, std::map<std::pair<double, double>, std::vector<RunParameters>>> datasets;
  for (RunParameters& job : jobs)
    datasets[job.dataset][{job.penalty.lambda, job.penalty.mu}].push_back(std::move(job));
  std::vector<TheoryProblem> problems;
  for (const auto& [dataset, arms_by_penalty] : datasets) {
    const LoadedData data = data_of(arms_by_penalty.begin()->second.front());
    for (const auto& [penalty, arms] : arms_by_penalty) {
      Study study(data, arms.front());
      for (const RunParameters& arm : arms) study.add_arm(arm);
      problems.push_back(study.problem());
    }
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"problems", problems}}.dump(1));
}

}  // namespace
}  // namespace proxbench::theory

int main(int argc, char** argv) {
  return proxbench::run_job_files(argc, argv, "proxbench_theory", proxbench::theory::run,
                                  std::numeric_limits<int>::max());
}
