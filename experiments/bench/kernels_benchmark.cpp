/// Micro-benchmarks of the kernels that training consists of, on OCR degree 2 and on LSHTC Task 1 validation
/// (or, where their files are not found, on synthetic tasks of the same shape). Each states its bound: flops
/// or bytes an iteration moves by its definition.
///   flops  = multiply-adds counted as two, by the algorithm's definition, padding not counted
///   peak   = the multiply-adds that one core does on registers, times threads (measured in this same run)
/// "share" is flops reached over that peak, or bytes over the copy bandwidth measured in this same run.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "core/base/random.h"
#include "core/data/reduction.h"
#include "core/kernels/kernel_sets.h"
#include "core/monitor.h"
#include "core/objective.h"
#include "experiments/bench/bounds.h"
#include "experiments/config/data_files.h"
#include "experiments/data/readers.h"
#include "oracles/oracles.h"
#include "solvers/prox_newton/cholesky.h"
#include "solvers/solvers.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(Bounds, bounds, bounds_for)

const Bounds& bounds() {
  return bounds_for(instruction_set());
}

namespace {

/// Registers' worth of independent multiply-adds: the peak of one core, in flops a second.
double measure_peak_flops(int threads) {
  static std::map<int, double> known;
  if (known.contains(threads)) return known[threads];
  const Parallel parallel(threads);
  constexpr std::size_t kSteps = 1u << 22;
  std::vector<double> sink(static_cast<std::size_t>(threads)), flops(sink.size());
  double best = 0.0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    parallel.for_each(static_cast<std::size_t>(threads), [&](std::size_t t) {
      sink[t] = bounds().multiply_adds(kSteps, 1.0 + static_cast<double>(t), &flops[t]);
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, flops[0] * threads / seconds);
  }
  benchmark::DoNotOptimize(sink.data());
  return known[threads] = best;
}

/// Bytes a second of reading memory that no cache holds.
double measure_bandwidth(int threads) {
  static std::map<int, double> known;
  if (known.contains(threads)) return known[threads];
  const Parallel parallel(threads);
  AlignedVector<double> memory(std::size_t{1} << 25, 1.0);  // 256 MiB
  const Chunks chunks{memory.size(), std::size_t{1} << 20};
  std::vector<double> sums(chunks.count());
  double best = 0.0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    parallel.for_each(chunks.count(), [&](std::size_t c) {
      sums[c] = bounds().read(memory.data() + chunks.begin(c), chunks.end(c) - chunks.begin(c));
    });
    benchmark::DoNotOptimize(sums.data());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(memory.size() * sizeof(double)) / seconds);
  }
  return known[threads] = best;
}

/// A data set, its oracle, and the weights that kernels are measured at.
struct Task {
  /// `real` data, or the format `synthetic` where a file of theirs is not found.
  Task(double lambda_in, const char* real, const std::vector<const char*>& files, const char* synthetic)
      : lambda(lambda_in) {
    DataFiles found;
    std::string format = real;
    try {
      found.train = {find_data_file(files[0], {}).string()};
      if (files.size() > 1) found.hierarchy = find_data_file(files[1], {}).string();
    } catch (const Error&) {
      found = {};
      format = synthetic;
      std::fprintf(stderr, "%s not found: SYNTHETIC data of the same shape\n", files[0]);
    }
    const DataFormatInfo& info = data_format_registry().find(format);
    data = info.read(found, Options(info.options));
    oracle = oracle_registry().find(data.oracle).make(data.train);
  }
  Objective objective(int threads) const { return {data.train.x, *oracle, {lambda, 0.0}, Parallel(threads)}; }

  double lambda;
  DataPair data;
  std::unique_ptr<Oracle> oracle;
  SparseVector w;
};

/// `count` coordinates spread evenly over features and outputs, with weights.
SparseVector spread(const Objective& objective, std::size_t count) {
  SparseVector w;
  Random random(1);
  for (std::size_t i = 0; i < count; ++i)
    w.push_back(i * (objective.unary_weights() / count) + random.below(objective.unary_weights() / count),
                0.1 * random.normal());
  return w;
}

const Task& ocr() {
  static const Task task = [] {
    Task t(100.0, "ocr", {"ocr/letter.data.gz"}, "synthetic-ocr");
    t.w = spread(t.objective(1), 1500);
    return t;
  }();
  return task;
}

