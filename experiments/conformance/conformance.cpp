#include "experiments/conformance/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "solvers/best_solver.h"
#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_run.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::Conditions;
using test::HookedOracle;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
constexpr double kTolerance = 1e-6;
/// The certificate's kkt may exceed the solver's own by this factor, because both have rounding errors.
constexpr double kKktSlack = 1 + 1e-6;
/// Relative difference allowed between the F of two solvers that reach kkt <= kTolerance * (kkt at w = 0).
constexpr double kValueSlack = 1e-8;
/// F of an inexact solver with default options may end above the optimum by this share of F(0) - optimum.
constexpr double kNearSlack = 0.1;
/// Every exact solver proves this relative gap.
constexpr double kGapTarget = 1e-4;
/// Iteration limits. An exact solver must converge within its limit; an inexact one must come near the
/// optimum.
constexpr std::int64_t kExactIterations = 50000, kInexactIterations = 3000;
/// With a hinge loss, F is not smooth and goes up and down while the dual rises. So the iteration limit is
/// higher than that of other inexact solvers.
constexpr std::int64_t kHingeIterations = 30000;
/// With a hinge loss, this relative excess over the optimum (or over F at w = 0) is accepted.
constexpr double kHingeSlack = 1e-3;
/// A solver may still make this many inferences and steps after a request to stop.
constexpr int kGrace = 100;
/// A solver may make this many passes within one step.
constexpr double kPatience = 10000;

/// Makes the running check fail.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> found, Args&&... args) {
  throw Error(fmt::format(found, std::forward<Args>(args)...));
}

/// Runs body() and adds `where` to the message if it fails.
template <class Body>
auto within(const std::string& where, const Body& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    fail("{}: {}", where, error.what());
  }
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Ends a run that does not stop by itself. To do so, it throws from the oracle or the monitor.
class Watch {
 public:
  Watch(const Oracle& oracle, std::int64_t stop_at)
      : stop_at_(stop_at), oracle_(oracle, [this](int, double value) {
          infers();
          return value;
        }) {}

  const Oracle& oracle() const { return oracle_; }
  void steps(const Sample& sample) {
    if (told_) goes_on();
    told_ = told_ || sample.iteration >= stop_at_;
    at_step_ = oracle_.passes;
  }

 private:
  void infers() {
    if (told_) goes_on();
    if (oracle_.passes > at_step_ + kPatience) fail("{} passes without a call of monitor.step()", kPatience);
  }
  void goes_on() {
    if (++since_told_ > kGrace) fail("goes on after monitor.step() was false at iteration {}", stop_at_);
  }

  std::int64_t stop_at_;
  bool told_ = false;
  int since_told_ = 0;
  double at_step_ = 0.0;  ///< the passes at the last step
  HookedOracle oracle_;
};

class Suite {
 public:
  Suite(const SolverInfo& solver, const Options& options, std::uint64_t seed) : solver_(solver), seed_(seed) {
    for (const auto& [name, value] : options.items()) options_[name] = value;
  }

