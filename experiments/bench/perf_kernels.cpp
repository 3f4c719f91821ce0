/// The kernels that training consists of, on small fixed inputs and one thread, for counting their
/// instructions under callgrind: scripts/perf-check. Only the kernel is counted, at its second call, when its
/// buffers are there.
#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else  // without the package valgrind there is only the time to measure
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/monitor.h"
#include "core/objective.h"
#include "core/quasi_newton/lbfgs.h"
#include "experiments/bench/perf_budget.h"
#include "experiments/data/model.h"
#include "experiments/data/readers.h"
#include "experiments/data/synthetic/synthetic_lshtc.h"
#include "experiments/data/synthetic/synthetic_ocr.h"
#include "experiments/fuzz/memory_file.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Sequences of 8 positions with binary features at random, under K labels.
Dataset chain_data(Index labels, Index sequences, Index features, Index nonzeros) {
  constexpr Index kLength = 8;
  Random random(1);
  Dataset data;
  DesignMatrix::Builder x;
  for (Index i = 0; i < sequences; ++i) {
    for (Index t = 0; t < kLength; ++t) {
      // One of each stretch of features: ascending, and none twice.
      for (Index n = 0; n < nonzeros; ++n)
        x.add(static_cast<Index>(n * (features / nonzeros) + random.below(features / nonzeros)), 1.0);
      x.end_position();
      data.gold.push_back(static_cast<Index>(random.below(labels)));
    }
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  data.x = std::move(x).build(features);
  Vocabulary names;
  for (Index j = 0; j < features; ++j) names.features.push_back(fmt::format("p{}", j));
  for (Index k = 0; k < labels; ++k) names.outputs.push_back(fmt::format("label{}", k));
  data.vocabulary = std::make_shared<Vocabulary>(std::move(names));
  return data;
}

Dataset tree_data() {
  return make_synthetic_lshtc({.documents = 300,
                               .test_documents = 0,
                               .features = 2000,
                               .nodes = 400,
                               .leaves = 190,
                               .nonzeros = 60})
      .train;
}

/// Data at a point: weights spread evenly over features and outputs, with scores and residual there.
class Point {
 public:
  Point(Dataset data, const char* oracle, std::size_t weights)
      : data_(std::move(data)),
        oracle_(oracle_registry().find(oracle).make(data_)),
        objective(data_.x, *oracle_, {1.0, 0.0}, Parallel(1)),
        scores(objective.make_scores()) {
    Random random(2);
    const Coord stretch = objective.unary_weights() / weights;
    for (std::size_t i = 0; i < weights; ++i)
      w.push_back(i * stretch + random.below(stretch), 0.1 * random.normal());
    objective.scores(w, scores);
    residual = objective.make_residual();
    objective.infer({scores}, &residual);
  }

 private:
  Dataset data_;
  std::unique_ptr<Oracle> oracle_;

 public:
  Objective objective;
  Scores scores;
  Residual residual;
  SparseVector w;
  const Oracle& oracle() const { return *oracle_; }
  const Dataset& data() const { return data_; }
};

using Body = std::function<void()>;

Body infer_body(const std::shared_ptr<Point>& p) {
  return [p] { p->objective.infer({p->scores}, &p->residual); };
}
Body scores_body(const std::shared_ptr<Point>& p) {
  return [p] { p->objective.scores(p->w, p->scores); };
}
Body partial_gradient_body(const std::shared_ptr<Point>& p) {
  return [p, g = std::vector<double>(p->w.nnz())]() mutable {
    p->objective.partial_gradient(p->residual, p->w.index, p->w.value, g);
  };
}
Body select_gradient_body(const std::shared_ptr<Point>& p) {
  return [p, selection = Objective::Selection()]() mutable {
    p->objective.select_gradient(p->residual, p->w, 0.99 * p->objective.lambda(), selection);
  };
}

std::shared_ptr<Point> chain(Index labels, Index sequences, std::size_t weights = 400) {
  return std::make_shared<Point>(chain_data(labels, sequences, 2000, 50), "chain", weights);
}
std::shared_ptr<Point> tree(std::size_t weights = 300) {
  return std::make_shared<Point>(tree_data(), "tree", weights);
}

Body chain_value_only() {
  return [p = chain(26, 60)] { p->objective.infer({p->scores}, nullptr); };
}

Body chain_gradient() {
  const auto p = chain(26, 60);
  return [p, w = std::vector<double>(p->objective.dimension()),
          g = std::vector<double>(p->objective.dimension())]() mutable {
    p->objective.gradient(p->residual, w, g);
  };
}

Body chain_advance() {
  const auto p = chain(26, 5000);
  return [p, direction = p->scores] { p->objective.advance(p->scores, 0.5, direction); };
}

/// A new pair on 5,000 rows with 10 pairs stored, and what coordinate descent needs of it.
Body lbfgs_update() {
  constexpr std::size_t kRows = 5000, kMemory = 10;
  struct State {
    CompactLbfgs matrix{kMemory};
    std::vector<double> s = std::vector<double>(kRows), y = std::vector<double>(kRows);
  };
  const auto state = std::make_shared<State>();
  state->matrix.reset(kRows, 1.0);
  Random random(3);
  const Body next_pair = [state, random]() mutable {
    for (std::size_t j = 0; j < kRows; ++j) {
      state->s[j] = random.uniform() - 0.5;
      state->y[j] = state->s[j] * (1.0 + random.uniform());
    }
    state->matrix.update(state->s, state->y);
    state->matrix.refresh();
  };
  for (std::size_t i = 0; i < kMemory; ++i) next_pair();
  return next_pair;
}

/// Iterations in which the inner problem takes nearly all: little data, many coordinates in the working set,
/// 50 passes of coordinate descent each.
Body prox_newton_inner() {
  const auto p = std::make_shared<Point>(chain_data(26, 10, 500, 50), "chain", 10);
  return [p] {
    Objective& objective = p->objective;
    Objective evaluator(p->data().x, p->oracle(), {objective.lambda(), 0.0}, Parallel(1));
    // So few iterations, with kkt, are all sampled whatever the clock says.
    Monitor monitor(evaluator, objective, {.max_iterations = 6, .sample_kkt = true});
    const SolverInfo& solver = solver_registry().find("prox-newton");
    Options options(solver.options);
    options.set("max_inner", "50");
    solver.make(options)->solve({objective, monitor, {}, 1e-9, 1.0, 1});
  };
}

std::string letter_data(const Words& words) {
  std::string out;
  for (Index w = 0; w < words.size(); ++w)
    for (Index p = words.begin[w]; p < words.begin[w + 1]; ++p) {
      const bool last = p + 1 == words.begin[w + 1];
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t0", p, words.letter[p], last ? -1 : static_cast<int>(p + 1), w,
                         p - words.begin[w] + 1);
      for (Index pixel = 1; pixel <= kGridPixels; ++pixel) out += words.glyph[p].on(pixel) ? "\t1" : "\t0";
      out += '\n';
    }
  return out;
}

