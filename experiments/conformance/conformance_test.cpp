/// Runs the conformance suite over all built-in solvers, and over solvers with one fault each: a check that
/// cannot fail checks nothing.

#include "experiments/conformance/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "core/base/registry.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BuiltInSolver : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Registry, BuiltInSolver, ::testing::ValuesIn(solver_registry().names()),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(BuiltInSolver, KeepsToWhatAllSolversPromise) {
  const SolverInfo& solver = solver_registry().find(GetParam());
  std::size_t told = 0;
  const auto checks = check_solver(solver, Options(solver.options),
                                   {.seed = 7, .on_check = [&](const ConformanceCheck&) { ++told; }});
  EXPECT_GT(checks.size(), 20u);
  EXPECT_EQ(told, checks.size());
  for (const ConformanceCheck& check : checks) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.found;
    EXPECT_FALSE(check.found.empty()) << check.name;
  }
}

/// Wraps a solver and sums the notes of its runs.
class NotedSolver final : public Solver {
 public:
  NotedSolver(std::unique_ptr<Solver> solver, std::map<std::string, double>& notes)
      : solver_(std::move(solver)), notes_(notes) {}
  SolveResult solve(const SolveProblem& problem) override {
    SolveResult result = solver_->solve(problem);
    for (const auto& [name, value] : result.notes) notes_[name] += value;
    return result;
  }

 private:
  std::unique_ptr<Solver> solver_;
  std::map<std::string, double>& notes_;
};

/// The suite's wrapper of an oracle keeps all capabilities that prox-newton's Newton steps need.
TEST(Conformance, ReachesTheNewtonStepsOfProxQn) {
  SolverInfo solver = solver_registry().find("prox-newton");
  std::map<std::string, double> notes;
  const auto make = solver.make;
  solver.make = [&](const Options& options) { return std::make_unique<NotedSolver>(make(options), notes); };
  check_solver(solver, Options(solver.options), {.only = "reaches the optimum"});
  EXPECT_GE(notes["hessians"], 1.0);
}

enum class Fault {
  kNone,
  kNeverStarts,
  kStartsTwice,
  kIgnoresStop,
  kOtherStatus,
  kNeverSteps,
  kEndsEarly,
  kGivesUp,
  kReturnsAnotherW,
  kReturnsZeros,
  kReturnsNan,
  kNotesInfinity,
  kRises,
  kOnThreads,
  kOnHistory,
  kMovesFromZero,
  kThrowsWithoutFeatures,
  kNeverAsks
};

/// Proximal gradient descent with backtracking and one fault.
class FaultySolver final : public Solver {
 public:
  explicit FaultySolver(Fault fault) : fault_(fault) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& f = problem.objective;
    if (fault_ == Fault::kThrowsWithoutFeatures && f.map().x().nonzeros() == 0)
      throw std::runtime_error("no features");
    SmoothState at = f.make_state();
    SparseVector w = problem.start;
    if (fault_ != Fault::kNeverStarts) problem.monitor.start(w);
    if (fault_ == Fault::kStartsTwice) problem.monitor.start(w);
    double value = f.evaluate(w, at), a = first_curvature(f);
    Objective::Selection active;
    f.select_gradient(at.residual, w, f.lambda(), active);
    // An endless line search, without a loop in which it could be stopped.
    while (fault_ == Fault::kNeverAsks && f.counts().passes() < 1000.0) f.infer({at.scores}, nullptr);
    while (!done(problem, active.kkt_max)) {
      SparseVector next;
      double next_value;
      for (;; a *= 2) {
        proximal_step(active, a, f.lambda(), next);
        next_value = f.evaluate(next, at);
        if (next_value <= value * (1 + 1e-15)) break;
      }
      w = next;
      value = next_value;
      f.select_gradient(at.residual, w, f.lambda(), active);
      a *= 0.7;
      if (fault_ == Fault::kNeverSteps) continue;
      const bool go_on = problem.monitor.step(w);
      if (fault_ == Fault::kGivesUp) return result(Status::kStalled, w);
      if (!go_on && fault_ != Fault::kIgnoresStop)
        return result(fault_ == Fault::kOtherStatus ? Status::kStalled : problem.monitor.stop_status(), w);
    }
    return result(Status::kConverged, w);
  }

 private:
  double first_curvature(const Objective& f) const {
    static int runs = 0;
    if (fault_ == Fault::kOnHistory) return 1.0 + ++runs;
    if (fault_ == Fault::kOnThreads) return f.parallel().threads();
    return 1.0;
  }
  bool done(const SolveProblem& problem, double kkt) const {
    if (fault_ == Fault::kNeverSteps) return false;
    if (fault_ == Fault::kMovesFromZero && problem.monitor.iterations() == 0) return false;
    return kkt <= (fault_ == Fault::kEndsEarly ? 0.1 * problem.kkt_at_zero : problem.kkt_target());
  }
  SolveResult result(Status status, SparseVector w) const {
    SolveResult out{.status = status, .w = std::move(w)};
    if (fault_ == Fault::kReturnsAnotherW && out.w.nnz() > 0) out.w.value[0] *= 1 + 1e-5;
    if (fault_ == Fault::kReturnsZeros) out.w.push_back(out.w.nnz() > 0 ? out.w.index.back() + 1 : 0, 0.0);
    if (fault_ == Fault::kReturnsNan && out.w.nnz() > 0)
      out.w.value[0] = std::numeric_limits<double>::quiet_NaN();
    if (fault_ == Fault::kNotesInfinity) out.notes["rate"] = std::numeric_limits<double>::infinity();
    if (fault_ == Fault::kRises)
      for (double& x : out.w.value) x *= -100;
    return out;
  }

  Fault fault_;
};