  /// The statements and their checks. A check returns what it found, and throws if something is wrong.
  std::vector<std::pair<std::string, std::function<std::string()>>> checks() {
    const auto on_all = [this](void (Suite::*test)(const Problem&, const Outcome&) const) {
      return [this, test] {
        for (const Solved& one : solved())
          within(one.problem.spec().name, [&] { (this->*test)(one.problem, one.outcome); });
        return fmt::format("{} problems", solved().size());
      };
    };
    std::vector<std::pair<std::string, std::function<std::string()>>> out{
        {"stops when interrupted", [this] { return stops_when_interrupted(); }},
        {"stops at max_iterations",
         [this] { return stops(Status::kMaxIterations, 3, {.tol = 0.0, .monitor = {.max_iterations = 3}}); }},
        {"stops at the time limit", [this] { return stops_at_time_limit(); }},
        {"stops within an iteration", [this] { return stops_within_an_iteration(); }},
        {"stops at a gap target", [this] { return stops_at_gap(); }},
        {"starts the clock once and counts iterations", on_all(&Suite::starts_once)},
        {solver_.exact ? "reaches the optimum" : "comes near the optimum", on_all(&Suite::is_optimal)},
        {"agrees with another solver",
         [this, agrees = on_all(&Suite::agrees)] { return agrees() + ", beside " + reference(); }},
        {"returns its last iterate", on_all(&Suite::returns_last_iterate)},
        {"has finite numbers only", on_all(&Suite::is_finite)},
        {"ends no higher than it began", on_all(&Suite::does_not_rise)},
        {"gives the same bits again", [this] { return same_bits_again(); }},
        {"gives the same bits with any threads and back end", [this] { return same_bits_in_parallel(); }},
        {"returns at once where w = 0 is optimal", [this] { return zero_where_optimal(); }},
    };
    for (const ProblemSpec& spec : test::degenerate_specs())
      out.emplace_back("survives " + spec.name, [this, spec] { return survives(spec); });
    return out;
  }

 private:
  struct Solved {
    Problem problem;
    Outcome outcome;
  };

  bool hinge() const { return solver_.needs.loss == Loss::Kind::kHinge; }
  std::string reference() const {
    if (hinge()) return "bcfw";
    return solver_.name == kBestForL1 ? "owl-qn" : kBestForL1;
  }
  /// The problem, with a penalty that the solver supports.
  Problem problem(const ProblemSpec& spec) const { return Problem(test::suited(spec, solver_.needs)); }
  /// A problem that is far from solved after a few iterations.
  Problem hard() const { return problem(test::problem_specs()[3]); }

  /// Runs the solver under test and samples every iteration.
  Outcome run(const Problem& problem, Conditions setup, std::int64_t stop_at) const {
    Watch watch(problem.oracle(), stop_at);
    setup.monitor.dense_samples = kAlways;
    setup.options = options_;
    setup.oracle = &watch.oracle();
    setup.seed = seed_;
    setup.on_sample = [&watch, also = setup.on_sample](const Sample& sample) {
      watch.steps(sample);
      if (also) also(sample);
    };
    return test::run(solver_, problem, setup);
  }

  Outcome solve(const Problem& problem) const {
    const std::int64_t limit = hinge()         ? kHingeIterations
                               : solver_.exact ? kExactIterations
                                               : kInexactIterations;
    return run(problem, {.tol = kTolerance, .monitor = {.max_iterations = limit}}, limit);
  }

  Outcome few_iterations(const Problem& problem, const Parallel& parallel) const {
    constexpr std::int64_t kFew = 12;
    return run(problem, {.tol = 1e-10, .parallel = parallel, .monitor = {.max_iterations = kFew}}, kFew);
  }

  /// Runs the reference solver to a smaller tolerance.
  Outcome best(const Problem& problem) const {
    Conditions setup{.tol = 0.1 * kTolerance};
    if (hinge()) setup.tol = 0.1 * kValueSlack;  // for this loss, tol is a relative gap
    return test::run(solver_registry().find(reference()), problem, setup);
  }

  /// All canonical problems, solved. Throws if the solver throws, and again at every later call.
  const std::vector<Solved>& solved() {
    if (!failed_.empty()) fail("{}", failed_);
    if (!solved_.empty()) return solved_;
    std::vector<Solved> all;
    for (const ProblemSpec& spec : test::problem_specs()) try {
        Problem tried = problem(spec);
        Outcome outcome = within(spec.name, [&] { return solve(tried); });
        all.push_back({std::move(tried), std::move(outcome)});
      } catch (const std::exception& error) {
        fail("{}", failed_ = error.what());
      }
    return solved_ = std::move(all);
  }

  /// A few iterations on one thread, on data of more than one chunk. Throws if the solver throws.
  const std::vector<Solved>& large() {
    if (large_.empty())
      for (const ProblemSpec& spec :
           {test::large_spec(), test::large_tree_spec(), test::large_candidates_spec()}) {
        Problem one = problem(spec);
        Outcome outcome = few_iterations(one, Parallel());
        large_.push_back({std::move(one), std::move(outcome)});
      }
    return large_;
  }

