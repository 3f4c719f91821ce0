/// What a step of the solvers that visit one instance at a time costs, beside its bound: the work that its
/// definition asks for, each part timed alone in the same process over instances in random order.
///   inference      the marginals of one instance from its scores; for oeg and sag-nus as often as the solver
///                  asked for them
///   line search    of sdca: exp of both beliefs, and a logarithm of each clique in each evaluation
///   memory         what is kept of the instance, read and written: sdca's beliefs, oeg's scores and
///   marginals,
///                  the marginals of sag-nus
///   sparse update  the scores of the instance's rows, its direction in the weights (oeg: of each trial), the
///   step
///                  along it (sag-nus: in the weights and in the sum of gradients)
/// Counters are microseconds a step; of_bound = step / (sum of the parts).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <functional>
#include <memory>

#include "core/base/random.h"
#include "core/kernels/kernel_table.h"
#include "core/monitor.h"
#include "core/objective.h"
#include "experiments/config/data_files.h"
#include "experiments/data/readers.h"
#include "oracles/oracles.h"
#include "solvers/shared/instances/belief_store.h"
#include "solvers/shared/instances/weight_rows.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Passes before the steps are timed, and passes that are.
constexpr std::int64_t kWarm = 3, kTimed = 3, kReportsAPass = 10;

/// `real` data with these options, or the format `synthetic` where the file is not found.
struct Task {
  Task(const char* real, const char* file, const std::map<std::string, std::string>& given,
       const char* synthetic) {
    DataFiles found;
    std::string format = real;
    std::map<std::string, std::string> settings = given;
    try {
      found.train = {find_data_file(file, {}).string()};
    } catch (const Error&) {
      format = synthetic;
      settings = {};
      std::fprintf(stderr, "%s not found: SYNTHETIC data\n", file);
    }
    const DataFormatInfo& info = data_format_registry().find(format);
    Options options(info.options);
    for (const auto& [name, value] : settings) options.set(name, value);
    data = info.read(found, options);
    oracle = oracle_registry().find(data.oracle).make(data.train);
  }
  Objective objective() const { return {data.train.x, *oracle, {0.0, 1.0}, Parallel(1)}; }

  DataPair data;
  std::unique_ptr<Oracle> oracle;
};

const Task& ocr() {
  static const Task task("ocr", "ocr/letter.data.gz", {{"features", "pixels"}, {"ends", "true"}},
                         "synthetic-ocr");
  return task;
}

/// The attributes of CRFsuite's tutorial on chunking.
const Task& ner() {
  static const Task task("conll", "conll2002-ned/ned.train.gz",
                         {{"attributes", "chunking"},
                          {"pad", "2"},
                          {"pad_symbols", "<s>, </s>"},
                          {"ends", "true"},
                          {"bias", "true"}},
                         "synthetic-ocr");
  return task;
}

struct Steps {
  double seconds;      ///< a step
  double calls;        ///< inferences a step
  double evaluations;  ///< of sdca's line search, a step
  SparseVector w;
};

Steps run(const Task& task, const std::string& solver) {
  Objective objective = task.objective(), evaluator = task.objective();
  Monitor monitor(evaluator, objective, {.max_iterations = (kWarm + kTimed) * kReportsAPass});
  const SolverInfo& info = solver_registry().find(solver);
  const SolveResult result = info.make(Options(info.options))->solve({objective, monitor, {}, 0.0, 1.0, 1});
  monitor.finish(result.iterations, result.w, 0);
  const std::vector<Sample>& trace = monitor.trace();
  const Sample *from = nullptr, *to = &trace.back();
  for (const Sample& sample : trace)
    if (sample.iteration <= kWarm * kReportsAPass) from = &sample;
  const double steps = (to->updates - from->updates) * static_cast<double>(objective.instances());
  const auto note = result.notes.find("line_search_evaluations");
  return {.seconds = (to->seconds - from->seconds) / steps,
          .calls = (to->passes - from->passes) / (to->updates - from->updates),
          .evaluations = note == result.notes.end() ? 0.0 : note->second,
          .w = result.w};
}

/// Seconds an instance, over all instances in random order.
double seconds_each(std::size_t instances, const std::function<void(Index)>& body) {
  Random random(1);
  std::vector<Index> order(instances);
  for (Index& i : order) i = static_cast<Index>(random.below(instances));
  const double begin = wall_seconds();
  for (const Index i : order) body(i);
  return (wall_seconds() - begin) / static_cast<double>(instances);
}

struct Parts {
  double inference, line_search, memory, update;
};

