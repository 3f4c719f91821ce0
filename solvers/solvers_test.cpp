/// Statements that hold for every registered solver, on small random chain and tree problems, beyond those of
/// the conformance suite (experiments/conformance.h), which its own test runs over all of them.
///
/// Nothing here comes from a run of the solver under test: optimality is judged by certify(), which knows F
/// and its minimum-norm subgradient alone, and values by agreement among solvers that share little code.

#include "solvers/solvers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "solvers/test_problems.h"
#include "solvers/test_run.h"

namespace proxbench {
namespace {

using test::Conditions;
using test::HookedOracle;
using test::kkt_at_zero;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using ::testing::HasSubstr;

Outcome run(const std::string& solver, const Problem& problem, const Conditions& setup = {}) {
  return test::run(solver_registry().find(solver), problem, setup);
}

class EverySolver : public ::testing::TestWithParam<std::string> {};
/// Those that reach any kkt target, and those that only come near the optimum.
class ExactSolver : public EverySolver {};
class InexactSolver : public EverySolver {};

std::vector<std::string> solvers(bool exact) {
  std::vector<std::string> names;
  for (const SolverInfo& info : solver_registry().items())
    if (info.exact == exact) names.push_back(info.name);
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
  // The looser target must not be overshot by much work: what was asked for is when to stop.
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  const Outcome loose = run(GetParam(), problem, {.tol = 1e-2});
  const Outcome tight = run(GetParam(), problem, {.tol = 1e-6});
  EXPECT_EQ(loose.result.status, Status::kConverged);
  EXPECT_LE(loose.certificate.kkt, loose.kkt_target * (1 + 1e-6));
  EXPECT_LT(loose.result.iterations, tight.result.iterations);
}

TEST_P(ExactSolver, ReachesTheSameOptimumFromAnotherStart) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
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
  ProblemSpec spec{.name = "bias", .bias = true, .seed = 12};
  spec.lambda = (spec.lambda + kkt_at_zero(Problem(spec))) * 0.99;
  // kkt at 0 is a hundredth of the gradient here, and with it the target: ask for less.
  const Outcome r = run(GetParam(), Problem(spec), {.tol = 1e-4});
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
  EXPECT_GE(r.result.w.nnz(), 1u);
  EXPECT_LE(r.result.w.nnz(), 5u);
}

/// The small problems with an l2 penalty, alone and beside the l1 penalty.
std::vector<ProblemSpec> l2_specs() {
  std::vector<ProblemSpec> out;
  for (ProblemSpec spec : test::problem_specs()) {
    if (spec.mu == 0.0) spec.mu = 0.1;
    out.push_back(spec);
    spec.lambda = 0.0;
    out.push_back(spec);
  }
  return out;
}

/// F is within 1e-9 of its minimum, proven; so any two that pass differ by no more. With lambda = 0, kkt is
/// the largest entry of the gradient.
void expect_certified_optimum(const Problem& problem, const Outcome& r) {
  EXPECT_TRUE(r.result.status == Status::kConverged || r.result.status == Status::kStalled)
      << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  EXPECT_LE(r.certificate.relative_gap(), 1e-9);
  EXPECT_GE(r.certificate.relative_gap(), -1e-12);
}

TEST_P(ExactSolver, ReachesACertifiedOptimumWithAnL2Penalty) {
  const SolverInfo& info = solver_registry().find(GetParam());
  for (const ProblemSpec& spec : l2_specs()) {
    if (info.needs.l1 && spec.lambda == 0.0) continue;
    SCOPED_TRACE(spec.name + ", lambda = " + std::to_string(spec.lambda));
    const Problem problem(spec);
    expect_certified_optimum(problem, run(GetParam(), problem, {.tol = 1e-8}));
  }
}

TEST(Solvers, TheL2OptimumIsThatOfNewtonsMethodOnFiniteDifferences) {
  // Of F's values alone: gradient and Hessian by central differences, solved by Gaussian elimination.
  const Problem problem({.name = "tiny", .labels = 2, .features = 3, .lambda = 0.0, .mu = 0.4, .seed = 8});
  Objective objective = problem.objective();
  const std::size_t d = objective.dimension();
  const auto value = [&](const std::vector<double>& w) {
    const SparseVector sparse = SparseVector::from_dense(w);
    Scores scores = objective.make_scores();
    objective.scores(sparse, scores);
    return objective.infer({scores}, nullptr) + objective.l2(sparse.value);
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
    const Problem problem({.name = "bias", .bias = true, .lambda = lambda, .mu = 0.3, .seed = 12});
    const Outcome r = run(GetParam(), problem, {.monitor = {.max_iterations = 3000}});
    EXPECT_LE(r.certificate.relative_gap(), 0.05) << lambda;
  }
}

TEST(Needs, ARunThatCannotBeIsRefusedWithItsReason) {
  const auto unmet = [](const std::string& name, const Penalty& penalty, const std::string& screening = "") {
    const SolverInfo& info = solver_registry().find(name);
    Options options(info.options);
    if (!screening.empty()) options.set("screening", screening);
    return unmet_needs(info, options, penalty);
  };
  EXPECT_EQ(unmet("liblbfgs-owlqn", {0.0, 1.0}),
            "solver 'liblbfgs-owlqn' needs an l1 penalty: found lambda = 0, expected lambda > 0");
  EXPECT_EQ(unmet("liblbfgs-owlqn", {0.5, 1.0}), "");
  EXPECT_EQ(unmet("prox-qn", {0.0, 1.0}), "");
  EXPECT_THAT(unmet("prox-qn", {0.0, 1.0}, "true"), HasSubstr("screening = true needs an l1 penalty"));
  EXPECT_EQ(unmet("prox-qn", {0.5, 1.0}, "true"), "");

  const SolverInfo& sgd = solver_registry().find("sgd");
  OracleInfo sums_alone{.name = "sums", .help = "", .paper = "", .make = nullptr};
  EXPECT_EQ(unmet_needs(sgd, Options(sgd.options), {1.0, 0.0}, sums_alone),
            "solver 'sgd' needs an oracle with 'one instance', which oracle 'sums' has not");
  EXPECT_EQ(unmet_needs(sgd, Options(sgd.options), {1.0, 0.0}, oracle_registry().find("chain")), "");
}

TEST(Needs, OraclesHaveTheCapabilitiesThatTheyState) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    const bool chain = spec.tree == ProblemSpec::Tree::kNone;
    EXPECT_NO_THROW(
        check_capabilities(oracle_registry().find(chain ? "chain" : "tree"), Problem(spec).oracle()));
    EXPECT_THROW(check_capabilities(oracle_registry().find(chain ? "tree" : "chain"), Problem(spec).oracle()),
                 Error);
  }
}

