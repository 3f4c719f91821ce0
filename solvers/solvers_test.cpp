/// Statements about every registered solver, on small random chain and tree problems. They add to those of
/// the conformance suite (experiments/conformance/), which its own test runs over all solvers.
///
/// No expected value comes from a run of the solver under test. Optimality is judged by certify(), which uses
/// only F and its minimum-norm subgradient, and values by agreement among solvers that share little code.

#include "solvers/solvers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/shared/test_problems.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Conditions;
using test::expect_certified_optimum;
using test::HookedOracle;
using test::kkt_at_zero;
using test::l2_specs;
using test::optimum;
using test::Outcome;
using test::Problem;
using test::problem_for;
using test::ProblemSpec;
using test::run;
using ::testing::HasSubstr;

class EverySolver : public ::testing::TestWithParam<std::string> {};
/// Solvers that reach any kkt target, and those that only approach the optimum.
class ExactSolver : public EverySolver {};
class InexactSolver : public EverySolver {};

/// Solvers of the log loss.
std::vector<std::string> solvers(bool exact) {
  std::vector<std::string> names;
  for (const SolverInfo& info : solver_registry().items())
    if (info.exact == exact && info.needs.loss == Loss::Kind::kLog) names.push_back(info.name);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySolver, ::testing::ValuesIn(solver_registry().names()), test_name);
INSTANTIATE_TEST_SUITE_P(Registry, ExactSolver, ::testing::ValuesIn(solvers(true)), test_name);
INSTANTIATE_TEST_SUITE_P(Registry, InexactSolver, ::testing::ValuesIn(solvers(false)), test_name);

TEST_P(ExactSolver, NeverStopsFarAboveThePointThatHasTheTarget) {
  // A loose target must not cost as much work as a tight one.
  const Problem problem = problem_for(GetParam(), {.name = "bias", .bias = true, .seed = 12});
  const Outcome loose = run(GetParam(), problem, {.tol = 1e-2});
  const Outcome tight = run(GetParam(), problem, {.tol = 1e-6});
  EXPECT_EQ(loose.result.status, Status::kConverged);
  EXPECT_LE(loose.certificate.kkt, loose.kkt_target * (1 + 1e-6));
  EXPECT_LT(loose.iterations, tight.iterations);
}

TEST_P(ExactSolver, ReachesTheSameOptimumFromAnotherStart) {
  const Problem problem = problem_for(GetParam(), {.name = "bias", .bias = true, .seed = 12});
  Conditions setup;
  Random random(5);
  Objective evaluator = problem.objective();
  for (Coord c = 0; c < evaluator.dimension(); c += 3) setup.start.push_back(c, random.normal());
  const Outcome far = run(GetParam(), problem, setup);
  const Outcome near = run(GetParam(), problem);
  EXPECT_EQ(far.trace.front().nnz, setup.start.nnz());
  EXPECT_EQ(far.result.status, Status::kConverged);
  EXPECT_LE(far.certificate.kkt, far.kkt_target * (1 + 1e-6));
  EXPECT_NEAR(far.certificate.objective, near.certificate.objective, 1e-8 * near.certificate.objective);
}

TEST_P(ExactSolver, FindsTheFirstWeightJustBelowTheLargestPenalty) {
  if (solver_registry().find(GetParam()).needs.smooth) GTEST_SKIP() << "takes no l1 penalty";
  ProblemSpec spec{.name = "bias", .bias = true, .seed = 12};
  spec.lambda = (spec.lambda + kkt_at_zero(Problem(spec))) * 0.99;
  // kkt at 0 is a hundredth of the gradient here, and so is the target. A larger tol makes up for that.
  const Outcome r = run(GetParam(), Problem(spec), {.tol = 1e-4});
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
  EXPECT_GE(r.result.w.nnz(), 1u);
  EXPECT_LE(r.result.w.nnz(), 5u);
}

TEST_P(ExactSolver, ReachesACertifiedOptimumWithAnL2Penalty) {
  const SolverInfo& info = solver_registry().find(GetParam());
  for (const ProblemSpec& spec : l2_specs()) {
    if (spec.lambda == 0.0 ? info.needs.l1 : info.needs.smooth) continue;
    SCOPED_TRACE(spec.name + ", lambda = " + std::to_string(spec.lambda));
    const Problem problem(spec);
    expect_certified_optimum(problem, run(GetParam(), problem, {.tol = 1e-8}));
  }
}

