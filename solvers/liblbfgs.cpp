/// The two methods of libLBFGS (Okazaki, version 1.10; the trainer inside CRFsuite and others), behind the
/// same interface and on the same oracle as all other solvers. The library gets the value and the gradient of
/// f(w) = l(w) + (mu/2)*||w||^2.
///
///     liblbfgs-owlqn   F(w) = f(w) + lambda*||w||_1, orthantwise_c = lambda > 0. Andrew and Gao, ICML 2007.
///     liblbfgs         F(w) = f(w), lambda = 0: L-BFGS with the line search of More and Thuente (ACM Trans.
///                      Math. Software 1994) for the strong Wolfe conditions.
///
/// The library's own stopping tests are off (epsilon = delta = 0): as for all solvers, our kkt test decides,
/// in the progress callback. The library has no allowance for rounding in F and no restart. Close to the
/// optimum its line search may therefore give up, which is reported as stalled.

#include <lbfgs.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/base/schema.h"
#include "core/stateless.h"
#include "solvers/shared/dense.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// The state of the C callbacks. Callbacks must not throw, so this object keeps an exception, and rethrows it
/// once lbfgs() has returned.
class Callbacks {
 public:
  explicit Callbacks(const SolveProblem& problem)
      : problem_(problem), at_(problem.objective, problem.start), run_(problem) {
    result_.w = problem.start;
  }

  /// Returns f(x) and sets g to its gradient. n may include padding after the d coordinates, where x and g
  /// are 0.
  double evaluate(const double* x, double* g, int n) {
    const std::size_t d = at_.w.size();
    std::fill(g + d, g + n, 0.0);
    if (started_ && !ended_ && problem_.monitor.out_of_time()) {
      end(problem_.monitor.stop_status());
      // The value is the lowest possible and the slope is 0, so the line search accepts the point. lbfgs()
      // then asks progress() whether to go on.
      std::fill(g, g + d, 0.0);
      return -kInfinity;
    }
    if (const auto value = guarded([&] { return evaluate_or_throw({x, d}, {g, d}); })) return *value;
    stop(x, g);
    return kNaN;
  }

  /// The library's progress callback. Returns nonzero to stop the library.
  int progress(const double* g) {
    guarded([&] { return progress_or_throw({g, at_.w.size()}); });
    return ended_ ? 1 : 0;
  }

  /// Returns the result, or rethrows the exception of a callback. `code` is what lbfgs() returned.
  SolveResult result(int code) {
    if (failure_) std::rethrow_exception(failure_);
    if (!ended_) result_.status = status_of(code);
    if (result_.status == Status::kConverged && !ended_ && !optimal()) result_.status = Status::kStalled;
    return std::move(result_);
  }

 private:
  /// Returns the result of call(). Returns nothing if the run has ended. If call() throws, the run ends.
  std::optional<double> guarded(const auto& call) {
    try {
      if (!ended_) return call();
    } catch (...) {
      failure_ = std::current_exception();
      ended_ = true;
    }
    return std::nullopt;
  }

  double evaluate_or_throw(std::span<const double> x, std::span<double> g) {
    if (!started_) {
      // By now the library has allocated its memory. The first point it asks for is the start.
      started_ = true;
      if (!run_.open(at_, g)) {
        end(run_.status());
        stop(x.data(), g.data());
      }
      return at_.smooth;
    }
    at_.w.assign(x.begin(), x.end());
    at_.evaluate(problem_.objective);
    problem_.objective.gradient(at_.residual, at_.w, g);
    return at_.smooth;
  }

  double progress_or_throw(std::span<const double> g) {
    // The library's x is the last point that was evaluated.
    result_.w = at_.nonzeros;
    if (!run_.step(at_, run_.kkt(at_, g))) end(run_.status());
    return 0.0;
  }

  /// Whether kkt meets its target where the library stopped. The library's own norms overflow when it squares
  /// gradients of 1e155, and steps of length 0 then look like success.
  bool optimal() const {
    std::vector<double> g(at_.w.size());
    problem_.objective.gradient(at_.residual, at_.w, g);
    return run_.kkt(at_, g) <= problem_.kkt_target();
  }

  void end(Status status) {
    result_.status = status;
    ended_ = true;
  }

  /// Fills g so that the pseudo-gradient at x is 0. Nothing else makes lbfgs() return before its first
  /// iteration.
  void stop(const double* x, double* g) const {
    const double lambda = problem_.objective.lambda();
    for (std::size_t i = 0; i < at_.w.size(); ++i) g[i] = x[i] > 0.0 ? -lambda : (x[i] < 0.0 ? lambda : 0.0);
  }

