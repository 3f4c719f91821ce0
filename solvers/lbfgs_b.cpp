/// L-BFGS-B (Byrd, Lu, Nocedal, Zhu 1995; Zhu et al. 1997, Algorithm 778; version 3.0 of the authors' Fortran
/// code) on the formulation of Kazama and Tsujii (EMNLP 2003), the comparison of Andrew and Gao 2007,
/// section 4. With f(w) = l(w) + (mu/2)*||w||^2 it minimises
///
///     f(w+ - w-) + lambda * sum_j (w+_j + w-_j)    subject to w+, w- >= 0
///
/// over N = 2d variables. The gradients are g + lambda and -g + lambda, with g the gradient of f at w = w+ -
/// w-. At a minimum w+_j or w-_j is zero for each j, so the value equals F. If lambda = 0 there is nothing to
/// split: the d weights are free variables, and this is L-BFGS with the line search of More and Thuente.
///
/// An iterate is reported as w+ - w-. Before the optimum both parts of a weight may be positive. F is then
/// below the value that the library sees. The library's own stopping tests are off (factr = pgtol = 0): as
/// for all solvers, our kkt test decides. Outside of our inference and gradients the library runs on one
/// thread, except for the system's BLAS.
///
/// The formulation needs much memory: (2m + 8)*N doubles and 4*N integers, which is 320 bytes per weight for
/// m = 5. A problem that does not fit is refused before anything is allocated.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/schema.h"
#include "core/stateless.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/solvers.h"

extern "C" {
/// setulb of the Fortran source lbfgsb.f, which has no header. Every argument is passed by reference. The
/// lengths of both texts follow.
// NOLINTNEXTLINE: the name is Fortran's.
void setulb_(const int* n, const int* m, double* x, const double* l, const double* u, const int* nbd,
             double* f, double* g, const double* factr, const double* pgtol, double* wa, int* iwa, char* task,
             const int* iprint, char* csave, int* lsave, int* isave, double* dsave, std::size_t task_length,
             std::size_t csave_length);
}

namespace proxbench {
namespace {

constexpr std::size_t kTextLength = 60;

/// While this object lives, Fortran's standard output goes to standard error.
class ToStandardError {
 public:
  ToStandardError() : own_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~ToStandardError() {
    // Fortran's run-time library has a buffer of its own. This program is not linked with that library, only
    // the solver's library is.
    static const auto flush =
        reinterpret_cast<void (*)(const int*)>(::dlsym(RTLD_DEFAULT, "_gfortran_flush_i4"));
    constexpr int kFortranOutput = 6;
    if (flush != nullptr) flush(&kFortranOutput);
    ::dup2(own_, STDOUT_FILENO);
    ::close(own_);
  }
  ToStandardError(const ToStandardError&) = delete;
  ToStandardError& operator=(const ToStandardError&) = delete;

 private:
  int own_;
};

/// The library's state between calls. The library works by reverse communication: after each call, task()
/// names the library's next request.
class Lbfgsb {
 public:
  Lbfgsb(std::size_t variables, std::size_t memory, bool bounded)
      : n_(static_cast<int>(variables)),
        m_(static_cast<int>(memory)),
        x(variables, 0.0),
        g(variables, 0.0),
        bound_(variables, 0.0),
        kind_(variables, bounded ? kBoundedBelow : kFree),
        numbers_(work_doubles(variables, memory)),
        integers_(3 * variables) {
    csave_.fill(' ');
  }

  /// The memory of an object of this class, in bytes.
  static double bytes(std::size_t variables, std::size_t memory) {
    const double n = static_cast<double>(variables);
    return sizeof(double) * (static_cast<double>(work_doubles(variables, memory)) + 3.0 * n) +
           sizeof(int) * 4.0 * n;
  }

  /// The library's output goes to standard error, since the library prints some warnings in spite of its
  /// option to be silent.
  void call() {
    constexpr double kNever = 0.0;
    constexpr int kSilent = -1;
    const ToStandardError redirected;
    setulb_(&n_, &m_, x.data(), bound_.data(), bound_.data(), kind_.data(), &f, g.data(), &kNever, &kNever,
            numbers_.data(), integers_.data(), task_.data(), &kSilent, csave_.data(), lsave_.data(),
            isave_.data(), dsave_.data(), kTextLength, kTextLength);
  }
  std::string_view task() const {
    const std::string_view text(task_.data(), kTextLength);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }
  void say(std::string_view text) {
    task_.fill(' ');
    std::ranges::copy(text, task_.begin());
  }

 private:
  static constexpr int kFree = 0, kBoundedBelow = 1;  ///< values of nbd

  static std::size_t work_doubles(std::size_t n, std::size_t m) {
    return 2 * m * n + 5 * n + 11 * m * m + 8 * m;
  }

  int n_, m_;

 public:
  std::vector<double> x, g;
  double f = 0.0;