TEST(Solvers, TheL2OptimumIsThatOfNewtonsMethodOnFiniteDifferences) {
  // Uses only values of F: gradient and Hessian by central differences, solved by Gaussian elimination.
  const Problem problem({.name = "tiny", .labels = 2, .features = 3, .lambda = 0.0, .mu = 0.4, .seed = 8});
  Objective objective = problem.objective();
  const std::size_t d = objective.dimension();
  const auto value = [&](const std::vector<double>& w) {
    const SparseVector sparse = SparseVector::from_dense(w);
    Scores scores = objective.make_scores();
    objective.scores(sparse, scores);
    return objective.infer({scores}, nullptr) + objective.penalty().l2(sparse.value);
  };
  constexpr double kStep = 1e-3;
  const auto moved = [&](std::vector<double> w, std::size_t i, double by, std::size_t j, double also) {
    w[i] += by;
    w[j] += also;
    return value(w);
  };
  std::vector<double> w(d, 0.0);
  for (int iteration = 0; iteration < 12; ++iteration) {
    std::vector<std::vector<double>> system(d, std::vector<double>(d + 1));
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j)
        system[i][j] = (moved(w, i, kStep, j, kStep) - moved(w, i, kStep, j, -kStep) -
                        moved(w, i, -kStep, j, kStep) + moved(w, i, -kStep, j, -kStep)) /
                       (4 * kStep * kStep);
      system[i][d] = -(moved(w, i, kStep, i, 0.0) - moved(w, i, -kStep, i, 0.0)) / (2 * kStep);
    }
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t row = 0; row < d; ++row) {
        if (row == i) continue;
        const double factor = system[row][i] / system[i][i];
        for (std::size_t c = i; c <= d; ++c) system[row][c] -= factor * system[i][c];
      }
    for (std::size_t i = 0; i < d; ++i) w[i] += system[i][d] / system[i][i];
  }
  const double expected = value(w);
  for (const SolverInfo& info : solver_registry().items()) {
    if (!info.exact || info.needs.l1) continue;
    const Outcome r = run(info.name, problem, {.tol = 1e-9});
    EXPECT_NEAR(r.certificate.objective, expected, 1e-9 * expected) << info.name;
    EXPECT_EQ(r.result.w.nnz(), d) << info.name << ": l2 alone sets no weight to zero";
  }
}

TEST_P(InexactSolver, ComesNearTheOptimumWithAnL2Penalty) {
  for (const double lambda : {0.0, 0.5}) {
    if (lambda > 0.0 && solver_registry().find(GetParam()).needs.smooth) continue;
    const Problem problem({.name = "bias", .bias = true, .lambda = lambda, .mu = 0.3, .seed = 12});
    const Outcome r = run(GetParam(), problem, {.monitor = {.max_iterations = 3000}});
    EXPECT_LE(r.certificate.relative_gap(), 0.05) << lambda;
  }
}

TEST(Needs, ARunThatCannotBeIsRefusedWithItsReason) {
  const auto unmet = [](const std::string& name, const Penalty& penalty) {
    const SolverInfo& info = solver_registry().find(name);
    return unmet_needs(info, penalty, info.needs.loss);
  };
  EXPECT_EQ(unmet("liblbfgs-owlqn", {0.0, 1.0}),
            "solver 'liblbfgs-owlqn' needs an l1 penalty: found lambda = 0, expected lambda > 0");
  EXPECT_EQ(unmet("liblbfgs-owlqn", {0.5, 1.0}), "");
  EXPECT_EQ(unmet("lbfgs", {0.5, 1.0}),
            "solver 'lbfgs' needs a smooth objective: found an l1 penalty, expected lambda = 0");
  EXPECT_EQ(unmet("lbfgs", {0.0, 1.0}), "");
  EXPECT_EQ(unmet("prox-newton", {0.0, 1.0}), "");
  EXPECT_EQ(unmet("bcfw", {0.5, 0.0}), "solver 'bcfw' needs an l2 penalty: found mu = 0, expected mu > 0");
  EXPECT_THAT(unmet("ssg", {0.5, 1.0}), HasSubstr("expected lambda = 0"));
  const SolverInfo& lbfgs = solver_registry().find("lbfgs");
  EXPECT_EQ(unmet_needs(lbfgs, {0.0, 1.0}, Loss::Kind::kHinge),
            "solver 'lbfgs' minimises the log loss: found loss = hinge");

  const SolverInfo& sgd = solver_registry().find("sgd");
  OracleInfo sums_alone{.name = "sums", .help = "", .paper = "", .make = nullptr};
  EXPECT_EQ(unmet_needs(sgd, {1.0, 0.0}, Loss::Kind::kLog, sums_alone),
            "solver 'sgd' needs an oracle with 'one instance', which oracle 'sums' has not");
  EXPECT_EQ(unmet_needs(sgd, {1.0, 0.0}, Loss::Kind::kLog, oracle_registry().find("chain")), "");
}

