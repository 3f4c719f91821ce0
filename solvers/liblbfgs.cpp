/// The two methods of libLBFGS (Okazaki, version 1.10; the trainer inside CRFsuite and others), behind the
/// same interface and on the same oracle as all other solvers. With f(w) = l(w) + (mu/2)*||w||^2, of which
/// the library is given value and gradient,
///
///     liblbfgs-owlqn   F(w) = f(w) + lambda*||w||_1, orthantwise_c = lambda > 0. Andrew and Gao, ICML 2007.
///     liblbfgs         F(w) = f(w), lambda = 0: L-BFGS with the line search of More and Thuente (ACM Trans.
///     Math.
///                      Software 1994) for the strong Wolfe conditions.
///
/// The library's own stopping tests are off (epsilon = delta = 0): our kkt test in its progress callback
/// decides, as for all solvers. It has no allowance for rounding in F and no restart, so close to the optimum
/// its line search may give up; that is reported as stalled.

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>

#include "solvers/shared/dense.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// What the C callbacks work on. They must not throw: an exception is kept here, and rethrown after lbfgs()
/// has ended.
class Callbacks {
 public:
  Callbacks(const SolveProblem& problem, std::int64_t patience)
      : problem_(problem), at_(problem.objective, problem.start), guard_(patience) {
    result_.w = problem.start;
    result_.working_set = at_.w.size();
  }

  /// f(x), and its gradient in g. n may count padding after the d coordinates, where all is 0.
  double evaluate(const double* x, double* g, int n) {
    const std::size_t d = at_.w.size();
    std::fill(g + d, g + n, 0.0);
    if (started_ && !ended_ && problem_.monitor.out_of_time()) {
      end(problem_.monitor.stop_status());
      // No value is lower, and the slope is 0: the line search takes it, and then lbfgs() asks progress()
      // whether to go on.
      std::fill(g, g + d, 0.0);
      return -std::numeric_limits<double>::infinity();
    }
    if (!ended_) {
      try {
        return evaluate_or_throw({x, d}, {g, d});
      } catch (...) {
        failure_ = std::current_exception();
        ended_ = true;
      }
    }
    stop(x, g);
    return std::numeric_limits<double>::quiet_NaN();
  }

  /// Nonzero: stop.
  int progress(const double* x, const double* g, int iteration) {
    if (ended_) return 1;
    try {
      progress_or_throw({x, at_.w.size()}, {g, at_.w.size()}, iteration);
    } catch (...) {
      failure_ = std::current_exception();
      ended_ = true;
    }
    return ended_ ? 1 : 0;
  }

  /// After lbfgs() has returned `code`.
  SolveResult result(int code) {
    if (failure_) std::rethrow_exception(failure_);
    if (!ended_) result_.status = status_of(code);
    if (result_.status == Status::kConverged && !ended_ && !optimal()) result_.status = Status::kStalled;
    return std::move(result_);
  }

 private:
  double evaluate_or_throw(std::span<const double> x, std::span<double> g) {
    Objective& objective = problem_.objective;
    // By now the library has allocated its memory.
    const bool first = !started_;
    if (first) problem_.monitor.start(problem_.start);
    started_ = true;
    at_.w.assign(x.begin(), x.end());
    at_.evaluate(objective);
    objective.gradient(at_.residual, at_.w, g);
    if (first) {
      if (!std::isfinite(at_.value())) {
        end(Status::kDiverged);
        stop(x.data(), g.data());
      } else if (dense::kkt(objective.parallel(), x, g, objective.lambda()) <= problem_.kkt_target()) {
        end(Status::kConverged);
        stop(x.data(), g.data());
      }
    }
    return at_.smooth;
  }