TEST_P(ExactSolver, EndsByItselfWhereTheTargetIsOutOfReach) {
  // kkt = 0 to the last bit is not to be had: rounding ends the search, close to the optimum.
  const Problem problem(test::problem_specs()[4]);
  const Outcome r = run(GetParam(), problem, {.tol = 0.0});
  EXPECT_TRUE(r.result.status == Status::kStalled || r.certificate.kkt == 0.0)
      << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, 1e-5 * kkt_at_zero(problem));
}

/// Solvers that hand over the loss at every iterate; the trace says which they are.
bool gives_losses(const std::string& solver) {
  const Problem problem(test::problem_specs()[3]);
  return run(solver, problem, {.monitor = {.max_iterations = 3}}).audits.count > 0;
}

TEST(Solvers, AllButSgdHandOverTheirLosses) {
  for (const SolverInfo& info : solver_registry().items())
    EXPECT_EQ(gives_losses(info.name), info.name != "sgd") << info.name;
}

TEST_P(EverySolver, LightSamplesAreThoseOfAFullTrace) {
  if (!gives_losses(GetParam())) GTEST_SKIP() << "gives no losses, so it has no light samples";
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    Conditions setup;
    setup.monitor = {.max_iterations = 100, .dense_samples = 1000000};
    const Outcome full = run(GetParam(), problem, setup);
    setup.sampling_budget = 0.0;
    const Outcome light = run(GetParam(), problem, setup);
    EXPECT_EQ(light.result.status, full.result.status);
    EXPECT_EQ(light.result.w.index, full.result.w.index);
    EXPECT_EQ(light.result.w.value, full.result.w.value) << "sampling changes no bit of a run";
    EXPECT_EQ(light.audits.count, 1) << "the end";
    EXPECT_EQ(full.audits.count, full.result.iterations);
    EXPECT_LE(full.audits.largest, 1e-12);
    // The last iterate has a light sample, and then a full one.
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
  const Problem problem(test::problem_specs()[1]);
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
    SCOPED_TRACE(sampled ? "with every sample full" : "where no sample is due");
    if (!sampled && !gives) continue;  // it would be noticed at samples only
    if (!sampled) {
      setup.monitor.dense_samples = 0;
      setup.monitor.sample_growth = 1e300;
      setup.sampling_budget = 0.0;
    }
    const Outcome r = run(GetParam(), problem, setup);
    EXPECT_EQ(r.result.status, Status::kTargetReached) << status_name(r.result.status);
    EXPECT_EQ(r.result.iterations, first->iteration);
    EXPECT_LE(r.certificate.objective, target);
    EXPECT_EQ(r.trace.back().iteration, first->iteration);
    EXPECT_EQ(r.trace.back().objective, r.certificate.objective);
  }
}