/// The failed checks with `only` in their name, with what they found.
std::vector<std::string> failures(Fault fault, const std::string& only, bool exact = true) {
  const SolverInfo solver{.name = "faulty",
                          .help = "",
                          .paper = "",
                          .options = {},
                          .make = [fault](const Options&) { return std::make_unique<FaultySolver>(fault); },
                          .exact = exact};
  std::vector<std::string> out;
  for (const ConformanceCheck& check : check_solver(solver, Options(), {.only = only}))
    if (!check.passed) out.push_back(check.name + ": " + check.found);
  return out;
}

/// Expects that exactly one check with `only` in its name fails, with this text.
void expect_failure(Fault fault, const std::string& only, const std::string& found, bool exact = true) {
  EXPECT_THAT(failures(fault, only, exact), ElementsAre(HasSubstr(found))) << only;
}

TEST(Conformance, PassesWithoutAFault) {
  EXPECT_THAT(failures(Fault::kNone, ""), IsEmpty());
  EXPECT_THAT(failures(Fault::kNone, "optimum", false), IsEmpty());
}

TEST(Conformance, CountsStarts) {
  expect_failure(Fault::kNeverStarts, "starts", "did not call start() of its monitor");
  expect_failure(Fault::kStartsTwice, "starts", "monitor.start() was called twice");
}

TEST(Conformance, EndsASolverThatIgnoresEveryStop) {
  const std::string text = "goes on after monitor.step() was false at iteration ";
  expect_failure(Fault::kIgnoresStop, "interrupted", text + "1");
  expect_failure(Fault::kIgnoresStop, "max_iterations", text + "3");
  expect_failure(Fault::kIgnoresStop, "time limit", text + "1");
  expect_failure(Fault::kIgnoresStop, "gap target", text + "1");
}

TEST(Conformance, EndsASolverThatNeverCallsTheMonitorAgain) {
  expect_failure(Fault::kNeverSteps, "optimum", "10000 passes without a call of monitor.step()");
}

TEST(Conformance, ReadsTheStatus) {
  expect_failure(Fault::kOtherStatus, "interrupted", "status stalled, expected interrupted");
  expect_failure(Fault::kOtherStatus, "gap target", "status stalled, expected gap-reached");
}

TEST(Conformance, JudgesOptimalityItself) {
  expect_failure(Fault::kEndsEarly, "reaches the optimum", "sparse: converged with kkt ");
  expect_failure(Fault::kEndsEarly, "agrees", "sparse: F = ");
  expect_failure(Fault::kEndsEarly, "comes near", "sparse: converged with kkt ", false);
  expect_failure(Fault::kGivesUp, "comes near", "sparse: F = ", false);
}

TEST(Conformance, ComparesTheResultWithTheLastIterate) {
  expect_failure(Fault::kReturnsAnotherW, "last iterate", "sparse: returns a w with F = ");
}

TEST(Conformance, ReadsTheSparseVector) {
  expect_failure(Fault::kReturnsZeros, "last iterate", "of the w returned is zero");
  expect_failure(Fault::kReturnsNan, "finite", "sparse: entry 0 of the w returned is not finite");
}

TEST(Conformance, ReadsTheNotes) {
  expect_failure(Fault::kNotesInfinity, "finite", "sparse: note rate = inf");
}

TEST(Conformance, SeesAnObjectiveThatRose) {
  expect_failure(Fault::kRises, "no higher", "sparse: F = ");
}

TEST(Conformance, StatesThreadsFromHistory) {
  expect_failure(Fault::kOnThreads, "any threads", "large, openmp with 2 threads: ");
  EXPECT_THAT(failures(Fault::kOnThreads, "same bits again"), IsEmpty());
  expect_failure(Fault::kOnHistory, "same bits again", "at iteration 1");
}

TEST(Conformance, SeesAStepAwayFromAnOptimalZero) {
  expect_failure(Fault::kMovesFromZero, "w = 0", "converged after 1 iterations");
}

TEST(Conformance, TimesTheEndOfALongIteration) {
  EXPECT_THAT(failures(Fault::kNone, "within an iteration"), IsEmpty());
  EXPECT_THAT(failures(Fault::kNeverAsks, "within an iteration"), IsEmpty())
      << "loops of inference stop, whatever the solver does";
}

TEST(Conformance, PassesOnWhatASolverThrows) {
  expect_failure(Fault::kThrowsWithoutFeatures, "no feature ever on, tree", "no features");
}

TEST(Conformance, RefusesToCheckNothing) {
  try {
    failures(Fault::kNone, "no such check");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("'no such check'"));
  }
}

}  // namespace
}  // namespace proxbench
