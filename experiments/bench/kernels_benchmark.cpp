/// Micro-benchmarks of the training kernels, on OCR degree 2 and on LSHTC Task 1 validation. If their files
/// are not found, synthetic tasks of the same shape replace them. Rates are compared with two bounds, which
/// the same run measures with as many threads:
///   of_peak    flops per second / flops per second of multiply-adds on registers
///   of_memory  bytes per second / bytes per second of reading memory
/// Flops and bytes are those of the algorithm's definition: a multiply-add counts as two flops, and padding
/// does not count.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>

#include "core/base/profile.h"
#include "core/data/reduction.h"
#include "core/hessian.h"
#include "core/kernels/kernel_sets.h"
#include "core/monitor/monitor.h"
#include "experiments/bench/bounds.h"
#include "experiments/bench/kernels.h"
#include "experiments/config/config.h"
#include "experiments/data/readers.h"
#include "solvers/prox_newton/cholesky.h"
#include "solvers/solvers.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(Bounds, bounds)

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns the best rate per second of five calls of `work`, which returns the amount of work done.
template <class Body>
double best_rate(const Body& work) {
  double best = 0.0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto begin = Clock::now();
    const double done = work();
    best = std::max(best, done / seconds_since(begin));
  }
  return best;
}

/// Measures the peak of `threads` threads, in flops per second, by independent multiply-adds on registers.
double measure_peak_flops(int threads) {
  constexpr std::size_t kSteps = 1u << 22;
  const Parallel parallel(threads);
  std::vector<double> sink(static_cast<std::size_t>(threads)), flops(sink.size());
  return best_rate([&] {
    parallel.for_each(sink.size(), [&](std::size_t t) {
      sink[t] = bounds().multiply_adds(kSteps, 1.0 + static_cast<double>(t), &flops[t]);
    });
    benchmark::DoNotOptimize(sink.data());
    return flops[0] * threads;
  });
}

/// Measures the bandwidth of reading memory, in bytes per second. The array is larger than the caches.
double measure_bandwidth(int threads) {
  const Parallel parallel(threads);
  const AlignedVector<double> memory(std::size_t{1} << 25, 1.0);  // 256 MiB
  const Chunks chunks{memory.size(), std::size_t{1} << 20};
  std::vector<double> sums(chunks.count());
  return best_rate([&] {
    parallel.for_each(chunks.count(), [&](std::size_t c) {
      sums[c] = bounds().read(memory.data() + chunks.begin(c), chunks.end(c) - chunks.begin(c));
    });
    benchmark::DoNotOptimize(sums.data());
    return static_cast<double>(memory.size() * sizeof(double));
  });
}