/// Without the features that cannot enter, at the w that prox-newton has after 40 iterations: which nodes carry
/// weights decides what there is to do.
const Task& lshtc() {
  static const Task task = [] {
    Task t(1.0, "lshtc", {"lshtc1-dryrun/task1.validation.txt.gz", "lshtc1-dryrun/cat_hier.txt"},
           "synthetic-lshtc");
    t.data.train.x = t.data.train.x.select_features(features_that_can_enter(t.data.train.x, t.lambda));
    Objective objective = t.objective(2), evaluator = t.objective(2);
    Monitor monitor(evaluator, objective, {.max_iterations = 40});
    const SolverInfo& solver = solver_registry().find("prox-newton");
    t.w = solver.make(Options(solver.options))->solve({objective, monitor, {}, 1e-9, 1.0, 1}).w;
    return t;
  }();
  return task;
}

/// Entries of X under the coordinates: what scores and partial gradients must touch.
double entries(const Task& task, const SparseVector& w) {
  double n = 0.0;
  for (const Coord c : w.index)
    n += static_cast<double>(task.data.train.x.column_size(static_cast<Index>(c / task.oracle->outputs())));
  return n;
}

/// Counters are computed here from the wall time of one iteration, so that shares print as plain numbers.
void report(benchmark::State& state, double seconds, double flops, double bytes, int threads) {
  const double each = seconds / static_cast<double>(state.iterations());
  state.counters["Gflop/s"] = 1e-9 * flops / each;
  state.counters["of_peak"] = flops / each / measure_peak_flops(threads);
  state.counters["GB/s"] = 1e-9 * bytes / each;
  state.counters["of_memory"] = bytes / each / measure_bandwidth(threads);
}

/// Runs the loop and reports it beside its bound.
template <class Body>
void measure(benchmark::State& state, double flops, double bytes, int threads, const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  const auto end = std::chrono::steady_clock::now();
  report(state, std::chrono::duration<double>(end - begin).count(), flops, bytes, threads);
}

/// A task at its weights.
struct Fixture {
  Fixture(const benchmark::State& state, const Task& task_in)
      : task(task_in),
        threads(static_cast<int>(state.range(0))),
        objective(task.objective(threads)),
        scores(objective.make_scores()),
        residual(objective.make_residual()),
        positions(static_cast<double>(objective.structure().positions())),
        outputs(objective.outputs()),
        nonzeros(static_cast<double>(objective.x().nonzeros())) {
    objective.scores(task.w, scores);
    objective.infer({scores}, &residual);
  }
  const Task& task;
  int threads;
  Objective objective;
  Scores scores;
  Residual residual;
  double positions, outputs, nonzeros;
};

/// Per position: K^2 multiply-adds forward, K^2 backward, K^2 for the pair sums, and K exponentials (not
/// counted).
void forward_backward(benchmark::State& state) {
  Fixture f(state, ocr());
  const double k = f.outputs;
  measure(state, 2.0 * 3.0 * f.positions * k * k, 2.0 * 8.0 * f.positions * k, f.threads,
          [&] { f.objective.infer({f.scores}, &f.residual); });
}

/// The forward pass alone: K^2 multiply-adds a position.
void forward_only(benchmark::State& state) {
  Fixture f(state, ocr());
  const double k = f.outputs;
  measure(state, 2.0 * f.positions * k * k, 8.0 * f.positions * k, f.threads,
          [&] { benchmark::DoNotOptimize(f.objective.infer({f.scores}, nullptr)); });
}

/// X^T R: K additions for each nonzero of X; X is all ones here, so a multiply-add does the work of one
/// addition. Bytes: the index of each nonzero from memory, its row of R (8K bytes) from the second-level
/// cache. Each number is loaded for one addition: where a core loads one register a cycle, padded(K)/8 loads
/// allow 0.81 of peak at K = 26, and less from the second level.
void full_gradient(benchmark::State& state) {
  Fixture f(state, ocr());
  const std::vector<double> w(f.objective.dimension());
  std::vector<double> g(f.objective.dimension());
  measure(state, 2.0 * f.nonzeros * f.outputs, f.nonzeros * (2.0 + 8.0 * f.outputs), f.threads,
          [&] { f.objective.gradient(f.residual, w, g); });
}