TEST_P(EverySolver, LetsAnErrorOfTheOracleThrough) {
  const Problem problem(test::problem_specs()[3]);
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
  const Problem problem(test::problem_specs()[0]);
  const HookedOracle oracle(problem.oracle(),
                            [](int, double) { return std::numeric_limits<double>::quiet_NaN(); });
  const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
  EXPECT_EQ(r.result.status, Status::kDiverged) << status_name(r.result.status);
  EXPECT_EQ(r.result.w.nnz(), 0u);
}

TEST_P(EverySolver, EndsWhereAllTrialsHaveNoValue) {
  const Problem problem(test::problem_specs()[0]);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const HookedOracle oracle(problem.oracle(),
                              [&](int call, double value) { return call < 1 ? value : bad; });
    const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
    EXPECT_TRUE(r.result.status == Status::kStalled || r.result.status == Status::kDiverged)
        << status_name(r.result.status);
    EXPECT_EQ(r.result.w.nnz(), 0u) << "what is returned is the last point with a value";
  }
}

TEST_P(ExactSolver, BacksAwayFromTrialsThatHaveNoValue) {
  // A stray NaN now and then costs trials, not the result.
  const Problem problem(test::problem_specs()[0]);
  const HookedOracle oracle(problem.oracle(), [](int call, double value) {
    return call == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  });
  const Outcome r = run(GetParam(), problem, {.oracle = &oracle});
  EXPECT_EQ(r.result.status, Status::kConverged) << status_name(r.result.status);
  EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
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

/// F at the optimum, from a solver that shows its kkt.
double optimum(const Problem& problem) {
  const Outcome r = run("prox-gd-acc", problem, {.tol = 1e-9});
  EXPECT_LE(r.certificate.kkt, 1e-6 * kkt_at_zero(problem));
  return r.certificate.objective;
}

TEST_P(InexactSolver, ComesNearTheOptimumFromAnotherStart) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  Conditions setup{.monitor = {.max_iterations = 3000}};
  Random random(5);
  for (Coord c = 0; c < problem.objective().dimension(); c += 3) setup.start.push_back(c, random.normal());
  const Outcome r = run(GetParam(), problem, setup);
  EXPECT_EQ(r.trace.front().nnz, setup.start.nnz());
  EXPECT_LE(r.certificate.objective, optimum(problem) * 1.05);
}

TEST_P(InexactSolver, SaysConvergedOnlyWhereKktIsAtTheTarget) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  const Outcome loose = run(GetParam(), problem, {.tol = 0.2, .monitor = {.max_iterations = 3000}});
  EXPECT_EQ(loose.result.status, Status::kConverged);
  EXPECT_LE(loose.certificate.kkt, loose.kkt_target * (1 + 1e-9));
  const Outcome tight = run(GetParam(), problem, {.tol = 1e-12, .monitor = {.max_iterations = 3000}});
  EXPECT_EQ(tight.result.status, Status::kMaxIterations);
  EXPECT_EQ(tight.result.iterations, 3000);
}

TEST(Solvers, NoPointAroundTheOptimumIsLower) {
  // F itself, not its gradient: steps along and across coordinates from the optimum never lower it.
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

TEST(ProxGdAcc, EveryRestartRuleReachesTheOptimum) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  const double expected = run("owl-qn", problem, {.tol = 1e-7}).certificate.objective;
  for (const std::string rule : {"gradient", "function", "none"}) {
    SCOPED_TRACE(rule);
    const Outcome r = run("prox-gd-acc", problem, {.options = {{"restart", rule}}});
    EXPECT_EQ(r.result.status, Status::kConverged);
    EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    EXPECT_NEAR(r.certificate.objective, expected, 1e-8 * expected);
  }
}