TEST(Needs, OraclesHaveTheCapabilitiesThatTheirTypesState) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    const Problem problem(spec);
    const std::vector<Capability>& stated = oracle_registry().find(problem.oracle_name()).capabilities;
    for (int i = 0; i <= static_cast<int>(Capability::kFactors); ++i) {
      const auto one = static_cast<Capability>(i);
      EXPECT_EQ(has_capability(problem.oracle(), one), std::ranges::count(stated, one) == 1)
          << problem.oracle_name() << ", " << capability_name(one);
    }
  }
}

TEST_P(ExactSolver, EndsByItselfWhereTheTargetIsOutOfReach) {
  // kkt = 0 to the last bit is out of reach. Rounding must end the search close to the optimum.
  const Problem problem = problem_for(GetParam(), test::problem_specs()[4]);
  const Outcome r = run(GetParam(), problem, {.tol = 0.0});
  EXPECT_TRUE(r.result.status == Status::kStalled || r.certificate.kkt == 0.0)
      << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, 1e-5 * kkt_at_zero(problem));
}

/// Solvers that report the loss at every iterate. The trace shows which they are.
bool gives_losses(const std::string& solver) {
  const Problem problem = problem_for(solver, test::problem_specs()[3]);
  return run(solver, problem, {.monitor = {.max_iterations = 3}}).audits.count > 0;
}

/// Solvers that step on one instance at a time. They never see F, and an iteration may end early, at an
/// iterate of its own.
bool steps_on_instances(const std::string& solver) {
  return solver == "sgd" || solver == "sdca" || solver == "oeg" || solver == "sag-nus" || solver == "bcfw" ||
         solver == "ssg" || solver == "gdmm";
}

/// Whether the solver calls the oracle. gdmm searches factors by itself.
bool infers(const std::string& solver) {
  return solver != "gdmm";
}

TEST(Solvers, HandOverTheirLossesWhereTheySeeThem) {
  for (const SolverInfo& info : solver_registry().items())
    EXPECT_EQ(gives_losses(info.name), !steps_on_instances(info.name)) << info.name;
}

TEST_P(EverySolver, LightSamplesAreThoseOfAFullTrace) {
  if (!gives_losses(GetParam())) GTEST_SKIP() << "gives no losses, so it has no light samples";
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem = problem_for(GetParam(), spec);
    Conditions setup;
    setup.monitor = {.max_iterations = 100, .dense_samples = 1000000};
    const Outcome full = run(GetParam(), problem, setup);
    setup.sampling_budget = 0.0;
    const Outcome light = run(GetParam(), problem, setup);
    EXPECT_EQ(light.result.status, full.result.status);
    EXPECT_EQ(light.result.w.index, full.result.w.index);
    EXPECT_EQ(light.result.w.value, full.result.w.value) << "sampling changes no bit of a run";
    EXPECT_EQ(light.audits.count, 1) << "the end";
    EXPECT_EQ(full.audits.count, full.iterations);
    EXPECT_LE(full.audits.largest, 1e-11);
    // The last iterate has a light sample and then a full one.
    ASSERT_EQ(light.trace.size(), full.trace.size() + 1);
    EXPECT_EQ(light.trace.back().objective, full.trace.back().objective);
    for (std::size_t i = 0; i < full.trace.size(); ++i) {
      EXPECT_EQ(light.trace[i].iteration, full.trace[i].iteration);
      EXPECT_EQ(light.trace[i].passes, full.trace[i].passes);
      EXPECT_EQ(light.trace[i].nnz, full.trace[i].nnz);
      EXPECT_EQ(light.trace[i].working_set, full.trace[i].working_set);
      EXPECT_NEAR(light.trace[i].objective, full.trace[i].objective, 1e-12 * full.trace[i].objective);
    }
  }
}