/// The same for the support and the coordinates with |g| > lambda, lambda such that these are a hundredth;
/// all others are told apart in single precision: half as many registers are loaded, from half as many bytes.
void select_gradient(benchmark::State& state) {
  Fixture f(state, ocr());
  std::vector<double> g(f.objective.dimension());
  f.objective.gradient(f.residual, std::vector<double>(g.size()), g);
  for (double& x : g) x = std::abs(x);
  const auto at = g.end() - static_cast<std::ptrdiff_t>(g.size() / 100);
  std::nth_element(g.begin(), at, g.end());
  Objective objective(f.objective.x(), *f.task.oracle, {*at, 0.0}, f.objective.parallel());
  Objective::Selection selection;
  measure(state, 2.0 * f.nonzeros * f.outputs, f.nonzeros * (2.0 + 4.0 * f.outputs), f.threads,
          [&] { objective.select_gradient(f.residual, f.task.w, objective.lambda(), selection); });
}

/// One gathered addition for each entry of X under the working set: index (2 bytes), residual (8 bytes), and
/// the value (8 bytes) where it is not 1.
void measure_partial_gradient(benchmark::State& state, const Task& task, const SparseVector& w) {
  Fixture f(state, task);
  std::vector<double> g(w.nnz());
  const double n = entries(task, w);
  measure(state, 2.0 * n, (task.data.train.x.binary() ? 10.0 : 18.0) * n, f.threads,
          [&] { f.objective.partial_gradient(f.residual, w.index, w.value, g); });
}
void partial_gradient(benchmark::State& state) {
  measure_partial_gradient(state, ocr(),
                           spread(ocr().objective(1), static_cast<std::size_t>(state.range(1))));
}
void tree_partial_gradient(benchmark::State& state) {
  measure_partial_gradient(state, lshtc(), lshtc().w);
}

/// One scattered addition for each entry of X under the support: index read (2 bytes), score read and written
/// (16), and the value read (8) where it is not 1.
void measure_scores(benchmark::State& state, const Task& task, const SparseVector& w) {
  Fixture f(state, task);
  const double n = entries(task, w);
  measure(state, 2.0 * n, (task.data.train.x.binary() ? 18.0 : 26.0) * n, f.threads,
          [&] { f.objective.scores(w, f.scores); });
}
void sparse_scores(benchmark::State& state) {
  measure_scores(state, ocr(), spread(ocr().objective(1), static_cast<std::size_t>(state.range(1))));
}
void tree_scores(benchmark::State& state) {
  measure_scores(state, lshtc(), lshtc().w);
}

/// Downward and upward: each column of scores is read once and each column of the residual written once, 8
/// bytes a document; in between, an exponential for each visited node with leaves of its own (not counted).
void downward_upward(benchmark::State& state) {
  Fixture f(state, lshtc());
  const double columns = static_cast<double>(f.scores.columns) + static_cast<double>(f.residual.columns);
  measure(state, 0.0, 8.0 * f.positions * columns, f.threads,
          [&] { f.objective.infer({f.scores}, &f.residual); });
  state.counters["visited"] = f.residual.columns;
  state.counters["nodes"] = f.outputs;
}

/// Downward alone, for the value: each column of scores is read once.
void downward_only(benchmark::State& state) {
  Fixture f(state, lshtc());
  measure(state, 0.0, 8.0 * f.positions * f.scores.columns, f.threads,
          [&] { benchmark::DoNotOptimize(f.objective.infer({f.scores}, nullptr)); });
}

/// All J*K gradients, a feature at a time, of which those above 0.99*lambda are kept: a multiply-add for each
/// nonzero of X and column of the residual (then K steps a feature, not counted). Bytes: rows of the
/// residual.
void tree_full_gradient(benchmark::State& state) {
  Fixture f(state, lshtc());
  Objective::Selection selection;
  const double columns = f.residual.columns;
  measure(state, 2.0 * f.nonzeros * columns, f.nonzeros * (10.0 + 8.0 * columns), f.threads,
          [&] { f.objective.select_gradient(f.residual, f.task.w, 0.99 * f.task.lambda, selection); });
}

/// The Hessian on the coordinates of w. Counted: what the recursions and the products with labels take on
/// whole rows, K^2 multiply-adds a position and slot; most time goes into adding covariances to the Hessian's
/// entries, in memory.
void hessian(benchmark::State& state) {
  Fixture f(state, ocr());
  const std::size_t n = f.task.w.nnz();
  std::vector<double> out(n * padded(n));
  measure(state, 2.0 * f.positions * f.outputs * f.outputs * static_cast<double>(n), 0.0, f.threads,
          [&] { f.objective.hessian(f.scores, f.task.w.index, out.data(), padded(n)); });
}

