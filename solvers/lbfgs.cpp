/// Limited-memory BFGS (Liu and Nocedal 1989; Nocedal and Wright 2006, algorithm 7.5) for a smooth objective:
/// lambda = 0, so that
///
///     F(w) = l(w) + (mu/2)*||w||^2.
///
///     p = -H grad F(w)       H from the newest pairs (s, y) and H_0
///     w+ = w + alpha*p       strong Wolfe conditions (solvers/shared/strong_wolfe.h)
///
/// Scores are linear in w: each trial costs one inference at S + alpha*S_p, which gives F and its slope, and
/// an iteration maps w once and forms one gradient, whatever its number of trials.
///
/// H_0 = gamma * M^-1, with M a rough Hessian (solvers/shared/rough_hessian.h) where it has
/// blocks, else gamma * I (with word features M is out of date too soon: solvers/RESULTS.md); gamma is that
/// of the newest pair. The first trial is alpha = 1, and 1/||g|| before the first pair where H_0 is a
/// multiple of I. The Wolfe conditions make y^T s > 0. A search that fails is repeated once with H = H_0, the
/// pairs dropped; when that fails too, no decrease is left: stalled.

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/shared/dense.h"
#include "solvers/shared/lbfgs_memory.h"
#include "solvers/shared/rough_hessian.h"
#include "solvers/shared/score_line.h"
#include "solvers/shared/strong_wolfe.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// H_0 = gamma * M^-1, M the rough Hessian, gamma = y^T s / y^T M^-1 y of the newest pair.
class StartMatrix {
 public:
  explicit StartMatrix(const Objective& objective) : objective_(objective), rough_(objective) {}

  bool has_blocks() const { return rough_.has_blocks(); }
  /// Builds M at `now` where the loss has fallen to half of what it was when M was built.
  void follow(const dense::Point& now) {
    if (!(now.loss <= 0.5 * built_at_)) return;
    rough_.build(now.residual);
    built_at_ = now.loss;
  }
  void rescale(std::span<const double> w, std::span<const double> w_old, std::span<const double> g,
               std::span<const double> g_old) {
    const Parallel& parallel = objective_.parallel();
    std::vector<double> y(g.size());
    dense::for_range(parallel, y.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) y[i] = g[i] - g_old[i];
    });
    std::vector<double> solved = y;
    rough_.solve(solved);
    const double sy = dense::sum_range(parallel, y.size(), [&](std::size_t begin, std::size_t end) {
      double sum = 0.0;
      for (std::size_t i = begin; i < end; ++i) sum += (w[i] - w_old[i]) * y[i];
      return sum;
    });
    if (sy > 0.0) gamma_ = sy / dense::dot(parallel, y, solved);
  }
  /// r := H_0 r.
  void apply(std::span<double> r) const {
    rough_.solve(r);
    dense::for_range(objective_.parallel(), r.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) r[i] *= gamma_;
    });
  }

 private:
  const Objective& objective_;
  dense::RoughHessian rough_;
  double built_at_ = std::numeric_limits<double>::infinity(), gamma_ = 1.0;
};

class Lbfgs final : public Solver {
 public:
  explicit Lbfgs(const Options& options)
      : memory_(static_cast<std::size_t>(options.integer("memory"))),
        wolfe_{.decrease = options.real("decrease"),
               .curvature = options.real("curvature"),
               .max_trials = static_cast<int>(options.integer("max_linesearch"))},
        blocks_(options.string("start") == "blocks"),
        patience_(options.integer("patience")) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& objective = problem.objective;
    const std::size_t d = objective.dimension();
    dense::Point now(objective, problem.start);
    dense::ScoreLine line(objective);
    std::vector<double> g(d), g_next(d), w_before(d), p(d);
    dense::LbfgsMemory memory(memory_, d, objective.parallel());
    StartMatrix start(objective);
    const bool blocks = blocks_ && start.has_blocks();
    dense::Run run(problem, patience_);
    if (!run.open(now, g)) return run.result(now);