TEST_P(EverySolver, StopsAtTheFirstIterateThatReachesTheTarget) {
  if (GetParam() == "ssg") GTEST_SKIP() << "F rises from its first iterate on";
  const Problem problem = problem_for(GetParam(), test::problem_specs()[1]);
  Conditions setup{.tol = 1e-9, .monitor = {.max_iterations = 40, .dense_samples = 1000000}};
  const std::vector<Sample> trace = run(GetParam(), problem, setup).trace;
  const double target = 0.99 * trace.back().objective + 0.01 * trace.front().objective;
  const auto first = std::find_if(trace.begin(), trace.end(),
                                  [&](const Sample& sample) { return sample.objective <= target; });
  ASSERT_NE(first, trace.end());
  ASSERT_GT(first->iteration, 1);
  setup.monitor.objective_target = target;
  const bool gives = gives_losses(GetParam());
  for (const bool sampled : {true, false}) {
    SCOPED_TRACE(sampled ? "with every sample full" : "where few samples are due");
    if (!sampled && !gives) continue;  // the target could be noticed only at samples
    if (!sampled) {
      setup.monitor.dense_samples = 0;
      setup.monitor.sample_growth = 1e300;
      setup.sampling_budget = 0.0;
    }
    const Outcome r = run(GetParam(), problem, setup);
    EXPECT_EQ(r.result.status, Status::kTargetReached) << status_name(r.result.status);
    EXPECT_EQ(r.iterations, first->iteration);
    EXPECT_LE(r.certificate.objective, target);
    EXPECT_EQ(r.trace.back().iteration, first->iteration);
    EXPECT_EQ(r.trace.back().objective, r.certificate.objective);
  }
}

TEST_P(EverySolver, LetsAnErrorOfTheOracleThrough) {
  if (!infers(GetParam())) GTEST_SKIP() << "asks for no inference, so that none spoils it";
  const Problem problem = problem_for(GetParam(), test::problem_specs()[3]);
  for (const int at : {0, 1, 4}) {
    const HookedOracle oracle(problem.oracle(), [&](int call, double value) {
      if (call == at) throw Error("call " + std::to_string(at));
      return value;
    });
    try {
      run(GetParam(), problem, {.tol = 1e-9, .oracle = &oracle});
      ADD_FAILURE() << "no error at call " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "call " + std::to_string(at));
    }
    EXPECT_LE(oracle.calls, at + 1) << "no further inference after the error";
  }
}

TEST_P(EverySolver, ReportsDivergenceWhereTheStartHasNoValue) {
  if (!solver_registry().find(GetParam()).starts_anywhere) GTEST_SKIP() << "starts at 0";
  const Problem problem = problem_for(GetParam(), test::problem_specs()[0]);
  const Outcome r = run(GetParam(), problem, {.start = {{0, 1}, {1.7e308, 1.7e308}}});
  EXPECT_EQ(r.result.status, Status::kDiverged) << status_name(r.result.status);
  EXPECT_EQ(r.iterations, 0);
  EXPECT_EQ(r.result.w.nnz(), 2u);
}

TEST_P(EverySolver, EndsWhereAllTrialsHaveNoValue) {
  if (!infers(GetParam())) GTEST_SKIP() << "asks for no inference, so that none spoils it";
  const Problem problem = problem_for(GetParam(), test::problem_specs()[0]);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const HookedOracle oracle(problem.oracle(),
                              [&](int call, double value) { return call < 1 ? value : bad; });
    const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
    EXPECT_TRUE(r.result.status == Status::kStalled || r.result.status == Status::kDiverged)
        << status_name(r.result.status);
    if (GetParam() == "sdca" || GetParam() == "bcfw" || GetParam() == "ssg") continue;  // w has moved
    EXPECT_EQ(r.result.w.nnz(), 0u) << "what is returned is the last point with a value";
  }
}

TEST_P(ExactSolver, BacksAwayFromTrialsThatHaveNoValue) {
  // An occasional NaN costs trials but does not change the result.
  const Problem problem = problem_for(GetParam(), test::problem_specs()[0]);
  const HookedOracle oracle(problem.oracle(), [](int call, double value) {
    return call == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  });
  const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
  EXPECT_EQ(r.result.status, Status::kConverged) << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
}

