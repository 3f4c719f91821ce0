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
/// Of a certificate's kkt beside the solver's own: both round.
constexpr double kKktSlack = 1 + 1e-6;
/// Of two values of F at kkt = kTolerance * kkt at 0.
constexpr double kValueSlack = 1e-8;
/// Of the way from F(0) to the optimum that a solver that only comes near may leave, untuned.
constexpr double kNearSlack = 0.1;
/// A relative gap that every exact solver proves.
constexpr double kGapTarget = 1e-4;
/// Iterations after which a solver counts as one that does not get there.
constexpr std::int64_t kExactIterations = 50000, kInexactIterations = 3000;
/// With a hinge loss F is not smooth, and goes up and down while the dual rises: more iterations, and this
/// relative difference above the optimum (or w = 0) is near, too.
constexpr std::int64_t kHingeIterations = 30000;
constexpr double kHingeSlack = 1e-3;
/// Inferences and steps that a solver may still make once it is told to stop.
constexpr int kGrace = 100;
/// Passes that a solver may make within one step.
constexpr double kPatience = 10000;

/// What a check that fails throws.
Error failure(const std::string& found) {
  return Error(found);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string text(const Parallel& parallel) {
  return fmt::format("{} with {} thread{}", backend_name(parallel.backend()), parallel.threads(),
                     parallel.threads() == 1 ? "" : "s");
}

/// Ends a run that does not end by itself, by an exception out of the oracle or the monitor.
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
    if (oracle_.passes > at_step_ + kPatience)
      throw failure(fmt::format("{} passes without a call of monitor.step()", kPatience));
  }
  void goes_on() {
    if (++since_told_ > kGrace)
      throw failure(fmt::format("goes on after monitor.step() was false at iteration {}", stop_at_));
  }

  std::int64_t stop_at_;
  bool told_ = false;
  int since_told_ = 0;
  double at_step_ = 0.0;  ///< passes
  HookedOracle oracle_;
};

class Suite {
 public:
  Suite(const SolverInfo& solver, const Options& options, std::uint64_t seed) : solver_(solver), seed_(seed) {
    for (const auto& [name, value] : options.items()) options_[name] = value;
  }

  std::string starts_once();
  std::string is_optimal();
  std::string agrees();
  std::string returns_last_iterate();
  std::string is_finite();
  std::string does_not_rise();
  std::string stops_when_interrupted();
  std::string stops_at_max_iterations();
  std::string stops_at_time_limit();
  std::string stops_at_gap();
  std::string same_bits_again();
  std::string same_bits_in_parallel();
  std::string zero_where_optimal();
  std::string survives(const ProblemSpec& spec);

 private:
  struct Solved {
    Problem problem;
    Outcome outcome;
  };
  /// The solver under test; every iteration is sampled.
  Outcome run(const Problem& problem, Conditions setup, std::int64_t stop_at) const;
  Outcome solve(const Problem& problem) const;
  /// All canonical problems; throws where the solver throws, every time it is asked.
  const std::vector<Solved>& solved();
  /// A few iterations on one thread, on data of more than one chunk; throws where the solver throws.
  const std::vector<Solved>& large();
  /// Runs `test` on each and throws failure() with the problem's name.
  std::string on_all(const std::function<void(const Problem&, const Outcome&)>& test);
  bool hinge() const { return solver_.needs.loss == Loss::Kind::kHinge; }
  std::string reference() const {
    if (hinge()) return "bcfw";
    return solver_.name == kBestForL1 ? "owl-qn" : kBestForL1;
  }
  /// The reference at its optimum.
  Outcome best(const Problem& problem) const;
  double lowest(const Problem& problem) const { return best(problem).certificate.objective; }
  void require_optimal(const Problem& problem, const Outcome& outcome) const;
  std::string stops(Status expected, std::int64_t at, const Conditions& setup) const;
  void require_same(const Outcome& expected, const Outcome& found) const;
  Outcome few_iterations(const Problem& problem, const Parallel& parallel) const;
  /// The problem with a penalty that the solver can do with.
  Problem problem(const ProblemSpec& spec) const { return Problem(test::suited(spec, solver_.needs)); }
  /// One that is far from solved within a few iterations.
  Problem hard() const { return problem(test::problem_specs()[3]); }