  void progress_or_throw(std::span<const double> x, std::span<const double> g, int iteration) {
    const Objective& objective = problem_.objective;
    // x is the point that was evaluated last.
    result_.w = at_.nonzeros;
    result_.iterations = iteration;
    const double kkt = dense::kkt(objective.parallel(), x, g, objective.lambda());
    const bool go_on = problem_.monitor.step(iteration, result_.w, x.size(), at_.loss);
    if (kkt <= problem_.kkt_target())
      end(Status::kConverged);
    else if (!go_on)
      end(problem_.monitor.stop_status());
    else if (guard_.stalled(at_.value(), kkt))
      end(Status::kStalled);
  }

  /// Whether kkt where the library ended is what it should be: its own norms overflow where gradients of
  /// 1e155 are squared, and steps of length 0 look like success.
  bool optimal() const {
    const Objective& objective = problem_.objective;
    std::vector<double> g(at_.w.size());
    objective.gradient(at_.residual, at_.w, g);
    return dense::kkt(objective.parallel(), at_.w, g, objective.lambda()) <= problem_.kkt_target();
  }

  void end(Status status) {
    result_.status = status;
    ended_ = true;
  }

  /// Fills g so that the pseudo-gradient at x is 0: the only way to make lbfgs() return before its first
  /// iteration.
  void stop(const double* x, double* g) const {
    const double lambda = problem_.objective.lambda();
    for (std::size_t i = 0; i < at_.w.size(); ++i) g[i] = x[i] > 0.0 ? -lambda : (x[i] < 0.0 ? lambda : 0.0);
  }

  /// Codes of an lbfgs() that ended of its own accord; the names are the library's.
  static Status status_of(int code) {
    switch (code) {
      case LBFGS_SUCCESS:  // the pseudo-gradient is exactly 0
      case LBFGS_ALREADY_MINIMIZED:
        return Status::kConverged;
      case LBFGS_STOP:
      case LBFGSERR_OUTOFINTERVAL:
      case LBFGSERR_INCORRECT_TMINMAX:
      case LBFGSERR_ROUNDING_ERROR:
      case LBFGSERR_MINIMUMSTEP:
      case LBFGSERR_MAXIMUMSTEP:
      case LBFGSERR_MAXIMUMLINESEARCH:
      case LBFGSERR_WIDTHTOOSMALL:
      case LBFGSERR_INVALIDPARAMETERS:  // a step that is not positive: the direction is not finite
      case LBFGSERR_INCREASEGRADIENT:
        return Status::kStalled;
      case LBFGSERR_MAXIMUMITERATION:
        return Status::kMaxIterations;
      case LBFGSERR_OUTOFMEMORY:
        throw Error("liblbfgs: out of memory");
      default:
        throw Error("liblbfgs: lbfgs() returned " + std::to_string(code) +
                    ", expected a code of lbfgs.h that " + "its parameters here allow");
    }
  }

  const SolveProblem& problem_;
  dense::Point at_;
  dense::StallGuard guard_;
  SolveResult result_;
  std::exception_ptr failure_;
  bool started_ = false, ended_ = false;
};

lbfgsfloatval_t evaluate_callback(void* instance, const lbfgsfloatval_t* x, lbfgsfloatval_t* g, const int n,
                                  const lbfgsfloatval_t) {
  return static_cast<Callbacks*>(instance)->evaluate(x, g, n);
}

int progress_callback(void* instance, const lbfgsfloatval_t* x, const lbfgsfloatval_t* g,
                      const lbfgsfloatval_t, const lbfgsfloatval_t, const lbfgsfloatval_t,
                      const lbfgsfloatval_t, int, int iteration, int) {
  return static_cast<Callbacks*>(instance)->progress(x, g, iteration);
}

class Liblbfgs final : public Solver {
 public:
  /// `line_search`: LBFGS_LINESEARCH_...
  Liblbfgs(const std::string& name, int line_search, const Options& options)
      : name_(name), patience_(options.integer("patience")) {
    lbfgs_parameter_init(&parameters_);
    parameters_.m = static_cast<int>(options.integer("memory"));
    parameters_.max_linesearch = static_cast<int>(options.integer("max_linesearch"));
    parameters_.ftol = options.real("ftol");
    parameters_.min_step = options.real("min_step");
    parameters_.linesearch = line_search;
    parameters_.epsilon = 0.0;
    parameters_.past = 0;
    parameters_.delta = 0.0;
    parameters_.max_iterations = 0;
  }

