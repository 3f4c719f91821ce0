/// proxbench_theory JOB.json...: the theory of Zhong et al. (2014) on the problems of the jobs
/// (experiments/bench/theory.h). The jobs of a sweep are arms on one or more problems: each is run once more
/// with every iterate looked at. Prints theory.json, which plots/theory.h reads.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/bench/job_program.h"
#include "experiments/bench/theory.h"
#include "solvers/solvers.h"

namespace proxbench::theory {
namespace {

/// Faces of more coordinates have no dense Hessian, problems of more weights no dense directions.
constexpr std::size_t kMostOnFace = 1000;
constexpr Coord kMostWeights = 100'000'000;
/// Of w*.
constexpr double kTol = 1e-13;

/// One problem, its optimum, and arms on it.
class Study {
 public:
  Study(const LoadedData& data, const RunParameters& job)
      : job_(job),
        data_(data),
        reduced_(data.reduced(job.lambda)),
        oracle_(data.oracle()),
        evaluator_(data.objective(reduced_, job.lambda, job.mu)),
        kkt_at_zero_(certify(evaluator_, {}).kkt) {
    best_ = solve("prox-newton", {}, kTol, nullptr);
    Objective objective = make_objective();
    Scores scores = objective.make_scores();
    Residual residual = objective.make_residual();
    objective.scores(best_, scores);
    objective.infer({scores}, &residual);
    marginals_ = oracle_.last();
    const Certificate certificate = certify(evaluator_, best_);
    json_ = {
        {"dataset", job.dataset},
        {"description", data.train().description},
        {"lambda", job.lambda},
        {"optimum", {{"nnz", best_.nnz()}, {"objective", certificate.objective}, {"kkt", certificate.kkt}}}};
    describe_optimum(objective);
    json_["arms"] = nlohmann::ordered_json::array();
    if (has_face())
      json_["arms"].push_back(
          arm_json("newton, on the face", newton_on_face(objective, oracle_, best_), best_.nnz()));
  }

  bool is_of(const RunParameters& job) const {
    return job.dataset == job_.dataset && job.lambda == job_.lambda && job.mu == job_.mu;
  }

  void add_arm(const RunParameters& job) {
    Marginals before;
    std::vector<Iteration> iterations;
    solve(job.solver, job.solver_options, job.tol, [&](const Sample& sample) {
      // Before the first step nothing is inferred that is kept; the end may sample an iterate twice.
      if (sample.iteration == 0 || (!iterations.empty() && iterations.back().number == sample.iteration))
        return;
      iterations.push_back({sample.iteration, sample.passes, sample.objective, sample.nnz, sample.kkt,
                            distance(oracle_.last(), marginals_),
                            before.empty() ? kNaN : distance(oracle_.last(), before)});
      before = oracle_.last();
    });
    json_["arms"].push_back(arm_json(job.label, iterations, best_.nnz()));
  }

  const nlohmann::ordered_json& json() const { return json_; }

 private:
  bool has_face() const {
    return best_.nnz() > 0 && best_.nnz() <= kMostOnFace && evaluator_.has(Capability::kDerivative);
  }
  Objective make_objective() const {
    return {reduced_.all ? data_.train().x : reduced_.x, oracle_, {job_.lambda, job_.mu}, data_.parallel()};
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
    monitor.finish(result.iterations, result.w, result.working_set);
    return result.w;
  }

  /// Theorem 3's directions, and the Hessian on the face.
  void describe_optimum(Objective& objective) {
    const Dataset& train = data_.train();
    if (objective.dimension() <= kMostWeights && objective.has(Capability::kDerivative) &&
        (data_.oracle_name() == "chain" || data_.oracle_name() == "tree")) {
      Objective::Curvature curvature = objective.make_curvature();
      Scores scores = objective.make_scores();
      Residual residual = objective.make_residual();
      objective.scores(best_, scores);
      objective.infer({scores}, residual, curvature);
      nlohmann::ordered_json& out = json_["stretch"];
      if (best_.nnz() > 0) {
        std::vector<double> random_on_support(objective.dimension(), 0.0);
        Random random(1);
        for (const Coord c : best_.index) random_on_support[c] = random.normal();
        out["random on the support"] = stretch(objective, curvature, random_on_support);
      }
      const Hierarchy flat = Hierarchy::flat(objective.outputs());
      out[train.hierarchy ? "from nodes to their children" : "constant over labels"] = stretch(
          objective, curvature, null_direction(objective, train.hierarchy ? *train.hierarchy : flat, 1));
      if (objective.unary_weights() < objective.dimension())
        out["constant transitions"] = stretch(objective, curvature, constant_transitions(objective));
    }
    if (!has_face()) return;
    const Spectrum face = spectrum(hessian_on(objective, best_, best_.index));
    json_["face"] = {{"dimension", face.dimension},
                     {"rank", face.rank},
                     {"smallest", face.smallest},
                     {"largest", face.largest}};
  }

  const RunParameters& job_;
  const LoadedData& data_;
  const LoadedData::Reduced& reduced_;
  MarginalsOracle oracle_;
  Objective evaluator_;
  double kkt_at_zero_;
  SparseVector best_;
  Marginals marginals_;
  nlohmann::ordered_json json_;
};

void run(std::vector<RunParameters> jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const RunParameters& a, const RunParameters& b) {
    return std::tie(a.dataset, a.lambda, a.mu) < std::tie(b.dataset, b.lambda, b.mu);
  });
  std::unique_ptr<LoadedData> data;
  std::unique_ptr<Study> study;
  std::string dataset;
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  const auto finish = [&] {
    if (study) problems.push_back(study->json());
    study.reset();
  };
  for (const RunParameters& job : jobs) {
    if (!study || !study->is_of(job)) {
      finish();
      if (!data || job.dataset != dataset) data.reset(new LoadedData(data_of(job)));
      dataset = job.dataset;
      study = std::make_unique<Study>(*data, job);
    }
    fmt::print(stderr, "{}, lambda = {}: {}\n", job.dataset, job.lambda, job.label);
    study->add_arm(job);
  }
  finish();
  fmt::print("{}\n", nlohmann::ordered_json{{"problems", std::move(problems)}}.dump(1));
}

}  // namespace
}  // namespace proxbench::theory

int main(int argc, char** argv) {
  return proxbench::run_job_files(argc, argv, "proxbench_theory", proxbench::theory::run);
}