    while (true) {
      if (blocks) start.follow(now);
      bool moved = search(problem, now, g, memory, blocks ? &start : nullptr, line, p);
      if (!moved && !memory.empty() && !problem.monitor.out_of_time()) {
        memory.clear();
        moved = search(problem, now, g, memory, blocks ? &start : nullptr, line, p);
      }
      if (!moved) return run.result(now, run.without_step());

      w_before = now.w;
      line.move(objective, now);
      if (now.w == w_before) return run.result(now, run.without_step());
      objective.gradient(now.residual, now.w, g_next);
      if (blocks) start.rescale(now.w, w_before, g_next, g);
      memory.update(now.w, w_before, g_next, g, 0.0);
      std::swap(g, g_next);
      if (!run.step(now, run.kkt(now, g))) return run.result(now);
    }
  }

 private:
  /// p = -H g, and the search along it.
  bool search(const SolveProblem& problem, const dense::Point& now, const std::vector<double>& g,
              dense::LbfgsMemory& memory, const StartMatrix* start, dense::ScoreLine& line,
              std::vector<double>& p) const {
    Objective& objective = problem.objective;
    dense::for_range(objective.parallel(), g.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) p[i] = -g[i];
    });
    if (start != nullptr)
      memory.apply(p, [&](std::span<double> r) { start->apply(r); });
    else
      memory.apply(p);
    const double first = memory.scale() == 0.0 && start == nullptr
                             ? 1.0 / std::sqrt(dense::dot(objective.parallel(), g, g))
                             : 1.0;
    line.open(objective, now, g, p);
    if (!(line.start().slope < 0.0)) return false;
    return dense::strong_wolfe(line.start(), first, wolfe_,
                               [&](double alpha) {
                                 if (problem.monitor.out_of_time()) {
                                   constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
                                   return dense::LineValue{kNan, kNan};
                                 }
                                 return line.at(objective, alpha,
                                                [&](const ScorePoint& at, Residual& residual) {
                                                  return objective.infer(at, &residual);
                                                });
                               })
        .accepted;
  }

  std::size_t memory_;
  dense::WolfeOptions wolfe_;
  bool blocks_;
  std::int64_t patience_;
};

}  // namespace

SolverInfo lbfgs_info() {
  return {
      .name = "lbfgs",
      .help = "L-BFGS with a strong Wolfe line search in the space of scores (lambda = 0)",
      .paper =
          "Liu and Nocedal, On the limited memory BFGS method for large scale optimization, Math. "
          "Programming 1989",
      .options =
          {
              {.name = "memory",
               .type = OptionType::kInt,
               .default_value = "10",
               .help = "pairs (s, y) kept, m",
               .min = 1,
               .max = 1000},
              {.name = "max_linesearch",
               .type = OptionType::kInt,
               .default_value = "40",
               .help = "most trials of a line search",
               .min = 1,
               .max = 1000},
              {.name = "decrease",
               .type = OptionType::kReal,
               .default_value = "1e-4",
               .help = "c1 of the Wolfe conditions: share of the predicted decrease that a step must reach",
               .min = 0,
               .max = 0.5,
               .min_open = true,
               .max_open = true},
              {.name = "curvature",
               .type = OptionType::kReal,
               .default_value = "0.9",
               .help = "c2 of the Wolfe conditions: share of the slope that a step may leave",
               .min = 0.5,
               .max = 1,
               .max_open = true},
              {.name = "start",
               .type = OptionType::kString,
               .default_value = "blocks",
               .help =
                   "H_0: blocks: the inverse of the Hessian's blocks by output where there are at most 512 "
                   "features, else as identity; identity: (y^T s / y^T y) I",
               .choices = {"blocks", "identity"}},
              dense::patience_option(100),
          },
      .make = [](const Options& options) { return std::make_unique<Lbfgs>(options); },
      .needs = {.smooth = true},
      .shares_instances = true,
  };
}

}  // namespace proxbench