  SolveResult solve(const SolveProblem& problem) override {
    const std::size_t d = problem.objective.dimension();
    constexpr std::size_t kMost = std::numeric_limits<int>::max() - 16;
    if (d > kMost)
      throw Error(name_ + ": found d = " + std::to_string(d) + ", expected at most " + std::to_string(kMost) +
                  " (the library counts coordinates as int)");
    const std::unique_ptr<lbfgsfloatval_t, decltype(&lbfgs_free)> x(lbfgs_malloc(static_cast<int>(padded(d))),
                                                                    lbfgs_free);
    if (!x) throw Error("liblbfgs: out of memory");
    // Also the padding up to a multiple of 8, which its SSE build takes for coordinates.
    std::fill(x.get(), x.get() + padded(d), 0.0);
    for (std::size_t i = 0; i < problem.start.nnz(); ++i)
      x.get()[problem.start.index[i]] = problem.start.value[i];

    lbfgs_parameter_t parameters = parameters_;
    parameters.orthantwise_c = problem.objective.lambda();
    parameters.orthantwise_start = 0;
    parameters.orthantwise_end = static_cast<int>(d);
    Callbacks callbacks(problem, patience_);
    const int code = lbfgs(static_cast<int>(d), x.get(), nullptr, evaluate_callback, progress_callback,
                           &callbacks, &parameters);
    return callbacks.result(code);
  }

 private:
  std::string name_;
  lbfgs_parameter_t parameters_;
  std::int64_t patience_;
};

OptionTable liblbfgs_options() {
  return {
      {.name = "memory",
       .type = OptionType::kInt,
       .default_value = "6",
       .help = "the library's m: pairs (s, y) kept by L-BFGS (6 is its default, and CRFsuite's)",
       .min = 1,
       .max = 1000},
      {.name = "max_linesearch",
       .type = OptionType::kInt,
       .default_value = "40",
       .help = "trial steps of one line search",
       .min = 1,
       .max = 1000},
      {.name = "ftol",
       .type = OptionType::kReal,
       .default_value = "1e-4",
       .help = "share of the predicted decrease that a step must reach",
       .min = 0,
       .max = 0.5,
       .min_open = true,
       .max_open = true},
      {.name = "min_step",
       .type = OptionType::kReal,
       .default_value = "1e-20",
       .help = "shortest step that a line search tries",
       .min = 0,
       .max = 1},
      dense::patience_option(100),
  };
}

}  // namespace

SolverInfo liblbfgs_owlqn_info() {
  return {
      .name = "liblbfgs-owlqn",
      .help =
          "OWL-QN of libLBFGS 1.10, as used by CRFsuite; not scale-free: the library's first step has length "
          "1",
      .paper =
          "Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML 2007; Okazaki, "
          "libLBFGS",
      .options = liblbfgs_options(),
      .make =
          [](const Options& options) {
            return std::make_unique<Liblbfgs>("liblbfgs-owlqn", LBFGS_LINESEARCH_BACKTRACKING, options);
          },
      .needs = {.l1 = true},
      .shares_instances = true,
  };
}

SolverInfo liblbfgs_info() {
  return {
      .name = "liblbfgs",
      .help =
          "L-BFGS of libLBFGS 1.10 with the line search of More and Thuente, as used by CRFsuite (lambda = "
          "0); not scale-free: the library's first step has length 1",
      .paper =
          "Liu and Nocedal, On the limited memory BFGS method for large scale optimization, Math. "
          "Programming 1989; Okazaki, libLBFGS",
      .options = liblbfgs_options(),
      .make =
          [](const Options& options) {
            return std::make_unique<Liblbfgs>("liblbfgs", LBFGS_LINESEARCH_MORETHUENTE, options);
          },
      .needs = {.smooth = true},
      .shares_instances = true,
  };
}

}  // namespace proxbench