TEST(ProxGdAcc, NeedsFarFewerIterationsThanWithoutMomentum) {
  const Problem problem({.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21});
  EXPECT_LT(3 * run("prox-gd-acc", problem).result.iterations, run("prox-gd", problem).result.iterations);
}

TEST(ProximalGradient, FirstEstimateOfTheLipschitzConstantDoesNotMatter) {
  const Problem problem({.name = "bias", .bias = true, .seed = 12});
  for (const std::string solver : {"prox-gd", "prox-gd-acc"})
    for (const std::string estimate : {"1e-6", "1e6"}) {
      SCOPED_TRACE(solver + " " + estimate);
      const Outcome r = run(solver, problem, {.options = {{"lipschitz", estimate}}});
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
    }
}

TEST(DescentMethods, LowerTheObjectiveAtEveryIteration) {
  for (const std::string solver : {"owl-qn", "liblbfgs-owlqn", "prox-gd"}) {
    SCOPED_TRACE(solver);
    const Problem problem(test::problem_specs()[1]);
    const Outcome r = run(solver, problem, {.tol = 1e-3, .monitor = {.dense_samples = 1000000}});
    for (std::size_t i = 1; i < r.trace.size(); ++i)
      EXPECT_LT(r.trace[i].objective, r.trace[i - 1].objective);
  }
}

/// SGD with cumulative penalty as the paper prints it: the penalty falls on all weights at every step.
/// Each gradient is that of the whole objective over one instance's residual.
SparseVector eager_sgd(const Problem& problem, const SparseVector& start, double eta0, int passes,
                       std::uint64_t seed) {
  Objective objective = problem.objective();
  const DesignMatrix& x = problem.data().x;
  const auto begin = problem.oracle().begin();
  const Index outputs = objective.outputs();
  const auto instances = static_cast<double>(objective.instances());
  const std::size_t d = objective.dimension(), unary = objective.unary_weights();
  auto features_of = [&](Index i) {
    std::set<Index> features;
    for (Index p = begin[i]; p < begin[i + 1]; ++p) features.insert(x.row(p).begin(), x.row(p).end());
    return features;
  };
  std::map<Index, double> carriers;
  for (Index i = 0; i < objective.instances(); ++i)
    for (const Index j : features_of(i)) carriers[j] += 1.0;

  std::vector<double> w(d, 0.0), q(d, 0.0), g(d);
  for (std::size_t i = 0; i < start.nnz(); ++i) w[start.index[i]] = start.value[i];
  std::vector<Index> order(objective.instances());
  for (Index i = 0; i < order.size(); ++i) order[i] = i;
  Random random(seed);
  Scores all(outputs, x.positions(), d - unary);
  double u = 0.0, k = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    random.shuffle(std::span(order));
    for (const Index i : order) {
      objective.scores(SparseVector::from_dense(w), all);
      const std::size_t n = begin[i + 1] - begin[i];
      Scores scores(outputs, n, all.extra.size());
      Residual residual(outputs, n, all.extra.size());
      for (Index o = 0; o < outputs; ++o) std::copy_n(all.column(o) + begin[i], n, scores.column(o));
      scores.extra = all.extra;
      objective.infer_some({&i, 1}, {scores}, &residual);
      std::fill(g.begin(), g.end(), 0.0);
      for (std::size_t p = 0; p < n; ++p) {
        const auto row = x.row(static_cast<Index>(begin[i] + p));
        const auto values = x.row_values(static_cast<Index>(begin[i] + p));
        for (std::size_t e = 0; e < row.size(); ++e)
          for (Index o = 0; o < outputs; ++o)
            g[row[e] * outputs + o] +=
                (values.empty() ? 1.0 : values[e]) * residual.column(residual.column_index(o))[p];
      }
      std::copy(residual.extra.begin(), residual.extra.end(), g.begin() + static_cast<std::ptrdiff_t>(unary));
      for (const Index j : features_of(i))
        for (std::size_t c = j * outputs; c < (j + std::size_t{1}) * outputs; ++c)
          g[c] += objective.mu() / carriers[j] * w[c];
      for (std::size_t c = unary; c < d; ++c) g[c] += objective.mu() / instances * w[c];

      const double eta = eta0 / (1.0 + k / instances);
      k += 1.0;
      u += eta * objective.lambda() / instances;
      for (std::size_t c = 0; c < d; ++c) {
        w[c] -= eta * g[c];
        const double z = w[c];
        if (w[c] > 0) w[c] = std::max(0.0, w[c] - (u + q[c]));
        if (w[c] < 0) w[c] = std::min(0.0, w[c] + (u - q[c]));
        q[c] += w[c] - z;
      }
    }
  }
  return SparseVector::from_dense(w);
}