  void starts_once(const Problem&, const Outcome& outcome) const {
    const std::vector<Sample>& trace = outcome.trace;
    for (std::size_t i = 1; i < trace.size(); ++i) {
      const Sample &now = trace[i], &before = trace[i - 1];
      if (now.iteration == 0) fail("monitor.start() was called twice");
      if (now.seconds < before.seconds || now.passes < before.passes || !(now.updates >= before.updates))
        fail("clock, passes or updates run backwards at iteration {}", now.iteration);
    }
  }

  /// Requires that an exact solver converges. Judges convergence by kkt, or by the distance of F from the
  /// optimum if the loss is hinge. Without convergence, requires that F is near the optimum.
  void is_optimal(const Problem& problem, const Outcome& outcome) const {
    const Certificate& c = outcome.certificate;
    const bool converged = outcome.result.status == Status::kConverged;
    if (solver_.exact && !converged)
      fail("{} after {} iterations, kkt {:.3g}, expected converged, kkt <= {:.3g}",
           status_name(outcome.result.status), outcome.iterations, c.kkt, outcome.kkt_target);
    if (converged && !hinge()) {
      if (!(c.kkt <= outcome.kkt_target * kKktSlack))
        fail("converged with kkt {:.3g}, expected <= {:.3g}", c.kkt, outcome.kkt_target);
      return;
    }
    const double lowest = best(problem).certificate.objective, begin = outcome.trace.front().objective;
    if (converged) {
      if (!(c.objective <= lowest * (1 + kTolerance + kValueSlack)))
        fail("converged with F = {:.12g}, expected a relative gap of {:g} to {:.12g}", c.objective,
             kTolerance, lowest);
      return;
    }
    const double slack = hinge() ? kHingeSlack : kValueSlack;
    if (!(c.objective - lowest <= kNearSlack * (begin - lowest) + slack * lowest))
      fail("F = {:.10g} after {} iterations, expected at most {} of the way above {:.10g}, from {:.10g}",
           c.objective, outcome.iterations, kNearSlack, lowest, begin);
  }

  void agrees(const Problem& problem, const Outcome& outcome) const {
    const Outcome other = best(problem);
    const double expected = other.certificate.objective, found = outcome.certificate.objective;
    // With a hinge loss, the reference converges slowly and its F may be too high. Its lower bound never is.
    const bool below = found < (hinge() ? other.lower_bound : expected) * (1 - kValueSlack);
    const bool above = solver_.exact && !(found <= expected * (1 + kValueSlack));
    if (below || above) fail("F = {:.12g}, {}: {:.12g}", found, reference(), expected);
  }

  void returns_last_iterate(const Problem&, const Outcome& outcome) const {
    const Sample& last = outcome.trace[outcome.sampled - 1];
    const Certificate& c = outcome.certificate;
    if (!same_bits(last.objective, c.objective) || last.nnz != c.nnz)
      fail("returns a w with F = {:.17g} and {} nonzeros, the last iterate had {:.17g} and {}", c.objective,
           c.nnz, last.objective, last.nnz);
  }

  void is_finite(const Problem&, const Outcome& outcome) const {
    for (const Sample& sample : outcome.trace)
      if (!std::isfinite(sample.objective))
        fail("F = {} at iteration {}", sample.objective, sample.iteration);
    for (const auto& [name, value] : outcome.result.notes)
      if (!std::isfinite(value)) fail("note {} = {}", name, value);
  }

  /// Requires that the final F is at most `slack` times F at w = 0. With a hinge loss on degenerate data, F
  /// may rise a little.
  static void require_no_rise(const Outcome& outcome, double slack) {
    const double begin = outcome.trace.front().objective, end = outcome.certificate.objective;
    if (!(end <= begin * slack)) fail("F = {:.12g} at the end, {:.12g} at w = 0", end, begin);
  }
  void does_not_rise(const Problem&, const Outcome& outcome) const { require_no_rise(outcome, 1.0); }