/// Reads files from memory with a registered format.
Body read_body(const char* format, const std::vector<std::pair<std::string, std::string>>& settings,
               const std::string& train, const std::string& hierarchy) {
  const DataFormatInfo& info = data_format_registry().find(format);
  Options options(info.options);
  for (const auto& [name, value] : settings) options.set(name, value);
  const auto train_file = std::make_shared<MemoryFile>(train);
  const auto hierarchy_file = std::make_shared<MemoryFile>(hierarchy);
  return [&info, options, train_file, hierarchy_file, none = hierarchy.empty()] {
    info.read({{train_file->path()}, {}, none ? "" : hierarchy_file->path()}, options);
  };
}

Body read_letters() {
  return read_body("ocr", {{"split", "none"}, {"features", "pixels"}},
                   letter_data(make_synthetic_words(200, 0.05, 1)), "");
}

Body read_documents() {
  const Dataset data = tree_data();
  const Hierarchy& tree = *data.hierarchy;
  std::string branches, documents;
  for (Index leaf = 0; leaf < tree.nodes(); ++leaf) {
    if (!tree.leaf(leaf)) continue;
    std::string branch = std::to_string(leaf);
    for (Index k = tree.parent(leaf); k != Hierarchy::kNone; k = tree.parent(k))
      branch = fmt::format("{} {}", k, branch);
    branches += branch + '\n';
  }
  for (Index p = 0; p < data.x.positions(); ++p) {
    documents += fmt::format("{} 0:{}", data.gold[p], p);
    for (std::size_t i = 0; i < data.x.row(p).size(); ++i)
      documents += fmt::format(" {}:{}", data.x.row(p)[i] + 1, data.x.row_values(p)[i]);
    documents += '\n';
  }
  return read_body("lshtc", {}, documents, branches);
}

Body write_model() {
  return [p = chain(26, 10), header = std::map<std::string, std::string>{{"format", "crfsuite"}}] {
    model_text(header, p->data(), p->w, p->objective.map().extra_weights(), chain_info().extra);
  };
}