TEST(Sgd, LazyUpdatesAreTheEagerOnesOfThePaper) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    Objective objective = problem.objective();
    SparseVector start;
    Random random(9);
    for (Coord c = 0; c < objective.dimension(); c += 2) start.push_back(c, random.normal());
    for (const SparseVector& from : {SparseVector{}, start}) {
      const Outcome r = run("sgd", problem,
                            {.monitor = {.max_iterations = 15},
                             .options = {{"eta0", "0.25"}, {"reports", "3"}},
                             .start = from});
      ASSERT_EQ(r.result.iterations, 15);
      const SparseVector expected = eager_sgd(problem, from, 0.25, 5, 7);
      EXPECT_EQ(r.result.w.index, expected.index);
      ASSERT_EQ(r.result.w.nnz(), expected.nnz());
      for (std::size_t i = 0; i < expected.nnz(); ++i)
        EXPECT_NEAR(r.result.w.value[i], expected.value[i], 1e-12);
    }
  }
}

TEST(Sgd, AWellChosenRateComesCloseToTheOptimum) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    double reached = std::numeric_limits<double>::infinity();
    for (const std::string eta0 : {"0.4", "0.8", "1.6", "3.2"}) {
      const Outcome r =
          run("sgd", problem,
              {.monitor = {.max_iterations = 300}, .options = {{"eta0", eta0}, {"reports", "1"}}});
      reached = std::min(reached, r.certificate.objective);
    }
    EXPECT_LE(reached, 1.025 * optimum(problem));
  }
}

TEST(Sgd, CalibrationIsAsGoodAsTheBestOfAWideLadder) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    auto reached = [&](const std::string& eta0, std::int64_t iterations) {
      return run("sgd", problem,
                 {.monitor = {.max_iterations = iterations}, .options = {{"eta0", eta0}, {"reports", "1"}}})
          .certificate.objective;
    };
    double best = std::numeric_limits<double>::infinity(), worst = 0.0;
    for (double eta0 = 1e-4; eta0 < 100; eta0 *= 4) {
      best = std::min(best, reached(std::to_string(eta0), 10));
      worst = std::max(worst, reached(std::to_string(eta0), 10));
    }
    // Trials count as iterations: as many passes, and at most twenty trials.
    EXPECT_LE(reached("auto", 30) - best, 0.05 * (worst - best));
  }
}

TEST(Sgd, CalibrationCountsItsPassesAndLeavesTheStart) {
  const Problem problem(test::problem_specs()[1]);
  const Outcome r = run("sgd", problem, {.monitor = {.max_iterations = 2}});
  ASSERT_EQ(r.trace.size(), 3u);
  EXPECT_EQ(r.trace[1].nnz, 0u);
  // One pass over the sample, here all instances, and one to look at it.
  EXPECT_NEAR(r.trace[1].passes, 2.0, 1e-12);
}

TEST(Sgd, HowOftenItReportsChangesNoBit) {
  const Problem problem(test::problem_specs()[1]);
  auto after_passes = [&](int reports) {
    return run("sgd", problem,
               {.monitor = {.max_iterations = 4 * reports},
                .options = {{"eta0", "0.1"}, {"reports", std::to_string(reports)}}})
        .result.w;
  };
  const SparseVector once = after_passes(1), often = after_passes(6);
  EXPECT_EQ(once.index, often.index);
  EXPECT_EQ(once.value, often.value);
}

TEST(Bcd, EveryChoiceReachesTheOptimum) {
  for (const ProblemSpec& spec : test::problem_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const double expected = optimum(problem);
    for (const auto& [option, value] : {std::pair{"shrinking", "false"},
                                        {"order", "cyclic"},
                                        {"epoch_margin", "0"},
                                        {"report", "1e-3"},
                                        {"floor", "1e-3"}}) {
      SCOPED_TRACE(std::string(option) + " = " + value);
      const Outcome r =
          run("bcd", problem, {.monitor = {.max_iterations = 10000000}, .options = {{option, value}}});
      EXPECT_EQ(r.result.status, Status::kConverged) << status_name(r.result.status);
      EXPECT_LE(r.certificate.kkt, r.kkt_target * (1 + 1e-6));
      EXPECT_NEAR(r.certificate.objective, expected, 1e-8 * expected);
    }
  }
}