Parts parts(const Task& task, const std::string& solver, const Steps& steps) {
  Objective objective = task.objective();
  const std::size_t n = objective.instances();
  const std::span<const Index> begin = objective.structure().begin();
  const auto positions = [&](Index i) { return begin[i + std::size_t{1}] - begin[i]; };
  WeightRows w(objective);
  w.set(steps.w);
  const InstanceFeatures features(objective.x(), begin);
  const bool beliefs = solver == "sdca";
  AlignedVector<double> all(objective.structure().positions() * w.width());
  for (Index i = 0; i < n; ++i) w.scores(i, all.data() + begin[i] * w.width());

  AlignedVector<double> rows, extra(objective.map().extra_weights()), cliques;
  InstanceOracle::Workspace work;
  Parts out{};
  out.inference = seconds_each(n, [&](Index i) {
    const double* const scores = all.data() + begin[i] * w.width();
    if (beliefs) {
      cliques.resize(objective.beliefs().belief_size(i).all());
      objective.infer_beliefs(i, scores, w.extra(), cliques.data());
    } else {
      rows.resize(positions(i) * w.width());
      objective.infer_instance(i, scores, w.extra(), rows.data(), extra, work);
    }
  });
  if (beliefs) {
    // Whole evaluations; the mean number is between two of them.
    const auto line_search = [&](int logarithms) {
      return seconds_each(n, [&](Index i) {
        cliques.assign(objective.beliefs().belief_size(i).all(), -1.0);
        for (int e = 0; e < 2; ++e) {
          kernels_in_use().exponentiate(cliques.data(), cliques.size());
          benchmark::DoNotOptimize(cliques.data());
        }
        for (int e = 0; e < logarithms; ++e) {
          kernels_in_use().logarithm(cliques.data(), cliques.size());
          benchmark::DoNotOptimize(cliques.data());
        }
      });
    };
    const int whole = static_cast<int>(steps.evaluations);
    const double low = line_search(whole), high = line_search(whole + 1);
    out.line_search = low + (steps.evaluations - whole) * (high - low);
    BeliefStore store(objective, false, 1e3);
    for (Index i = 0; i < n; ++i) {
      cliques.assign(objective.beliefs().belief_size(i).all(), -1.0);
      store.set(i, cliques.data());
    }
    out.memory = seconds_each(n, [&](Index i) {
      double* const kept = store.open(i, cliques);
      for (std::size_t c = 0; c < objective.beliefs().belief_size(i).all(); ++c) kept[c] -= 1.0;
      store.written(i, cliques);
    });
  }
  if (!beliefs) {
    const std::size_t copies = solver == "oeg" ? 2 : 1;
    AlignedVector<double> kept(copies * all.size());
    out.memory = seconds_each(n, [&](Index i) {
      rows.assign(positions(i) * w.width(), 1.0);
      for (std::size_t c = 0; c < copies; ++c)
        kernels_in_use().add_scaled(kept.data() + c * all.size() + begin[i] * w.width(), 1e-9, rows.data(),
                                    rows.size());
    });
  }
  InstanceDirection direction;
  WeightRows sums(objective);
  const auto update = [&](int directions) {
    return seconds_each(n, [&](Index i) {
      w.scores(i, rows);
      for (int d = 0; d < directions; ++d) {
        direction.form(features.of(i), rows.data(), extra, w.width());
        benchmark::DoNotOptimize(direction.squared_norm());
        if (solver == "oeg") benchmark::DoNotOptimize(w.dot(direction));
      }
      w.add(1e-9, direction);
      if (solver == "sag-nus") sums.add(1e-9, direction);
    });
  };
  out.update = update(1);
  if (solver == "oeg") out.update += (steps.calls - 1.0) * (update(2) - out.update);
  return out;
}

void step(benchmark::State& state, const Task& (*task)(), const std::string& solver) {
  constexpr double kMicro = 1e6;
  Steps steps{};
  for ([[maybe_unused]] const auto _ : state) {
    steps = run(task(), solver);
    state.SetIterationTime(steps.seconds);
  }
  const Parts part = parts(task(), solver, steps);
  const double inference = steps.calls * part.inference;
  state.counters["step"] = kMicro * steps.seconds;
  state.counters["inference"] = kMicro * inference;
  state.counters["line_search"] = kMicro * part.line_search;
  state.counters["memory"] = kMicro * part.memory;
  state.counters["update"] = kMicro * part.update;
  state.counters["calls"] = steps.calls;
  state.counters["evaluations"] = steps.evaluations;
  state.counters["of_bound"] = steps.seconds / (inference + part.line_search + part.memory + part.update);
}

#define PROXBENCH_STEP(data, name, solver)             \
  BENCHMARK_CAPTURE(step, data##_##name, data, solver) \
      ->UseManualTime()                                \
      ->Iterations(1)                                  \
      ->Unit(benchmark::kMicrosecond)
PROXBENCH_STEP(ocr, sdca, "sdca");
PROXBENCH_STEP(ocr, oeg, "oeg");
PROXBENCH_STEP(ocr, sag_nus, "sag-nus");
PROXBENCH_STEP(ner, sdca, "sdca");
PROXBENCH_STEP(ner, oeg, "oeg");
PROXBENCH_STEP(ner, sag_nus, "sag-nus");

}  // namespace
}  // namespace proxbench