Body read_model() {
  const auto p = chain(26, 10);
  return [text = model_text({}, p->data(), p->w, p->objective.map().extra_weights(), chain_info().extra)] {
    parse_model(text, "model");
  };
}

struct Kernel {
  const char* name;
  Body (*prepare)();
};

const Kernel kKernels[] = {
    {"chain-forward-backward-2", [] { return infer_body(chain(2, 200)); }},
    {"chain-forward-backward-26", [] { return infer_body(chain(26, 60)); }},
    {"chain-forward-backward-48", [] { return infer_body(chain(48, 30)); }},
    {"chain-forward-26", chain_value_only},
    {"chain-scores", [] { return scores_body(chain(26, 200, 10000)); }},
    {"chain-advance", chain_advance},
    {"chain-gradient", chain_gradient},
    {"chain-select-gradient", [] { return select_gradient_body(chain(26, 60)); }},
    {"chain-partial-gradient", [] { return partial_gradient_body(chain(26, 200, 10000)); }},
    {"tree-downward-upward", [] { return infer_body(tree()); }},
    {"tree-scores", [] { return scores_body(tree(10000)); }},
    {"tree-select-gradient", [] { return select_gradient_body(tree()); }},
    {"tree-partial-gradient", [] { return partial_gradient_body(tree(10000)); }},
    {"lbfgs-update", lbfgs_update},
    {"prox-newton-inner", prox_newton_inner},
    {"read-letters", read_letters},
    {"read-documents", read_documents},
    {"write-model", write_model},
    {"read-model", read_model},
};

const Kernel& find_kernel(const std::string& name) {
  for (const Kernel& kernel : kKernels)
    if (kernel.name == name) return kernel;
  throw Error::usage("unknown kernel '" + name + "'; 'list' names all");
}

void count(const Kernel& kernel) {
  const Body body = kernel.prepare();
  body();
  CALLGRIND_START_INSTRUMENTATION;
  body();
  CALLGRIND_STOP_INSTRUMENTATION;
}

/// The shortest of the calls that fit into a fifth of a second, in milliseconds.
double shortest_time(const Kernel& kernel) {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const Body body = kernel.prepare();
  body();
  double best = std::numeric_limits<double>::infinity();
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(200);
  do {
    const Clock::time_point begin = Clock::now();
    body();
    best = std::min(best, Milliseconds(Clock::now() - begin).count());
  } while (Clock::now() < end);
  return best;
}

/// `counts_file`: what was counted; `valgrind`: the version that counted it.
PerfCounts load_counts(const std::string& counts_file, const std::string& valgrind) {
  return {{{"compiler", std::string(PROXBENCH_COMPILER)},
           {"instruction set", std::string(PROXBENCH_INSTRUCTION_SET)},
           {"libc", std::string("glibc ") + gnu_get_libc_version()},
           {"valgrind", valgrind}},
          read_perf_numbers(counts_file)};
}

int run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::size_t given = arguments.size();
  if (command == "list" && given == 1) {
    for (const Kernel& kernel : kKernels) std::puts(kernel.name);
    return 0;
  }
  if (command == "count" && given == 2) {
    count(find_kernel(arguments[1]));
    return 0;
  }
  if (command == "time" && given == 1) {
    for (const Kernel& kernel : kKernels) fmt::print("{}\t{:.4f}\n", kernel.name, shortest_time(kernel));
    return 0;
  }
  if (command == "judge" && (given == 4 || given == 5)) {
    const PerfJudgement judgement =
        judge(read_perf_budget(arguments[1]), load_counts(arguments[2], arguments[3]),
              given == 5 ? read_perf_numbers(arguments[4]) : std::map<std::string, double>());
    fmt::print("{}", judgement.text);
    return judgement.failed ? 1 : 0;
  }
  if (command == "budget" && given == 3) {
    fmt::print("{}", perf_budget_text(load_counts(arguments[1], arguments[2])));
    return 0;
  }
  throw Error::usage(
      "usage: proxbench_perf list | count KERNEL | time | judge BUDGET COUNTS VALGRIND [TIMES] | budget "
      "COUNTS "
      "VALGRIND");
}

}  // namespace
}  // namespace proxbench

int main(int argc, char** argv) {
  try {
    return proxbench::run({argv + 1, argv + argc});
  } catch (const proxbench::Error& error) {
    std::fprintf(stderr, "proxbench_perf: error: %s\n", error.what());
    return error.kind() == proxbench::ErrorKind::kUsage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "proxbench_perf: error: %s\n", error.what());
    return 1;
  }
}