TEST(Bcd, AFeatureThatFewInstancesCarryCostsTheirShareOfAPass) {
  // One feature an instance, all different: a cycle infers each instance for its own feature, and the
  // transitions do not occur.
  Dataset data;
  DesignMatrix::Builder builder;
  constexpr Index kInstances = 20;
  for (Index i = 0; i < kInstances; ++i) {
    builder.add(i, 3.0);
    builder.end_position();
    data.gold.push_back(i % 2);
    data.begin.push_back(i + 1);
  }
  data.x = std::move(builder).build(kInstances);
  auto names = std::make_shared<Vocabulary>();
  names->features.resize(kInstances);
  names->outputs.resize(2);
  data.vocabulary = names;
  const auto oracle = oracle_registry().find("tree").make(data);
  Objective objective(data.x, *oracle, {0.1, 0.0}, Parallel()),
      evaluator(data.x, *oracle, {0.1, 0.0}, Parallel());
  Monitor monitor(evaluator, objective, {.max_iterations = 1});
  const SolverInfo& info = solver_registry().find("bcd");
  Options options(info.options);
  options.set("report", "100");
  const SolveResult r = info.make(options)->solve({objective, monitor, {}, 1e-9, 1.4, 7});
  EXPECT_EQ(r.w.nnz(), 2u * kInstances);
  // The full gradient; then for each instance its residual and at most a few trials.
  EXPECT_GE(objective.passes(), 3.0 - 1e-9);
  EXPECT_LE(objective.passes(), 6.0);
}

TEST(OwlQn, SkipsUpdatesBelowTheCurvatureFloor) {
  // With a floor that no pair reaches the memory stays empty: every step is along the pseudo-gradient, and
  // slow.
  const Problem problem({.name = "weak penalty", .features = 6, .sequences = 40, .lambda = 0.05, .seed = 21});
  const Outcome all = run("owl-qn", problem);
  const Outcome none = run("owl-qn", problem, {.options = {{"omega", "0.999999"}}});
  EXPECT_GT(none.result.iterations, 2 * all.result.iterations);
}

TEST(OwlQn, OneIterationFollowsThePaper) {
  // From w = 0 with an empty memory: p = v, alpha = 1/||v||, halved until the condition of section 3.2 holds.
  const Problem problem(test::problem_specs()[1]);
  Objective objective = problem.objective();
  const std::size_t d = objective.dimension();
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(SparseVector{}, scores);
  const double f0 = objective.infer({scores}, &residual);
  std::vector<double> w(d, 0.0), g(d), v(d), x(d);
  objective.gradient(residual, w, g);
  double norm = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    v[i] =
        std::abs(g[i]) > objective.lambda() ? -std::copysign(std::abs(g[i]) - objective.lambda(), g[i]) : 0.0;
    norm += v[i] * v[i];
  }
  norm = std::sqrt(norm);
  double alpha = 1.0 / norm;
  while (true) {
    double predicted = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      x[i] = alpha * v[i];
      predicted += v[i] * x[i];
    }
    if (certify(objective, SparseVector::from_dense(x)).objective <= f0 - 1e-4 * predicted) break;
    alpha *= 0.5;
  }
  const Outcome r = run("owl-qn", problem, {.monitor = {.max_iterations = 1}});
  const SparseVector expected = SparseVector::from_dense(x);
  EXPECT_EQ(r.result.w.index, expected.index);
  ASSERT_EQ(r.result.w.nnz(), expected.nnz());
  for (std::size_t i = 0; i < expected.nnz(); ++i) EXPECT_NEAR(r.result.w.value[i], expected.value[i], 1e-14);
}