  const SolverInfo& solver_;
  std::uint64_t seed_;
  std::map<std::string, std::string> options_;
  std::vector<Solved> solved_, large_;
  std::string failed_;  ///< why there is nothing in solved_
};

Outcome Suite::run(const Problem& problem, Conditions setup, std::int64_t stop_at) const {
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

Outcome Suite::solve(const Problem& problem) const {
  const std::int64_t limit = hinge()         ? kHingeIterations
                             : solver_.exact ? kExactIterations
                                             : kInexactIterations;
  return run(problem, {.tol = kTolerance, .monitor = {.max_iterations = limit}}, limit);
}

const std::vector<Suite::Solved>& Suite::solved() {
  if (!failed_.empty()) throw failure(failed_);
  if (!solved_.empty()) return solved_;
  for (const ProblemSpec& spec : test::problem_specs()) {
    Problem tried = problem(spec);
    try {
      Outcome outcome = solve(tried);
      solved_.push_back({std::move(tried), std::move(outcome)});
    } catch (const std::exception& error) {
      solved_.clear();
      failed_ = fmt::format("{}: {}", spec.name, error.what());
      throw failure(failed_);
    }
  }
  return solved_;
}

std::string Suite::on_all(const std::function<void(const Problem&, const Outcome&)>& test) {
  for (const Solved& one : solved()) try {
      test(one.problem, one.outcome);
    } catch (const std::exception& error) {
      throw failure(fmt::format("{}: {}", one.problem.spec().name, error.what()));
    }
  return fmt::format("{} problems", solved().size());
}

Outcome Suite::best(const Problem& problem) const {
  Conditions setup{.tol = 0.1 * kTolerance};
  if (hinge()) setup.tol = 0.1 * kValueSlack;  // a relative gap
  return test::run(solver_registry().find(reference()), problem, setup);
}

/// Judges kkt where the solver is exact, or says that it converged; else the distance from the optimum.
void Suite::require_optimal(const Problem& problem, const Outcome& outcome) const {
  const Certificate& c = outcome.certificate;
  const bool converged = outcome.result.status == Status::kConverged;
  if (solver_.exact && !converged)
    throw failure(fmt::format("{} after {} iterations, kkt {:.3g}, expected converged, kkt <= {:.3g}",
                              status_name(outcome.result.status), outcome.result.iterations, c.kkt,
                              outcome.kkt_target));
  if (converged && hinge()) {
    const double best = lowest(problem);
    if (!(c.objective <= best * (1 + kTolerance + kValueSlack)))
      throw failure(fmt::format("converged with F = {:.12g}, expected a relative gap of {:g} to {:.12g}",
                                c.objective, kTolerance, best));
    return;
  }
  if (converged && !(c.kkt <= outcome.kkt_target * kKktSlack))
    throw failure(fmt::format("converged with kkt {:.3g}, expected <= {:.3g}", c.kkt, outcome.kkt_target));
  if (converged) return;
  const double best = lowest(problem), begin = outcome.trace.front().objective;
  const double slack = hinge() ? kHingeSlack : kValueSlack;
  if (!(c.objective - best <= kNearSlack * (begin - best) + slack * best))
    throw failure(fmt::format(
        "F = {:.10g} after {} iterations, expected at most {} of the way above {:.10g}, from {:.10g}",
        c.objective, outcome.result.iterations, kNearSlack, best, begin));
}

std::string Suite::starts_once() {
  return on_all([](const Problem&, const Outcome& outcome) {
    const std::vector<Sample>& trace = outcome.trace;
    for (std::size_t i = 1; i < trace.size(); ++i) {
      if (trace[i].iteration == 0) throw failure("monitor.start() was called twice");
      if (trace[i].iteration != trace[i - 1].iteration + 1)
        throw failure(
            fmt::format("iteration {} follows iteration {}", trace[i].iteration, trace[i - 1].iteration));
      if (trace[i].seconds < trace[i - 1].seconds || trace[i].passes < trace[i - 1].passes ||
          !(trace[i].updates >= trace[i - 1].updates))
        throw failure(
            fmt::format("clock, passes or updates run backwards at iteration {}", trace[i].iteration));
    }
  });
}

std::string Suite::is_optimal() {
  return on_all(
      [this](const Problem& problem, const Outcome& outcome) { require_optimal(problem, outcome); });
}

std::string Suite::agrees() {
  return on_all([this](const Problem& problem, const Outcome& outcome) {
           const Outcome other = best(problem);
           const double expected = other.certificate.objective, found = outcome.certificate.objective;
           // A hinge loss comes down slowly at the end, and may be above; its bound is never.
           const bool below = found < (hinge() ? other.lower_bound : expected) * (1 - kValueSlack);
           const bool above = solver_.exact && !(found <= expected * (1 + kValueSlack));
           if (below || above)
             throw failure(fmt::format("F = {:.12g}, {}: {:.12g}", found, reference(), expected));
         }) +
         ", beside " + reference();
}

std::string Suite::returns_last_iterate() {
  return on_all([](const Problem&, const Outcome& outcome) {
    const Sample& last = outcome.trace[outcome.sampled - 1];
    if (last.iteration != outcome.result.iterations)
      throw failure(fmt::format("says {} iterations, the last monitor.step() was of iteration {}",
                                outcome.result.iterations, last.iteration));
    const Certificate& c = outcome.certificate;
    if (!same_bits(last.objective, c.objective) || last.nnz != c.nnz)
      throw failure(
          fmt::format("returns a w with F = {:.17g} and {} nonzeros, the last iterate had {:.17g} and {}",
                      c.objective, c.nnz, last.objective, last.nnz));
  });
}

std::string Suite::is_finite() {
  return on_all([](const Problem&, const Outcome& outcome) {
    for (const Sample& sample : outcome.trace)
      if (!std::isfinite(sample.objective))
        throw failure(fmt::format("F = {} at iteration {}", sample.objective, sample.iteration));
    for (const auto& [name, value] : outcome.result.notes)
      if (!std::isfinite(value)) throw failure(fmt::format("note {} = {}", name, value));
  });
}

std::string Suite::does_not_rise() {
  return on_all([](const Problem&, const Outcome& outcome) {
    const double begin = outcome.trace.front().objective, end = outcome.certificate.objective;
    if (!(end <= begin)) throw failure(fmt::format("F = {:.12g} at the end, {:.12g} at w = 0", end, begin));
  });
}

/// A problem far from solved at iteration `at`, for a tolerance that is out of reach.
std::string Suite::stops(Status expected, std::int64_t at, const Conditions& setup) const {
  const Outcome outcome = run(hard(), setup, at);
  const SolveResult& result = outcome.result;
  if (result.iterations != at || outcome.trace.back().iteration != at)
    throw failure(fmt::format("told to stop at iteration {}, stopped at {} ({})", at, result.iterations,
                              status_name(result.status)));
  if (result.status != expected)
    throw failure(fmt::format("status {}, expected {}", status_name(result.status), status_name(expected)));
  return fmt::format("at iteration {}", at);
}

std::string Suite::stops_when_interrupted() {
  for (const std::int64_t at : {1, 2}) {
    std::atomic<bool> interrupt{false};
    Conditions setup{.tol = 0.0, .interrupt = &interrupt};
    setup.on_sample = [&](const Sample& sample) { interrupt = sample.iteration >= at; };
    stops(Status::kInterrupted, at, setup);
  }
  return "at iterations 1 and 2";
}

std::string Suite::stops_at_max_iterations() {
  return stops(Status::kMaxIterations, 3, {.tol = 0.0, .monitor = {.max_iterations = 3}});
}

std::string Suite::stops_at_time_limit() {
  const Outcome outcome = run(hard(), {.tol = 0.0, .monitor = {.time_limit = 0.0}}, 1);
  if (outcome.result.status != Status::kTimeLimit || outcome.result.iterations > 1)
    throw failure(fmt::format("{} after {} iterations at a limit of 0 s, expected time-limit after 1 at most",
                              status_name(outcome.result.status), outcome.result.iterations));
  return fmt::format("after {} iterations at a limit of 0 s", outcome.result.iterations);
}

/// A gap that any iterate has, so that the first one ends the run; and where the solver is exact, one that it
/// has to work for.
std::string Suite::stops_at_gap() {
  stops(Status::kGapReached, 1, {.tol = 0.0, .monitor = {.gap_target = 1.0}});
  if (!solver_.exact) return "at iteration 1";
  const MonitorOptions monitor{.max_iterations = kExactIterations, .gap_target = kGapTarget};
  const Outcome outcome = run(hard(), {.tol = 0.0, .monitor = monitor}, kExactIterations);
  if (outcome.result.status != Status::kGapReached)
    throw failure(fmt::format("status {} after {} iterations, expected gap-reached",
                              status_name(outcome.result.status), outcome.result.iterations));
  return fmt::format("at iteration 1, and at a relative gap of {:g}", kGapTarget);
}

void Suite::require_same(const Outcome& expected, const Outcome& found) const {
  const std::size_t rows = std::min(expected.trace.size(), found.trace.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const Sample &a = expected.trace[i], &b = found.trace[i];
    if (!same_bits(a.objective, b.objective) || a.nnz != b.nnz)
      throw failure(fmt::format("F = {:.17g} with {} nonzeros at iteration {}, expected {:.17g} with {}",
                                b.objective, b.nnz, b.iteration, a.objective, a.nnz));
    if (!same_bits(a.passes, b.passes))
      throw failure(fmt::format("{} passes at iteration {}, expected {}", b.passes, b.iteration, a.passes));
    if (!same_bits(a.updates, b.updates))
      throw failure(
          fmt::format("{} updates at iteration {}, expected {}", b.updates, b.iteration, a.updates));
  }
  if (expected.trace.size() != found.trace.size())
    throw failure(
        fmt::format("{} iterations, expected {}", found.result.iterations, expected.result.iterations));
  const SparseVector &a = expected.result.w, &b = found.result.w;
  if (a.index != b.index || !std::equal(a.value.begin(), a.value.end(), b.value.begin(), same_bits))
    throw failure("another w");
}

Outcome Suite::few_iterations(const Problem& problem, const Parallel& parallel) const {
  constexpr std::int64_t kFew = 12;
  return run(problem, {.tol = 1e-10, .parallel = parallel, .monitor = {.max_iterations = kFew}}, kFew);
}

const std::vector<Suite::Solved>& Suite::large() {
  if (large_.empty())
    for (const ProblemSpec& spec :
         {test::large_spec(), test::large_tree_spec(), test::large_candidates_spec()}) {
      Problem one = problem(spec);
      Outcome outcome = few_iterations(one, Parallel());
      large_.push_back({std::move(one), std::move(outcome)});
    }
  return large_;
}

std::string Suite::same_bits_again() {
  for (const auto& [one, outcome] : large()) require_same(outcome, few_iterations(one, Parallel()));
  return "2 runs each of 3 problems";
}

std::string Suite::same_bits_in_parallel() {
  constexpr std::pair<Backend, int> kTeams[] = {{Backend::kOpenMP, 2},
                                                {Backend::kOpenMP, 3},
                                                {Backend::kTBB, 1},
                                                {Backend::kTBB, 2},
                                                {Backend::kTBB, 3}};
  for (const auto& [one, outcome] : large())
    for (const auto& [backend, threads] : kTeams) {
      const Parallel parallel(threads, backend);
      try {
        require_same(outcome, few_iterations(one, parallel));
      } catch (const std::exception& error) {
        throw failure(fmt::format("{}, {}: {}", one.spec().name, text(parallel), error.what()));
      }
    }
  return "1, 2, 3 threads of openmp and tbb on 3 problems";
}

/// By the l1 penalty; where there is none, because one label leaves nothing to learn.
std::string Suite::zero_where_optimal() {
  ProblemSpec spec = test::problem_specs()[1];
  if (solver_.needs.smooth)
    spec.labels = 1;
  else
    spec.lambda +=
        test::kkt_at_zero(Problem(spec)) * (1 + 1e-9);  // the largest gradient entry at 0, and a little
  const SolveResult result = solve(problem(spec)).result;
  if (result.status != Status::kConverged || result.w.nnz() != 0 || result.iterations != 0)
    throw failure(fmt::format("{} after {} iterations with {} nonzeros, expected converged after 0 with 0",
                              status_name(result.status), result.iterations, result.w.nnz()));
  return "converged at once";
}

std::string Suite::survives(const ProblemSpec& spec) {
  const Problem tried = problem(spec);
  const Outcome outcome = solve(tried);
  require_optimal(tried, outcome);
  if (!(outcome.certificate.objective <= outcome.trace.front().objective * (hinge() ? 1 + kHingeSlack : 1.0)))
    throw failure(fmt::format("F = {:.12g} at the end, {:.12g} at w = 0", outcome.certificate.objective,
                              outcome.trace.front().objective));
  return fmt::format("{} after {} iterations", status_name(outcome.result.status), outcome.result.iterations);
}

struct Check {
  std::string name;
  std::function<std::string()> body;  ///< returns what it found; throws what was wrong
};

std::vector<Check> checks_of(Suite& suite, bool exact) {
  std::vector<Check> checks{
      {"stops when interrupted", [&] { return suite.stops_when_interrupted(); }},
      {"stops at max_iterations", [&] { return suite.stops_at_max_iterations(); }},
      {"stops at the time limit", [&] { return suite.stops_at_time_limit(); }},
      {"stops at a gap target", [&] { return suite.stops_at_gap(); }},
      {"starts the clock once and counts iterations", [&] { return suite.starts_once(); }},
      {exact ? "reaches the optimum" : "comes near the optimum", [&] { return suite.is_optimal(); }},
      {"agrees with another solver", [&] { return suite.agrees(); }},
      {"returns its last iterate", [&] { return suite.returns_last_iterate(); }},
      {"has finite numbers only", [&] { return suite.is_finite(); }},
      {"ends no higher than it began", [&] { return suite.does_not_rise(); }},
      {"gives the same bits again", [&] { return suite.same_bits_again(); }},
      {"gives the same bits with any threads and back end", [&] { return suite.same_bits_in_parallel(); }},
      {"returns at once where w = 0 is optimal", [&] { return suite.zero_where_optimal(); }},
  };
  for (const ProblemSpec& spec : test::degenerate_specs())
    checks.push_back({"survives " + spec.name, [&suite, spec] { return suite.survives(spec); }});
  return checks;
}

ConformanceCheck perform(const Check& check) {
  ConformanceCheck done{.name = check.name};
  try {
    done.found = check.body();
    done.passed = true;
  } catch (const std::exception& error) {
    done.found = error.what();
  }
  return done;
}

}  // namespace

std::vector<ConformanceCheck> check_solver(const SolverInfo& solver, const Options& options,
                                           const ConformanceSettings& settings) {
  Suite suite(solver, options, settings.seed);
  std::vector<ConformanceCheck> done;
  for (const Check& check : checks_of(suite, solver.exact)) {
    if (check.name.find(settings.only) == std::string::npos) continue;
    done.push_back(perform(check));
    if (settings.on_check) settings.on_check(done.back());
  }
  if (done.empty()) throw Error::usage(fmt::format("no check has '{}' in its name", settings.only));
  return done;
}

}  // namespace proxbench