/// Solvers that never end an iteration early, at an iterate of its own.
bool ends_with_a_whole_iteration(const std::string& solver) {
  return solver != "bcd" && !steps_on_instances(solver);
}

/// The clock shows passes. Soon after the limit no inference may be made.
TEST_P(EverySolver, StopsWithinAnIterationAtTheTimeLimit) {
  if (!infers(GetParam())) GTEST_SKIP() << "asks for no inference, so that none spoils it";
  const Problem problem = problem_for(GetParam(), test::problem_specs()[3]);
  for (const bool no_value : {false, true}) {
    if (no_value && !solver_registry().find(GetParam()).exact) continue;
    const HookedOracle* clock = nullptr;
    const HookedOracle oracle(problem.oracle(), [&](int, double value) {
      // From here on all trials of a line search fail.
      return no_value && clock->passes > 10.0 ? std::numeric_limits<double>::quiet_NaN() : value;
    });
    clock = &oracle;
    MonitorOptions monitor{.time_limit = 12.5};
    monitor.clock = [&] { return oracle.passes; };
    const Outcome r = run(GetParam(), problem, {.tol = 0.0, .monitor = monitor, .oracle = &oracle});
    EXPECT_EQ(r.result.status, Status::kTimeLimit) << status_name(r.result.status);
    EXPECT_LE(oracle.passes, 12.5 + 3.0);
    EXPECT_TRUE(std::isfinite(r.certificate.objective));
  }
}

/// The clock advances by one at each reading, so a limit can fall between any two pieces of work. A limit may
/// change only where a run ends.
TEST_P(EverySolver, ATimeLimitLeavesTheBeginningOfTheRun) {
  if (!ends_with_a_whole_iteration(GetParam())) GTEST_SKIP() << "ends iterations early";
  const Problem problem = problem_for(GetParam(), {.name = "long sequences",
                                                   .labels = 6,
                                                   .features = 20,
                                                   .sequences = 15,
                                                   .longest = 20,
                                                   .density = 0.15,
                                                   .lambda = GetParam() == "prox-newton" ? 0.02 : 0.1,
                                                   .seed = 5});
  for (const int threads : {1, 2}) {
    std::atomic<std::int64_t> ticks = 0;
    const auto run_until = [&](double limit) {
      MonitorOptions monitor{.time_limit = limit, .max_iterations = 300, .dense_samples = 1000};
      monitor.clock = [&] { return static_cast<double>(++ticks); };
      return run(GetParam(), problem, {.tol = 1e-9, .parallel = Parallel(threads), .monitor = monitor});
    };
    const Outcome whole = run_until(1e15);
    const auto all = static_cast<double>(ticks);
    if (GetParam() == "prox-newton") {
      EXPECT_GT(whole.result.notes.at("hessians"), 0.0) << "limits do not fall within Newton's method";
    }
    for (double share = 0.0; share < 0.9; share += 0.0173) {
      const Outcome cut = run_until(share * share * all);
      if (cut.result.status != Status::kTimeLimit) continue;  // spent part of `all` on samples
      ASSERT_LT(static_cast<std::size_t>(cut.iterations), whole.sampled);
      const Sample& there = whole.trace[static_cast<std::size_t>(cut.iterations)];
      EXPECT_EQ(cut.trace.back().iteration, cut.iterations);
      EXPECT_EQ(cut.certificate.objective, there.objective) << share;
      EXPECT_EQ(cut.certificate.nnz, there.nnz);
      EXPECT_EQ(cut.trace.back().working_set, there.working_set);
    }
  }
}