/// Every choice of prox-qn leads to the same optimum.
TEST(ProxQn, MeetsTheSameOptimumWithEveryChoice) {
  const std::vector<std::map<std::string, std::string>> choices = {
      {{"preset", "paper"}},    {{"metric", "identity"}},
      {{"working_set", "all"}}, {{"screening", "true"}},
      {{"epochs", "fixed"}},    {{"inner_tol", "0"}},
      {{"inner_cap", "true"}},  {{"preset", "paper"}, {"screening", "true"}},
      {{"shrinking", "false"}}, {{"memory", "5"}},
      {{"inner", "descent"}},   {{"newton", "never"}}};
  for (const ProblemSpec& spec : test::problem_specs()) {
    if (spec.collinear) continue;  // slow to the last digits whatever the choice
    const Problem problem(spec);
    const Outcome standard = run("prox-qn", problem, {.tol = 1e-8});
    for (const auto& options : choices) {
      const Outcome other =
          run("prox-qn", problem, {.tol = 1e-6, .monitor = {.max_iterations = 2000}, .options = options});
      EXPECT_NEAR(other.certificate.objective, standard.certificate.objective,
                  1e-7 * standard.certificate.objective)
          << spec.name << " with " << options.begin()->first << " = " << options.begin()->second;
    }
  }
}

TEST(ProxQn, EveryChoiceReachesACertifiedOptimumWithAnL2Penalty) {
  const std::vector<std::map<std::string, std::string>> choices = {{{"preset", "paper"}},
                                                                   {{"inner", "descent"}},
                                                                   {{"newton", "never"}},
                                                                   {{"shrinking", "false"}},
                                                                   {{"working_set", "all"}}};
  for (const ProblemSpec& spec : l2_specs())
    for (const auto& options : choices) {
      SCOPED_TRACE(spec.name + ", lambda = " + std::to_string(spec.lambda) + ", " + options.begin()->first);
      const Problem problem(spec);
      expect_certified_optimum(problem, run("prox-qn", problem, {.tol = 1e-8, .options = options}));
    }
}

/// Once it has cost as much as a Hessian, that takes over, and is at the last digits within a few steps.
TEST(ProxQn, EndsWithNewtonsMethodWhereItPays) {
  for (const double mu : {0.0, 0.01}) {
    const Problem problem({.name = "long sequences",
                           .labels = 12,
                           .features = 30,
                           .sequences = 40,
                           .longest = 40,
                           .density = 0.1,
                           .lambda = 0.1,
                           .mu = mu,
                           .seed = 5});
    const Outcome with = run("prox-qn", problem, {.tol = 1e-13});
    const Outcome without = run("prox-qn", problem, {.tol = 1e-13, .options = {{"newton", "never"}}});
    EXPECT_GT(with.result.notes.at("hessians"), 0.0);
    EXPECT_EQ(without.result.notes.count("hessians"), 0u);
    EXPECT_LT(with.result.iterations, without.result.iterations);
    EXPECT_EQ(with.result.status, Status::kConverged);
    EXPECT_LE(with.certificate.kkt, with.kkt_target * (1 + 1e-6));
    EXPECT_NEAR(with.certificate.objective, without.certificate.objective,
                1e-12 * with.certificate.objective);
    EXPECT_LT(with.certificate.relative_gap(), 1e-10);
  }
}

/// What screening drops shows in the working set's candidates, and the gap it started from was a proof.
TEST(ProxQn, ScreeningDropsCoordinatesAndNothingThatMatters) {
  const Problem problem(test::large_spec());
  const Outcome with = run("prox-qn", problem, {.tol = 1e-10, .options = {{"screening", "true"}}});
  const Outcome without = run("prox-qn", problem, {.tol = 1e-10});
  EXPECT_GT(with.result.notes.at("screened"), 0.9 * 8000 * 5);
  EXPECT_EQ(without.result.notes.count("screened"), 0u);
  EXPECT_NEAR(with.certificate.kkt, 0.0, with.kkt_target * (1 + 1e-6));  // over all coordinates
  EXPECT_EQ(with.result.w.index, without.result.w.index);
}

