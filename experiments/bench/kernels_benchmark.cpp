/// Micro-benchmarks of the kernels that training consists of, on OCR degree 2 (or, where letter.data is not
/// found, on the synthetic task of the same shape). Each states its bound: flops or bytes an iteration moves
/// by its definition.
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

#include "core/kernels.h"
#include "core/objective.h"
#include "core/random.h"
#include "experiments/data/readers.h"
#include "experiments/data_files.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

/// Registers' worth of independent multiply-adds: the peak of one core, in flops a second.
double measure_peak_flops(int threads) {
  static std::map<int, double> known;
  if (known.contains(threads)) return known[threads];
  const Parallel parallel(threads);
  constexpr std::size_t kSteps = 1u << 22;
  std::vector<double> sink(64);
  double best = 0.0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    parallel.for_each(static_cast<std::size_t>(threads), [&](std::size_t t) {
      kernels::Pack a[10];
      for (auto& pack : a) pack = kernels::splat(1.0 + static_cast<double>(t));
      kernels::Pack x = kernels::splat(1e-9), y = kernels::splat(0.999999);
      for (std::size_t i = 0; i < kSteps; ++i) {
        for (auto& pack : a) pack = pack * y + x;
      }
      double sum = 0.0;
      for (const auto& pack : a) sum += kernels::sum(pack);
      sink[t] = sum;
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, 2.0 * 10 * kPad * kSteps * threads / seconds);
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
      kernels::Pack a[4] = {};
      for (std::size_t i = chunks.begin(c); i < chunks.end(c); i += 4 * kPad)
        for (std::size_t v = 0; v < 4; ++v) a[v] += kernels::load(memory.data() + i + v * kPad);
      sums[c] = kernels::sum((a[0] + a[1]) + (a[2] + a[3]));
    });
    benchmark::DoNotOptimize(sums.data());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(memory.size() * sizeof(double)) / seconds);
  }
  return known[threads] = best;
}

const DataPair& ocr() {
  static const DataPair data = [] {
    DataFiles files;
    std::string format = "ocr";
    try {
      files.train = {find_data_file("ocr/letter.data.gz", {}).string()};
    } catch (const Error&) {
      format = "synthetic-ocr";
      std::fprintf(stderr, "letter.data.gz not found: SYNTHETIC data of the same shape\n");
    }
    const DataFormatInfo& info = data_format_registry().find(format);
    return info.read(files, Options(info.options));
  }();
  return data;
}

const Oracle& ocr_oracle() {
  static const std::unique_ptr<Oracle> oracle = oracle_registry().find(ocr().oracle).make(ocr().train);
  return *oracle;
}

/// `count` coordinates spread evenly over features and outputs, with weights.
SparseVector spread(const Objective& objective, std::size_t count) {
  SparseVector w;
  Random random(1);
  for (std::size_t i = 0; i < count; ++i)
    w.push_back(i * (objective.unary_weights() / count) + random.below(objective.unary_weights() / count),
                0.1 * random.normal());
  return w;
}

/// Entries of X under the coordinates: what scores and partial gradients must touch.
double entries(const SparseVector& w, Index outputs) {
  double n = 0.0;
  for (const Coord c : w.index)
    n += static_cast<double>(ocr().train.x.column_size(static_cast<Index>(c / outputs)));
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

/// Runs the loop and returns its wall time in seconds.
template <class Body>
double timed_loop(benchmark::State& state, const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Fixture {
  explicit Fixture(const benchmark::State& state)
      : threads(static_cast<int>(state.range(0))),
        objective(ocr().train.x, ocr_oracle(), 100.0, 0.0, Parallel(threads)),
        scores(objective.make_scores()),
        residual(objective.make_residual()) {
    objective.scores(spread(objective, 1500), scores);
    objective.infer({scores}, &residual);
  }
  int threads;
  Objective objective;
  Scores scores;
  Residual residual;
};

/// Per position: K^2 multiply-adds forward, K^2 backward, K^2 for the pair sums, and K exponentials (not
/// counted).
void forward_backward(benchmark::State& state) {
  Fixture f(state);
  const double seconds =
      timed_loop(state, [&] { benchmark::DoNotOptimize(f.objective.infer({f.scores}, &f.residual)); });
  const double p = static_cast<double>(f.objective.oracle().positions()), k = f.objective.outputs();
  report(state, seconds, 2.0 * 3.0 * p * k * k, 2.0 * 8.0 * p * k, f.threads);
}

/// The forward pass alone: K^2 multiply-adds a position.
void forward_only(benchmark::State& state) {
  Fixture f(state);
  const double seconds =
      timed_loop(state, [&] { benchmark::DoNotOptimize(f.objective.infer({f.scores}, nullptr)); });
  const double p = static_cast<double>(f.objective.oracle().positions()), k = f.objective.outputs();
  report(state, seconds, 2.0 * p * k * k, 8.0 * p * k, f.threads);
}

/// X^T R: K additions for each nonzero of X; X is all ones here, so a multiply-add does the work of one
/// addition. Bytes: the index of each nonzero from memory, its row of R (8K bytes) from the second-level
/// cache.
void full_gradient(benchmark::State& state) {
  Fixture f(state);
  const std::vector<double> w(f.objective.dimension());
  std::vector<double> g(f.objective.dimension());
  const double seconds = timed_loop(state, [&] {
    f.objective.gradient(f.residual, w, g);
    benchmark::DoNotOptimize(g.data());
  });
  const double n = static_cast<double>(ocr().train.x.nonzeros()), k = f.objective.outputs();
  report(state, seconds, 2.0 * n * k, n * (2.0 + 8.0 * k), f.threads);
}

/// One gathered addition for each entry of X under the working set: index (2 bytes) and residual (8 bytes).
void partial_gradient(benchmark::State& state) {
  Fixture f(state);
  const SparseVector w = spread(f.objective, static_cast<std::size_t>(state.range(1)));
  std::vector<double> g(w.nnz());
  const double seconds = timed_loop(state, [&] {
    f.objective.partial_gradient(f.residual, w.index, w.value, g);
    benchmark::DoNotOptimize(g.data());
  });
  const double n = entries(w, f.objective.outputs());
  report(state, seconds, 2.0 * n, 10.0 * n, f.threads);
}

/// One scattered addition for each entry of X under the support: index read (2 bytes), score read and written
/// (16).
void sparse_scores(benchmark::State& state) {
  Fixture f(state);
  const SparseVector w = spread(f.objective, static_cast<std::size_t>(state.range(1)));
  const double seconds = timed_loop(state, [&] {
    f.objective.scores(w, f.scores);
    benchmark::DoNotOptimize(f.scores.values.data());
  });
  const double n = entries(w, f.objective.outputs());
  report(state, seconds, 2.0 * n, 18.0 * n, f.threads);
}

const auto kThreads = {1, 2};
void threads_only(benchmark::internal::Benchmark* b) {
  for (const int t : kThreads) b->Arg(t);
  b->ArgName("threads")->UseRealTime()->Unit(benchmark::kMillisecond);
}
void threads_and_size(benchmark::internal::Benchmark* b) {
  for (const int size : {1500, 60000})
    for (const int t : kThreads) b->Args({t, size});
  b->ArgNames({"threads", "set"})->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(forward_backward)->Apply(threads_only);
BENCHMARK(forward_only)->Apply(threads_only);
BENCHMARK(full_gradient)->Apply(threads_only);
BENCHMARK(partial_gradient)->Apply(threads_and_size);
BENCHMARK(sparse_scores)->Apply(threads_and_size);

}  // namespace
}  // namespace proxbench

BENCHMARK_MAIN();