/// Runs the loop and reports its rates and their shares of the bounds. Computes the counters from the wall
/// time of one iteration, so that shares print as plain numbers.
template <class Body>
void measure(benchmark::State& state, double flops, double bytes, const Body& body) {
  static std::map<int, double> peak, bandwidth;
  const int threads = static_cast<int>(state.range(0));
  if (!peak.contains(threads)) peak[threads] = measure_peak_flops(threads);
  if (!bandwidth.contains(threads)) bandwidth[threads] = measure_bandwidth(threads);
  const auto begin = Clock::now();
  for ([[maybe_unused]] const auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  const double each = seconds_since(begin) / static_cast<double>(state.iterations());
  state.counters["Gflop/s"] = 1e-9 * flops / each;
  state.counters["of_peak"] = flops / each / peak[threads];
  state.counters["GB/s"] = 1e-9 * bytes / each;
  state.counters["of_memory"] = bytes / each / bandwidth[threads];
}

/// Reads the `real` data, or the `synthetic` format if one of their files is not found.
std::shared_ptr<Task> read_task(double lambda, const char* real, const std::vector<const char*>& files,
                                const char* synthetic) {
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
  DataPair data = info.read(found, Options(info.options));
  return std::make_shared<Task>(std::move(data.train), data.oracle, lambda);
}

/// Makes a point with this number of weights. Its threshold selects a hundredth of the gradient's
/// coordinates.
std::unique_ptr<Point> ocr(const benchmark::State& state, std::size_t weights) {
  static const std::shared_ptr<Task> task = read_task(100.0, "ocr", {"ocr/letter.data.gz"}, "synthetic-ocr");
  auto point = std::make_unique<Point>(task, static_cast<int>(state.range(0)), weights);
  full_gradient(*point);
  std::vector<double> g = point->gradient;
  for (double& x : g) x = std::abs(x);
  const auto at = g.end() - static_cast<std::ptrdiff_t>(g.size() / 100);
  std::nth_element(g.begin(), at, g.end());
  point->threshold = *at;
  return point;
}

/// Makes a point at the w of prox-newton after 40 iterations, because the work depends on which nodes have
/// weights. Features that cannot get a weight at this lambda are left out.
std::unique_ptr<Point> lshtc(const benchmark::State& state, std::size_t) {
  static const std::shared_ptr<Task> task = [] {
    auto out =
        read_task(1.0, "lshtc", {"lshtc1-dryrun/task1.validation.txt.gz", "lshtc1-dryrun/cat_hier.txt"},
                  "synthetic-lshtc");
    out->data.x = out->data.x.select_features(needed_features(out->data.x, Penalty{out->lambda}));
    return out;
  }();
  static const SparseVector w = [] {
    Objective objective = task->objective(2), evaluator = task->objective(2);
    Monitor monitor(evaluator, objective, {.max_iterations = 40});
    const SolverInfo& solver = solver_registry().find("prox-newton");
    return solver.make(Options(solver.options))->solve({objective, monitor, {}, 1e-9, 1.0, 1}).w;
  }();
  return std::make_unique<Point>(task, static_cast<int>(state.range(0)), w);
}

/// Computes the Hessian on the coordinates of w.
void hessian(Point& p) {
  const std::size_t n = p.w.nnz();
  p.dense.resize(n * padded(n));
  hessian(p.objective, p.scores, p.w.index, p.dense.data(), padded(n));
}

struct Benchmark {
  const char* name;
  std::unique_ptr<Point> (*point)(const benchmark::State& state, std::size_t weights);
  Kernel kernel;
  std::vector<std::int64_t> sizes = {};  ///< numbers of weights; empty: 1500, which the name then omits
};

/// full_gradient loads each number of R for one addition. If a core loads one register per cycle, padded(K)/8
/// loads allow 0.81 of the peak at K = 26. Loads from the second-level cache allow less. hessian spends most
/// of its time adding covariances to its entries in memory. The kernels on the tree visit one feature at a
/// time. Each visit takes K further steps, which are not counted as flops.
const Benchmark kBenchmarks[] = {
    {"forward_backward", ocr, infer},
    {"forward_only", ocr, infer_value},
    {"full_gradient", ocr, full_gradient},
    {"select_gradient", ocr, select_gradient},
    {"partial_gradient", ocr, partial_gradient, {1500, 60000}},
    {"sparse_scores", ocr, make_scores, {1500, 60000}},
    {"hessian", ocr, hessian},
    {"downward_upward", lshtc, infer},
    {"downward_only", lshtc, infer_value},
    {"tree_full_gradient", lshtc, select_gradient},
    {"tree_partial_gradient", lshtc, partial_gradient},
    {"tree_scores", lshtc, make_scores},
};

/// Returns the work of a call of the kernel by definition (core/base/profile.h). The Hessian is no phase of
/// the profile. Its work is K^2 multiply-adds per position and coordinate.
Work work_of(Kernel kernel, Point& point) {
  Objective& at = point.objective;
  if (kernel == hessian) {
    const double outputs = at.outputs();
    return {2.0 * static_cast<double>(at.oracle().positions()) * outputs * outputs *
            static_cast<double>(point.w.nnz())};
  }
  Profile profile;
  at.time_phases(&profile);
  kernel(point);
  at.time_phases(nullptr);
  Work work;
  for (const PhaseProfile& phase : profile.phases) work += phase.work;
  return work;
}

/// n^3/6 multiply-adds.
void cholesky(benchmark::State& state) {
  const Parallel parallel(static_cast<int>(state.range(0)));
  const auto n = static_cast<std::size_t>(state.range(1));
  const double order = static_cast<double>(n);
  prox_newton::Cholesky factor;
  measure(state, order * order * order / 3.0, 0.0, [&] {
    benchmark::DoNotOptimize(factor.factor(n, n, parallel, [&](std::size_t i, double* row) {
      std::fill_n(row, i, 1.0);
      row[i] = order;
    }));
  });
}

/// Makes 2,012 sentences of 1 to 46 tokens, 23.5 on average, with 22 labels. The number of sentences, their
/// mean length and the number of labels are those of the test set of CoNLL-2000.
Dataset sentences() {
  constexpr Index kLabels = 22, kCount = 2012;
  Random random(1);
  Dataset data;
  Vocabulary names;
  names.outputs.resize(kLabels);
  data.vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  for (Index i = 0; i < kCount; ++i) {
    for (std::uint64_t left = 1 + random.below(46); left > 0; --left)
      data.gold.push_back(static_cast<Index>(random.below(kLabels)));
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  return data;
}

/// Finds the N best label sequences of each sentence. The scores favour one label of each token, as those of
/// a trained model do. The forward pass takes K^2 additions and as many comparisons per token. No bound is
/// known for the cost of the lists, so the rate is in sentences.
void nbest(benchmark::State& state) {
  static const Task task(sentences(), "chain");
  static const Scores scores = [] {
    Random random(1);
    Scores out(task.data.outputs(), task.data.positions(), task.oracle->extra_weights());
    for (Index k = 0; k < task.data.outputs(); ++k)
      for (std::size_t p = 0; p < task.data.positions(); ++p)
        out.column(k)[p] = random.normal() + (task.data.gold[p] == k ? 5.0 : 0.0);
    for (double& e : out.extra) e = random.normal();
    return out;
  }();
  const Parallel parallel(static_cast<int>(state.range(0)));
  const auto n = static_cast<std::size_t>(state.range(1));
  const NbestOracle& oracle = *task.oracle->nbest();
  const Chunks chunks{task.data.instances(), 32};
  for ([[maybe_unused]] const auto _ : state)
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      NbestOracle::List list;
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
        oracle.nbest(scores, static_cast<Index>(i), n, list);
      benchmark::DoNotOptimize(list.score.data());
    });
  state.counters["sentences"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(task.data.instances()),
                         benchmark::Counter::kIsRate);
}

void add(const char* name, const std::vector<std::int64_t>& sizes,
         const std::function<void(benchmark::State&)>& run) {
  auto* added = benchmark::RegisterBenchmark(name, run)->UseRealTime()->Unit(benchmark::kMillisecond);
  if (sizes.empty())
    added->ArgName("threads")->Arg(1)->Arg(2);
  else
    added->ArgNames({"threads", "set"})->ArgsProduct({{1, 2}, sizes});
}

}  // namespace

void add_benchmarks() {
  for (const Benchmark& each : kBenchmarks)
    add(each.name, each.sizes, [&each](benchmark::State& state) {
      const auto point =
          each.point(state, each.sizes.empty() ? 1500 : static_cast<std::size_t>(state.range(1)));
      const Work work = work_of(each.kernel, *point);
      measure(state, work.flops, work.bytes, [&] { each.kernel(*point); });
      state.counters["columns"] = point->residual.columns;
    });
  add("cholesky", {3000, 9000}, cholesky);
  add("nbest", {1, 50}, nbest);
}

}  // namespace proxbench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("instruction set",
                              std::string(proxbench::instruction_set_name(proxbench::instruction_set())));
  proxbench::add_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
}