/// Down a path, by one object or by a new one for each lambda: the same optima, in fewer iterations with the
/// pairs of the lambda before.
TEST(ProxQn, TakesItsPairsAlongASequence) {
  ProblemSpec spec = test::large_spec();
  spec.sequences /= 2;
  for (const double mu : {0.0, 0.1}) {
    spec.mu = mu;
    const double at_zero = kkt_at_zero(Problem(spec)) + spec.lambda;
    const SolverInfo& info = solver_registry().find("prox-qn");
    ASSERT_TRUE(info.continues);
    Options options(info.options);
    options.set("newton", "never");  // needs no pairs
    std::int64_t iterations[2] = {};
    for (const bool in_sequence : {false, true}) {
      std::unique_ptr<Solver> solver;
      SparseVector w;
      for (int k = 1; k <= 15; ++k) {
        spec.lambda = at_zero * std::pow(0.9, k);
        const Problem problem(spec);
        Objective objective = problem.objective(), evaluator = problem.objective();
        Monitor monitor(evaluator, objective, {});
        if (solver == nullptr || !in_sequence) solver = info.make(options);
        SolveResult r = solver->solve({objective, monitor, w, 1e-7, at_zero, 7, in_sequence});
        ASSERT_EQ(r.status, Status::kConverged);
        EXPECT_LE(certify(evaluator, r.w).kkt, 1e-7 * at_zero * (1.0 + 1e-6));
        iterations[in_sequence ? 1 : 0] += r.iterations;
        w = std::move(r.w);
      }
    }
    EXPECT_LT(10 * iterations[1], 9 * iterations[0]);
  }
}

/// What is known of the start spares an inference, and the state that the solver leaves is that at its
/// result.
TEST(ProxQn, TakesTheStateOfTheStartAndLeavesThatOfTheResult) {
  for (const ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    const Problem problem(spec);
    const SolverInfo& info = solver_registry().find("prox-qn");
    const SparseVector start = run("prox-qn", problem, {.tol = 0.1}).result.w;
    for (const char* preset : {"fast", "paper"}) {
      if (preset == std::string("paper") && problem.oracle().collapsed() != nullptr) continue;  // takes long
      SCOPED_TRACE(spec.name + std::string(" ") + preset);
      SolveResult result[2];
      double passes[2];
      for (const bool knows : {false, true}) {
        Options options(info.options);
        options.set("preset", preset);
        Objective objective = problem.objective(), evaluator = problem.objective();
        Monitor monitor(evaluator, objective, {});
        SmoothState state{evaluator.make_scores(), evaluator.make_residual()};
        evaluator.scores(start, state.scores);
        state.loss = evaluator.infer({state.scores}, &state.residual);
        Objective::Selection selection;
        evaluator.select_gradient(state.residual, start, 0.5 * evaluator.lambda(), selection);
        KnownStart known{.state = state, .selection = selection, .complete_above = 0.5 * evaluator.lambda()};
        result[knows] = info.make(options)->solve(
            {objective, monitor, start, 1e-4, kkt_at_zero(problem), 7, false, knows ? &known : nullptr});
        passes[knows] = objective.passes();
        EXPECT_EQ(known.at_result, knows);
        if (!knows) continue;
        Scores scores = evaluator.make_scores();
        evaluator.scores(result[1].w, scores);
        EXPECT_NEAR(state.loss, evaluator.infer({scores}, nullptr), 1e-10 * state.loss);
        EXPECT_NEAR(evaluator.infer({state.scores}, nullptr), state.loss, 1e-10 * state.loss);
        evaluator.select_gradient(state.residual, result[1].w, evaluator.lambda(), selection);
        EXPECT_LE(selection.kkt_max, 1e-4 * kkt_at_zero(problem) * (1.0 + 1e-6));
      }
      EXPECT_EQ(result[0].status, Status::kConverged);
      EXPECT_EQ(result[1].status, Status::kConverged);
      if (result[0].iterations == result[1].iterations) {
        EXPECT_EQ(passes[0], passes[1] + 1.0);
      }
      EXPECT_EQ(result[0].w.index, result[1].w.index);
    }
  }
}

TEST(ProxQn, GivesTheSameBitsForAnyThreadsWithEveryMetric) {
  for (const ProblemSpec& spec : {test::large_spec(), test::large_tree_spec()}) {
    const Problem problem(spec);
    for (const char* preset : {"fast", "paper"}) {
      const std::map<std::string, std::string> options{{"preset", preset}, {"screening", "true"}};
      const Outcome one = run("prox-qn", problem, {.options = options});
      const Outcome three = run("prox-qn", problem, {.parallel = Parallel(3), .options = options});
      const Outcome tbb =
          run("prox-qn", problem, {.parallel = Parallel(2, Backend::kTBB), .options = options});
      EXPECT_EQ(one.result.w.value, three.result.w.value) << spec.name << preset;
      EXPECT_EQ(one.result.w.value, tbb.result.w.value) << spec.name << preset;
    }
  }
}

}  // namespace
}  // namespace proxbench