/// n^3/6 multiply-adds.
void cholesky(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  const auto n = static_cast<std::size_t>(state.range(1));
  const Parallel parallel(threads);
  prox_newton::Cholesky factor;
  const double order = static_cast<double>(n);
  measure(state, order * order * order / 3.0, 0.0, threads, [&] {
    benchmark::DoNotOptimize(factor.factor(n, n, parallel, [&](std::size_t i, double* row) {
      std::fill_n(row, i, 1.0);
      row[i] = static_cast<double>(n);
    }));
  });
}

/// 2,012 sentences of the lengths and the 22 labels of CoNLL-2000's test set (23.5 tokens on average), with
/// scores that favour one label of each token, as those of a trained model do.
struct Sentences {
  Dataset data;
  std::unique_ptr<Oracle> oracle;
  Scores scores;

  Sentences() {
    constexpr Index kLabels = 22, kCount = 2012;
    Random random(1);
    Vocabulary names;
    names.outputs.resize(kLabels);
    data.vocabulary = std::make_shared<const Vocabulary>(std::move(names));
    for (Index i = 0; i < kCount; ++i) {
      const auto length = static_cast<Index>(1 + random.below(46));
      for (Index t = 0; t < length; ++t) data.gold.push_back(static_cast<Index>(random.below(kLabels)));
      data.begin.push_back(static_cast<Index>(data.gold.size()));
    }
    oracle = oracle_registry().find("chain").make(data);
    scores = Scores(kLabels, data.positions(), oracle->extra_weights());
    for (Index k = 0; k < kLabels; ++k)
      for (std::size_t p = 0; p < data.positions(); ++p)
        scores.column(k)[p] = random.normal() + (data.gold[p] == k ? 5.0 : 0.0);
    for (double& e : scores.extra) e = random.normal();
  }
};

/// The N best label sequences of each sentence. The forward pass takes K^2 additions a token, and as many
/// comparisons; what the lists take beyond it has no bound of its own, so the rate is in sentences.
void nbest(benchmark::State& state) {
  static const Sentences sentences;
  const Parallel parallel(static_cast<int>(state.range(0)));
  const auto n = static_cast<std::size_t>(state.range(1));
  const Chunks chunks{sentences.data.instances(), 32};
  for ([[maybe_unused]] const auto _ : state)
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      const auto work = sentences.oracle->nbest()->make_workspace();
      NbestOracle::List list;
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
        sentences.oracle->nbest()->nbest(sentences.scores, static_cast<Index>(i), n, list, *work);
      benchmark::DoNotOptimize(list.score.data());
    });
  state.counters["sentences"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(sentences.data.instances()),
      benchmark::Counter::kIsRate);
}

const auto kThreads = {1, 2};
void threads_only(benchmark::internal::Benchmark* b) {
  for (const int t : kThreads) b->Arg(t);
  b->ArgName("threads")->UseRealTime()->Unit(benchmark::kMillisecond);
}
template <int... kSizes>
void threads_and_size(benchmark::internal::Benchmark* b) {
  for (const int size : {kSizes...})
    for (const int t : kThreads) b->Args({t, size});
  b->ArgNames({"threads", "set"})->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(forward_backward)->Apply(threads_only);
BENCHMARK(forward_only)->Apply(threads_only);
BENCHMARK(full_gradient)->Apply(threads_only);
BENCHMARK(select_gradient)->Apply(threads_only);
BENCHMARK(partial_gradient)->Apply(threads_and_size<1500, 60000>);
BENCHMARK(sparse_scores)->Apply(threads_and_size<1500, 60000>);
BENCHMARK(hessian)->Apply(threads_only);
BENCHMARK(cholesky)->Apply(threads_and_size<3000, 9000>);
BENCHMARK(downward_upward)->Apply(threads_only);
BENCHMARK(downward_only)->Apply(threads_only);
BENCHMARK(tree_full_gradient)->Apply(threads_only);
BENCHMARK(tree_partial_gradient)->Apply(threads_only);
BENCHMARK(tree_scores)->Apply(threads_only);
BENCHMARK(nbest)->Apply(threads_and_size<1, 50>);

}  // namespace
}  // namespace proxbench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("instruction set",
                              std::string(proxbench::instruction_set_name(proxbench::instruction_set())));
  benchmark::RunSpecifiedBenchmarks();
}