  /// The status for the codes of an lbfgs() that stopped of its own accord. The names are the library's.
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
      case LBFGSERR_INVALIDPARAMETERS:  // the step is not positive, since the direction is not finite
      case LBFGSERR_INCREASEGRADIENT:
        return Status::kStalled;
      case LBFGSERR_MAXIMUMITERATION:
        return Status::kMaxIterations;
      case LBFGSERR_OUTOFMEMORY:
        throw Error("liblbfgs: out of memory");
      default:
        throw Error("liblbfgs: lbfgs() returned ", code, ", expected a code of lbfgs.h that ",
                    "its parameters here allow");
    }
  }

  const SolveProblem& problem_;
  dense::Point at_;
  dense::Run run_;
  SolveResult result_;
  std::exception_ptr failure_;
  bool started_ = false, ended_ = false;
};

lbfgsfloatval_t evaluate_callback(void* instance, const lbfgsfloatval_t* x, lbfgsfloatval_t* g, const int n,
                                  const lbfgsfloatval_t) {
  return static_cast<Callbacks*>(instance)->evaluate(x, g, n);
}

int progress_callback(void* instance, const lbfgsfloatval_t*, const lbfgsfloatval_t* g, const lbfgsfloatval_t,
                      const lbfgsfloatval_t, const lbfgsfloatval_t, const lbfgsfloatval_t, int, int, int) {
  return static_cast<Callbacks*>(instance)->progress(g);
}

struct Settings {
  int memory;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::memory, "memory", "6",
              "the library's m: pairs (s, y) kept by L-BFGS (6 is its default, and CRFsuite's)", {1, 1000})});
}

/// `line_search`: LBFGS_LINESEARCH_...
auto solve_by(const std::string& name, int line_search) {
  return [=](const SolveProblem& problem, const Settings& settings) {
    const std::size_t d = problem.objective.dimension();
    constexpr std::size_t kMost = std::numeric_limits<int>::max() - 16;
    if (d > kMost)
      throw Error(name, ": found d = ", d, ", expected at most ", kMost,
                  " (the library counts coordinates as int)");
    if (d == 0) {  // no feature can get a weight, and the library wants coordinates
      dense::Point nowhere(problem.objective, problem.start);
      dense::Run run(problem);
      std::vector<double> none;
      run.open(nowhere, none);
      return run.result(nowhere);
    }
    const std::unique_ptr<lbfgsfloatval_t, decltype(&lbfgs_free)> x(lbfgs_malloc(static_cast<int>(padded(d))),
                                                                    lbfgs_free);
    if (!x) throw Error("liblbfgs: out of memory");
    // The padding up to a multiple of 8 is zeroed too, since the library's SSE build treats it as
    // coordinates.
    std::fill(x.get(), x.get() + padded(d), 0.0);
    for (std::size_t i = 0; i < problem.start.nnz(); ++i)
      x.get()[problem.start.index[i]] = problem.start.value[i];

    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = settings.memory;
    parameters.linesearch = line_search;
    parameters.epsilon = 0.0;
    parameters.orthantwise_c = problem.objective.lambda();
    parameters.orthantwise_start = 0;
    parameters.orthantwise_end = static_cast<int>(d);
    Callbacks callbacks(problem);
    const int code = lbfgs(static_cast<int>(d), x.get(), nullptr, evaluate_callback, progress_callback,
                           &callbacks, &parameters);
    return callbacks.result(code);
  };
}

}  // namespace

SolverInfo liblbfgs_owlqn_info() {
  return stateless(rows(), solve_by("liblbfgs-owlqn", LBFGS_LINESEARCH_BACKTRACKING),
                   {
                       .name = "liblbfgs-owlqn",
                       .help = "OWL-QN of libLBFGS 1.10, as used by CRFsuite; not scale-free: the library's "
                               "first step has length 1",
                       .paper = "Andrew and Gao, Scalable training of L1-regularized log-linear models, ICML "
                                "2007; Okazaki, libLBFGS",
                       .needs = {.l1 = true},
                       .shares_instances = true,
                       .bytes_per_weight = 240,
                   });
}

SolverInfo liblbfgs_info() {
  return stateless(rows(), solve_by("liblbfgs", LBFGS_LINESEARCH_MORETHUENTE),
                   {
                       .name = "liblbfgs",
                       .help = "L-BFGS of libLBFGS 1.10 with the line search of More and Thuente, as used by "
                               "CRFsuite (lambda = 0); not scale-free: the library's first step has length 1",
                       .paper = "Liu and Nocedal, On the limited memory BFGS method for large scale "
                                "optimization, Math. Programming 1989; Okazaki, libLBFGS",
                       .needs = {.smooth = true},
                       .shares_instances = true,
                       .bytes_per_weight = 240,
                   });
}

}  // namespace proxbench