  /// Runs a problem that is far from solved at iteration `at`, with a tolerance that is out of reach.
  std::string stops(Status expected, std::int64_t at, const Conditions& setup) const {
    const Outcome outcome = run(hard(), setup, at);
    const Status status = outcome.result.status;
    if (outcome.iterations != at)
      fail("told to stop at iteration {}, stopped at {} ({})", at, outcome.iterations, status_name(status));
    if (status != expected) fail("status {}, expected {}", status_name(status), status_name(expected));
    return fmt::format("at iteration {}", at);
  }

  std::string stops_when_interrupted() const {
    for (const std::int64_t at : {1, 2}) {
      std::atomic<bool> interrupt{false};
      Conditions setup{.tol = 0.0, .interrupt = &interrupt};
      setup.on_sample = [&](const Sample& sample) { interrupt = sample.iteration >= at; };
      stops(Status::kInterrupted, at, setup);
    }
    return "at iterations 1 and 2";
  }

  std::string stops_at_time_limit() const {
    const Outcome outcome = run(hard(), {.tol = 0.0, .monitor = {.time_limit = 0.0}}, 1);
    if (outcome.result.status != Status::kTimeLimit || outcome.iterations > 1)
      fail("{} after {} iterations at a limit of 0 s, expected time-limit after 1 at most",
           status_name(outcome.result.status), outcome.iterations);
    return fmt::format("after {} iterations at a limit of 0 s", outcome.iterations);
  }

  /// An oracle takes a second for each pass. At the time limit the solver stops within a few of them, and
  /// returns its last whole iterate.
  std::string stops_within_an_iteration() const {
    constexpr double kMostSeconds = 12.0;
    const Problem tried = hard();
    double slowest = 0.0;
    for (const double limit : {0.5, 3.25, 20.75}) {
      double asked = 0.0;
      const HookedOracle slow(tried.oracle(), [](int, double value) { return value; });
      Conditions setup{.tol = 0.0, .monitor = {.time_limit = limit, .dense_samples = kAlways}};
      setup.monitor.clock = [&] { return slow.passes + 1e-3 * ++asked; };
      setup.options = options_;
      setup.oracle = &slow;
      setup.seed = seed_;
      const Outcome outcome = test::run(solver_, tried, setup);
      if (outcome.result.status != Status::kTimeLimit)
        fail("status {} at a limit of {} s, expected time-limit", status_name(outcome.result.status), limit);
      const double late = outcome.trace.back().seconds - limit;
      if (!(late <= kMostSeconds)) fail("stops {} s after a limit of {} s", late, limit);
      slowest = std::max(slowest, late);
      returns_last_iterate(tried, outcome);
    }
    return fmt::format("at most {:.3g} passes after the limit", slowest);
  }

  /// Sets a gap target that any iterate meets, so the first iteration ends the run. For an exact solver, also
  /// sets a target that takes work.
  std::string stops_at_gap() const {
    stops(Status::kGapReached, 1, {.tol = 0.0, .monitor = {.gap_target = 1.0}});
    if (!solver_.exact) return "at iteration 1";
    const MonitorOptions monitor{.max_iterations = kExactIterations, .gap_target = kGapTarget};
    const Outcome outcome = run(hard(), {.tol = 0.0, .monitor = monitor}, kExactIterations);
    if (outcome.result.status != Status::kGapReached)
      fail("status {} after {} iterations, expected gap-reached", status_name(outcome.result.status),
           outcome.iterations);
    return fmt::format("at iteration 1, and at a relative gap of {:g}", kGapTarget);
  }