 private:
  std::vector<double> bound_;
  std::vector<int> kind_;
  std::vector<double> numbers_;
  std::vector<int> integers_;
  std::array<char, kTextLength> task_, csave_;
  std::array<int, 4> lsave_{};
  std::array<int, 44> isave_{};
  std::array<double, 29> dsave_{};
};

struct Settings {
  std::size_t memory;
  double memory_limit, change;
};

Schema<Settings> rows() {
  return Schema<Settings>({option(&Settings::memory, "memory", "5",
                                  "the library's m: pairs kept by L-BFGS (Andrew and Gao: 5)", {1, 1000}),
                           option(&Settings::memory_limit, memory_limit_option()),
                           option(&Settings::change, dense::change_option())});
}

/// Throws Error if the library cannot count that many variables, or if memory is too small for them.
void require_room(Coord d, std::size_t variables, const Settings& settings) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (variables > kMost / 3)
    throw Error("lbfgs-b: found d = ", d, ", expected at most ", kMost / 6,
                " (the library counts 3N numbers as int, N = 2d)");
  require_memory(Lbfgsb::bytes(variables, settings.memory), settings.memory_limit,
                 all_parts("lbfgs-b: found d = ", d, ", whose ", variables,
                           " variables with memory = ", settings.memory));
}

/// One run of the library, which is restarted from the last iterate if the library gives up.
class Session {
 public:
  Session(const SolveProblem& problem, const Settings& settings)
      : problem_(problem),
        objective_(problem.objective),
        lambda_(problem.objective.lambda()),
        d_(problem.objective.dimension()),
        library_(lambda_ > 0.0 ? 2 * d_ : d_, settings.memory, lambda_ > 0.0),
        trial_(problem.objective, problem.start),
        now_(trial_),
        trial_gradient_(d_),
        gradient_(d_),
        run_(problem, settings.change) {}

  SolveResult solve() {
    if (!run_.open(now_, gradient_)) return run_.result(now_);
    start();
    bool moved = false;  // since the library last started
    while (true) {
      library_.call();
      const std::string_view task = library_.task();
      if (task.starts_with("FG_START")) {
        hand_over(now_, gradient_);
      } else if (task.starts_with("FG")) {
        if (problem_.monitor.out_of_time()) return run_.stuck(now_);
        evaluate();
      } else if (task.starts_with("NEW_X") && std::isfinite(trial_.value())) {
        std::swap(now_, trial_);
        std::swap(gradient_, trial_gradient_);
        moved = true;
        if (!run_.step(now_, run_.kkt(now_, gradient_))) return run_.result(now_);
      } else if (task.starts_with("NEW_X") || task.starts_with("ABNORMAL") ||
                 task.starts_with("CONVERGENCE")) {
        // F did not change to the last bit, or no step lowers F. Near the optimum rounding may be the only
        // cause, so restart once without the pairs. (Our own kkt test has already seen whether the projected
        // gradient is 0.)
        if (!std::exchange(moved, false)) return run_.result(now_, Status::kStalled);
        start();
      } else {
        throw Error("lbfgs-b: the library says '", task, "', expected a task of its manual");
      }
    }
  }

 private:
  bool split() const { return lambda_ > 0.0; }

  /// Restarts the library at `now_`, without pairs.
  void start() {
    library_.say("START");
    for (std::size_t j = 0; j < d_; ++j) {
      library_.x[j] = split() ? std::max(now_.w[j], 0.0) : now_.w[j];
      if (split()) library_.x[d_ + j] = std::max(-now_.w[j], 0.0);
    }
  }

  /// Passes the value at a point and the gradient there to the library.
  void hand_over(const dense::Point& at, const std::vector<double>& gradient) {
    const std::vector<double>& x = library_.x;
    double value = at.smooth;
    if (split())
      value += lambda_ * dense::sum_all(objective_.parallel(), x.size(), [&](std::size_t i) { return x[i]; });
    library_.f = std::isfinite(value) ? value : 2.0 * std::abs(now_.value()) + 1.0;
    dense::for_all(objective_.parallel(), d_, [&](std::size_t j) {
      library_.g[j] = lambda_ + gradient[j];
      if (split()) library_.g[d_ + j] = lambda_ - gradient[j];
    });
  }

  /// Evaluates the library's x, in one pass. If F is not finite at x, the library gets the iterate's gradient
  /// and a value above the iterate's, so that its line search backs off.
  void evaluate() {
    const std::vector<double>& x = library_.x;
    dense::for_all(objective_.parallel(), d_,
                   [&](std::size_t j) { trial_.w[j] = split() ? x[j] - x[d_ + j] : x[j]; });
    trial_.evaluate(objective_);
    const bool has_value = std::isfinite(trial_.value());
    if (has_value) objective_.gradient(trial_.residual, trial_.w, trial_gradient_);
    hand_over(trial_, has_value ? trial_gradient_ : gradient_);
  }

  const SolveProblem& problem_;
  Objective& objective_;
  double lambda_;
  std::size_t d_;
  Lbfgsb library_;
  dense::Point trial_, now_;
  std::vector<double> trial_gradient_, gradient_;  ///< of f, at the last trial with a value and at now_
  dense::Run run_;
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  const Coord d = problem.objective.dimension();
  const std::size_t variables = problem.objective.lambda() > 0.0 ? 2 * d : d;
  require_room(d, variables, settings);
  Session session(problem, settings);
  SolveResult result = session.solve();
  result.notes["work_array_bytes"] = Lbfgsb::bytes(variables, settings.memory);
  return result;
}

}  // namespace

SolverInfo lbfgs_b_info() {
  return stateless(rows(), solve,
                   {
                       .name = "lbfgs-b",
                       .help = "L-BFGS-B on w = w+ - w-, both >= 0 (Kazama and Tsujii), by Nocedal's "
                               "library; not scale-free: the library's first step has length 1",
                       .paper = "Kazama and Tsujii, EMNLP 2003; Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. "
                                "1995; Andrew and Gao 2007, section 4",
                   });
}

}  // namespace proxbench
