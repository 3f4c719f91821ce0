/// Runs the kernels of training on small fixed inputs and one thread, so that scripts/perf-check can count
/// their instructions under callgrind. Only the second call of a kernel is counted, when its buffers exist.
#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else  // without the package valgrind the program only compiles, and counts nothing
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/monitor/monitor.h"
#include "core/quasi_newton/lbfgs.h"
#include "experiments/bench/kernels.h"
#include "experiments/data/model_weights.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/letters.h"
#include "experiments/fuzz/memory_file.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Makes sequences of 8 positions with random binary features and K labels.
Dataset chain_data(Index labels, Index sequences, Index features, Index nonzeros) {
  constexpr Index kLength = 8;
  Random random(1);
  Dataset data;
  DesignMatrix::Builder x;
  for (Index i = 0; i < sequences; ++i) {
    for (Index t = 0; t < kLength; ++t) {
      // One feature of each block, so that features ascend and none occurs twice.
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

using Settings = std::vector<std::pair<const char*, const char*>>;

/// Returns a function that reads these files with the options each time it is called.
std::function<DataPair()> reader_of(const char* format, const Settings& settings,
                                    const DataFiles& files = {}) {
  const DataFormatInfo& info = data_format_registry().find(format);
  Options options(info.options);
  for (const auto& [name, value] : settings) options.set(name, value);
  return [&info, files, options] { return info.read(files, options); };
}

Dataset tree_data() {
  return reader_of("synthetic-lshtc", {{"documents", "300"},
                                       {"test_documents", "0"},
                                       {"features", "2000"},
                                       {"nodes", "400"},
                                       {"leaves", "190"},
                                       {"nonzeros", "60"}})()
      .train;
}

using Body = std::function<void()>;

std::shared_ptr<Point> chain(Index labels, Index sequences, std::size_t weights = 400) {
  return std::make_shared<Point>(std::make_shared<Task>(chain_data(labels, sequences, 2000, 50), "chain"), 1,
                                 weights);
}
std::shared_ptr<Point> tree(std::size_t weights = 300) {
  return std::make_shared<Point>(std::make_shared<Task>(tree_data(), "tree"), 1, weights);
}

Body body_of(std::shared_ptr<Point> point, Kernel kernel) {
  return [point = std::move(point), kernel] { kernel(*point); };
}

Body chain_advance() {
  const auto p = chain(26, 5000);
  return [p, direction = p->scores] { p->objective.map().advance(p->scores, 0.5, direction); };
}

/// Adds a pair (s, y) of 5,000 rows to a matrix that stores 10 pairs, and refreshes the matrix for coordinate
/// descent.
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

/// Runs iterations in which the inner problem dominates: little data, many coordinates in the working set,
/// and up to 50 passes of coordinate descent.
Body prox_newton_inner() {
  const auto task = std::make_shared<Task>(chain_data(26, 10, 500, 50), "chain");
  return [task, objective = std::shared_ptr<Objective>(new Objective(task->objective(1)))] {
    Objective evaluator = task->objective(1);
    // With sample_kkt and so few iterations, every iteration is sampled. So the work does not depend on the
    // clock.
    Monitor monitor(evaluator, *objective, {.max_iterations = 6, .sample_kkt = true});
    const SolverInfo& solver = solver_registry().find("prox-newton");
    Options options(solver.options);
    options.set("max_inner", "50");
    solver.make(options)->solve({*objective, monitor, {}, 1e-9, 1.0, 1});
  };
}

std::string letter_data(const Words& words) {
  std::string out;
  for (Index w = 0; w < words.size(); ++w)
    for (Index p = words.begin[w]; p < words.begin[w + 1]; ++p) {
      const bool last = p + 1 == words.begin[w + 1];
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t0", p, words.letter[p], last ? -1 : static_cast<int>(p + 1), w,
                         p - words.begin[w] + 1);
      for (Index pixel = 1; pixel <= kGridPixels; ++pixel) out += words.glyph[p][pixel] ? "\t1" : "\t0";
      out += '\n';
    }
  return out;
}

/// Returns a kernel that reads files from memory with a registered format.
Body read_body(const char* format, const std::string& train, const std::string& hierarchy = "",
               const Settings& settings = {}) {
  const auto train_file = std::make_shared<MemoryFile>(train), tree = std::make_shared<MemoryFile>(hierarchy);
  const auto read =
      reader_of(format, settings, {{train_file->path()}, {}, hierarchy.empty() ? "" : tree->path()});
  return [read, train_file, tree] { read(); };
}

Body read_letters() {
  return read_body("ocr", letter_data(make_synthetic_words(200, 0.05, 1)), "",
                   {{"split", "none"}, {"features", "pixels"}});
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
  return read_body("lshtc", documents, branches);
}

std::string text_of_model(const Point& p, const std::map<std::string, std::string>& header) {
  return model_text(header, p.task->data, p.w, p.objective.map().extra_weights(), chain_info().extra);
}
Body write_model() {
  return [p = chain(26, 10), header = std::map<std::string, std::string>{{"format", "crfsuite"}}] {
    text_of_model(*p, header);
  };
}
Body read_model() {
  return [text = text_of_model(*chain(26, 10), {})] { parse_model(text, "model"); };
}

struct CountedKernel {
  const char* name;
  Body (*prepare)();
};

const CountedKernel kKernels[] = {
    {"chain-forward-backward-2", [] { return body_of(chain(2, 200), infer); }},
    {"chain-forward-backward-26", [] { return body_of(chain(26, 60), infer); }},
    {"chain-forward-backward-48", [] { return body_of(chain(48, 30), infer); }},
    {"chain-forward-26", [] { return body_of(chain(26, 60), infer_value); }},
    {"chain-scores", [] { return body_of(chain(26, 200, 10000), make_scores); }},
    {"chain-advance", chain_advance},
    {"chain-gradient", [] { return body_of(chain(26, 60), full_gradient); }},
    {"chain-select-gradient", [] { return body_of(chain(26, 60), select_gradient); }},
    {"chain-partial-gradient", [] { return body_of(chain(26, 200, 10000), partial_gradient); }},
    {"tree-downward-upward", [] { return body_of(tree(), infer); }},
    {"tree-scores", [] { return body_of(tree(10000), make_scores); }},
    {"tree-select-gradient", [] { return body_of(tree(), select_gradient); }},
    {"tree-partial-gradient", [] { return body_of(tree(10000), partial_gradient); }},
    {"lbfgs-update", lbfgs_update},
    {"prox-newton-inner", prox_newton_inner},
    {"read-letters", read_letters},
    {"read-documents", read_documents},
    {"write-model", write_model},
    {"read-model", read_model},
};

void count(const std::string& name) {
  for (const CountedKernel& kernel : kKernels) {
    if (kernel.name != name) continue;
    const Body body = kernel.prepare();
    body();
    CALLGRIND_START_INSTRUMENTATION;
    body();
    CALLGRIND_STOP_INSTRUMENTATION;
    return;
  }
  throw Error::usage("unknown kernel '" + name + "'; 'list' names all");
}

void run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "list" && arguments.size() == 1)
    for (const CountedKernel& kernel : kKernels) std::puts(kernel.name);
  else if (command == "tools" && arguments.size() == 1)
    fmt::print("{}\n", nlohmann::json{{"compiler", PROXBENCH_COMPILER},
                                      {"instruction set", PROXBENCH_INSTRUCTION_SET},
                                      {"libc", std::string("glibc ") + gnu_get_libc_version()}}
                           .dump());
  else if (command == "count" && arguments.size() == 2)
    count(arguments[1]);
  else
    throw Error::usage("usage: proxbench_perf list | tools | count KERNEL");
}

}  // namespace
}  // namespace proxbench

int main(int argc, char** argv) {
  try {
    proxbench::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "proxbench_perf: error: {}\n", error.what());
    return 1;
  }
}