  static void require_same(const Outcome& expected, const Outcome& found) {
    const std::size_t rows = std::min(expected.trace.size(), found.trace.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const Sample &a = expected.trace[i], &b = found.trace[i];
      if (!same_bits(a.objective, b.objective) || a.nnz != b.nnz)
        fail("F = {:.17g} with {} nonzeros at iteration {}, expected {:.17g} with {}", b.objective, b.nnz,
             b.iteration, a.objective, a.nnz);
      if (!same_bits(a.passes, b.passes))
        fail("{} passes at iteration {}, expected {}", b.passes, b.iteration, a.passes);
      if (!same_bits(a.updates, b.updates))
        fail("{} updates at iteration {}, expected {}", b.updates, b.iteration, a.updates);
    }
    if (expected.trace.size() != found.trace.size())
      fail("{} iterations, expected {}", found.iterations, expected.iterations);
    const SparseVector &a = expected.result.w, &b = found.result.w;
    if (a.index != b.index || !std::equal(a.value.begin(), a.value.end(), b.value.begin(), same_bits))
      fail("the two runs end at different w");
  }

  std::string same_bits_again() {
    for (const auto& [one, outcome] : large()) require_same(outcome, few_iterations(one, Parallel()));
    return "2 runs each of 3 problems";
  }

  std::string same_bits_in_parallel() {
    constexpr std::pair<Backend, int> kTeams[] = {{Backend::kOpenMP, 2},
                                                  {Backend::kOpenMP, 3},
                                                  {Backend::kTBB, 1},
                                                  {Backend::kTBB, 2},
                                                  {Backend::kTBB, 3}};
    for (const auto& one : large())
      for (const auto& [backend, threads] : kTeams)
        within(fmt::format("{}, {} with {} thread{}", one.problem.spec().name, backend_name(backend), threads,
                           threads == 1 ? "" : "s"),
               [&, team = Parallel(threads, backend)] {
                 require_same(one.outcome, few_iterations(one.problem, team));
               });
    return "1, 2, 3 threads of openmp and tbb on 3 problems";
  }

  /// Makes w = 0 optimal by the l1 penalty. If there is none, uses a single label, which leaves nothing to
  /// learn.
  std::string zero_where_optimal() const {
    ProblemSpec spec = test::problem_specs()[1];
    if (solver_.needs.smooth)
      spec.labels = 1;
    else
      spec.lambda +=
          test::kkt_at_zero(Problem(spec)) * (1 + 1e-9);  // just above the largest gradient entry at 0
    const Outcome outcome = solve(problem(spec));
    const SolveResult& result = outcome.result;
    if (result.status != Status::kConverged || result.w.nnz() != 0 || outcome.iterations != 0)
      fail("{} after {} iterations with {} nonzeros, expected converged after 0 with 0",
           status_name(result.status), outcome.iterations, result.w.nnz());
    return "converged at once";
  }

  std::string survives(const ProblemSpec& spec) const {
    const Problem tried = problem(spec);
    const Outcome outcome = solve(tried);
    is_optimal(tried, outcome);
    require_no_rise(outcome, hinge() ? 1 + kHingeSlack : 1.0);
    return fmt::format("{} after {} iterations", status_name(outcome.result.status), outcome.iterations);
  }

  const SolverInfo& solver_;
  std::uint64_t seed_;
  std::map<std::string, std::string> options_;
  std::vector<Solved> solved_, large_;
  std::string failed_;  ///< the reason why solved_ is empty
};

}  // namespace

std::vector<ConformanceCheck> check_solver(const SolverInfo& solver, const Options& options,
                                           const ConformanceSettings& settings) {
  Suite suite(solver, options, settings.seed);
  std::vector<ConformanceCheck> done;
  for (const auto& [name, check] : suite.checks()) {
    if (name.find(settings.only) == std::string::npos) continue;
    ConformanceCheck& one = done.emplace_back(ConformanceCheck{.name = name});
    try {
      one.found = check();
      one.passed = true;
    } catch (const std::exception& error) {
      one.found = error.what();
    }
    if (settings.on_check) settings.on_check(one);
  }
  if (done.empty()) throw Error::usage(fmt::format("no check has '{}' in its name", settings.only));
  return done;
}

}  // namespace proxbench