TEST_P(EverySolver, NamesTheConstraintThatAnOptionViolates) {
  const SolverInfo& info = solver_registry().find(GetParam());
  auto refused = [&](const OptionSpec& spec, const std::string& text, const std::string& expected) {
    Options options(info.options);
    try {
      options.set(spec.name, text);
      ADD_FAILURE() << spec.name << " = " << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(spec.name));
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  };
  for (const OptionSpec& spec : info.options) {
    SCOPED_TRACE(spec.name);
    EXPECT_FALSE(spec.help.empty());
    const bool number = spec.type == OptionType::kInt || spec.type == OptionType::kReal;
    auto text = [&](double x) {
      return spec.type == OptionType::kInt ? std::to_string(static_cast<std::int64_t>(x)) : std::to_string(x);
    };
    if (number) {
      EXPECT_TRUE(std::isfinite(spec.min)) << "every number has a lower bound";
      refused(spec, text(spec.min_open ? spec.min : spec.min - 1), spec.constraint());
      if (std::isfinite(spec.max))
        refused(spec, text(spec.max_open ? spec.max : spec.max + 1), spec.constraint());
      refused(spec, "many", "many");
      refused(spec, "nan", "nan");
    }
    if (!spec.choices.empty()) refused(spec, "no-such-choice", spec.constraint());
  }
  Options options(info.options);
  EXPECT_THROW(options.set("no_such_option", "1"), Error);
}

TEST_P(EverySolver, SaysWhereItComesFrom) {
  const SolverInfo& info = solver_registry().find(GetParam());
  EXPECT_FALSE(info.help.empty());
  EXPECT_FALSE(info.paper.empty());
}

TEST_P(InexactSolver, ComesNearTheOptimumFromAnotherStart) {
  const Problem problem = problem_for(GetParam(), {.name = "bias", .bias = true, .seed = 12});
  Conditions setup{.monitor = {.max_iterations = 3000}};
  Random random(5);
  for (Coord c = 0; c < problem.objective().dimension(); c += 3) setup.start.push_back(c, random.normal());
  const Outcome r = run(GetParam(), problem, setup);
  EXPECT_EQ(r.trace.front().nnz, setup.start.nnz());
  EXPECT_LE(r.certificate.objective, optimum(problem) * 1.05);
}

TEST_P(InexactSolver, SaysConvergedOnlyWhereKktIsAtTheTarget) {
  const Problem problem = problem_for(GetParam(), {.name = "bias", .bias = true, .seed = 12});
  const Outcome loose = run(GetParam(), problem, {.tol = 0.2, .monitor = {.max_iterations = 3000}});
  EXPECT_EQ(loose.result.status, Status::kConverged);
  EXPECT_LE(loose.certificate.kkt, loose.kkt_target * (1 + 1e-9));
  const Outcome tight = run(GetParam(), problem, {.tol = 1e-12, .monitor = {.max_iterations = 3000}});
  if (tight.result.status == Status::kConverged) {
    EXPECT_LE(tight.certificate.kkt, tight.kkt_target * (1 + 1e-3));  // rounding of kkt
    return;
  }
  EXPECT_EQ(tight.result.status, Status::kMaxIterations);
  EXPECT_EQ(tight.iterations, 3000);
}

TEST(Solvers, NoPointAroundTheOptimumIsLower) {
  // Tests F itself instead of its gradient: no step along or across coordinates from the optimum lowers it.
  const Problem problem({.name = "elastic net", .bias = true, .mu = 0.3, .seed = 22});
  Objective objective = problem.objective();
  const Outcome r = run("prox-gd-acc", problem, {.tol = 1e-9});
  std::vector<double> w(objective.dimension(), 0.0);
  for (std::size_t i = 0; i < r.result.w.nnz(); ++i) w[r.result.w.index[i]] = r.result.w.value[i];
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> moved = w;
    const double size = std::pow(10.0, -1 - trial % 3);
    if (trial % 2 == 0) {
      moved[random.below(moved.size())] += size * random.normal();
    } else {
      for (double& x : moved)
        if (x != 0.0) x += size * random.normal();
    }
    EXPECT_GE(certify(objective, SparseVector::from_dense(moved)).objective, r.certificate.objective);
  }
}

TEST(DescentMethods, LowerTheObjectiveAtEveryIteration) {
  for (const std::string solver : {"owl-qn", "liblbfgs-owlqn", "lbfgs", "liblbfgs", "prox-gd"}) {
    SCOPED_TRACE(solver);
    const Problem problem = problem_for(solver, test::problem_specs()[1]);
    const Outcome r = run(solver, problem, {.tol = 1e-3, .monitor = {.dense_samples = 1000000}});
    for (std::size_t i = 1; i < r.trace.size(); ++i)
      EXPECT_LT(r.trace[i].objective, r.trace[i - 1].objective);
  }
}

}  // namespace
}  // namespace proxbench
