/// Compares stochastic dual coordinate ascent with another solver's optima. Checks weak duality and ascent at
/// every step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::bounded_samples;
using test::dual_of;
using test::every_sample;
using test::Outcome;
using test::Problem;
using test::ProblemSpec;
using test::run;
using test::smooth_optimum;
using test::smooth_specs;

using Choices = std::map<std::string, std::string>;

/// Every value of every option with the defaults of the others, and some combinations.
std::vector<Choices> all_choices() {
  std::vector<Choices> out{{}};
  for (const std::string batch : {"1", "8"}) {
    for (const std::string sampling : {"uniform", "importance", "gap", "gap-importance", "max"})
      out.push_back({{"sampling", sampling}, {"batch", batch}});
    out.push_back({{"line_search", "one-step"}, {"batch", batch}});
    out.push_back({{"line_search_precision", "1e-8"}, {"batch", batch}});
    out.push_back({{"start", "uniform"}, {"batch", batch}});
    out.push_back({{"start", "uniform"}, {"uniform_share", "1"}, {"sampling", "max"}, {"batch", batch}});
    out.push_back({{"gold_score", "0"}, {"batch", batch}});
    out.push_back({{"refresh_every", "1"}, {"refresh_drawn", "false"}, {"batch", batch}});
  }
  return out;
}

std::string text(const Choices& choices) {
  std::string out;
  for (const auto& [name, value] : choices) out += name + "=" + value + " ";
  return out;
}

TEST(Sdca, ReachesTheOptimumWithEveryChoice) {
  for (const ProblemSpec& spec : smooth_specs()) {
    const Problem problem(spec);
    const double optimum = smooth_optimum(problem);
    for (const Choices& choices : all_choices()) {
      SCOPED_TRACE(spec.name + ": " + text(choices));
      const Outcome r =
          run("sdca", problem, {.tol = 1e-8, .monitor = bounded_samples(60000), .options = choices});
      const double tolerance = 1e-9;
      EXPECT_EQ(r.result.status, Status::kConverged);
      EXPECT_NEAR(r.certificate.objective, optimum, tolerance * optimum);
      EXPECT_NEAR(dual_of(r.trace.back()), optimum, tolerance * optimum);
      for (std::size_t s = 1; s < r.trace.size(); ++s) {
        ASSERT_LE(dual_of(r.trace[s]), optimum * (1 + 1e-11)) << "weak duality, sample " << s;
        ASSERT_GE(r.trace[s].estimated_gap, 0.0);
      }
    }
  }
}

TEST(Sdca, RaisesTheDualWithEveryStep) {
  for (const ProblemSpec& spec : smooth_specs())
    for (const std::string batch : {"1", "8"})
      for (const std::string precision : {"0.5", "1e-3", "1e-8"}) {
        SCOPED_TRACE(spec.name + ", batch " + batch + ", precision " + precision);
        const Problem problem(spec);
        const auto instances = static_cast<int>(problem.oracle().instances());
        // An iteration is one batch.
        const int reports = batch == "1" ? instances : instances / 8;
        const Outcome r = run("sdca", problem,
                              {.tol = 1e-12,
                               .monitor = every_sample(6 * reports),
                               .options = {{"batch", batch},
                                           {"line_search_precision", precision},
                                           {"reports", std::to_string(reports)}}});
        ASSERT_EQ(r.iterations, 6 * reports);
        for (std::size_t s = 2; s < r.trace.size(); ++s)
          ASSERT_GE(dual_of(r.trace[s]), dual_of(r.trace[s - 1]) - 1e-12 * std::abs(dual_of(r.trace[s])))
              << s;
        EXPECT_GT(dual_of(r.trace.back()), dual_of(r.trace[1]));
      }
}

TEST(Sdca, CountsAnUpdateAndAnInferenceAnInstance) {
  const Problem problem(smooth_specs()[0]);
  const Outcome r = run("sdca", problem, {.tol = 1e-12, .monitor = {.max_iterations = 20}});
  EXPECT_NEAR(r.trace.back().updates, 2.0, 1e-9);
  EXPECT_NEAR(r.trace[10].passes - r.trace[0].passes, 1.0, 1e-9);
}

TEST(Sdca, SameBitsForAnyThreads) {
  for (const ProblemSpec& spec : {smooth_specs()[1], smooth_specs()[3]})
    for (const std::string sampling : {"gap", "gap-importance", "max"}) {
      const Problem problem(spec);
      const auto at = [&](const Parallel& parallel) {
        return run("sdca", problem,
                   {.tol = 1e-12,
                    .parallel = parallel,
                    .monitor = {.max_iterations = 60},
                    .options = {{"batch", "8"}, {"sampling", sampling}, {"refresh_every", "2"}}});
      };
      const Outcome expected = at(Parallel(1));
      for (const Backend backend : {Backend::kOpenMP, Backend::kTBB})
        for (const int threads : {1, 2, 3}) {
          const Outcome found = at(Parallel(threads, backend));
          EXPECT_EQ(found.result.w.index, expected.result.w.index);
          EXPECT_EQ(found.result.w.value, expected.result.w.value);
        }
    }
}

TEST(Sdca, KeepsItsBeliefsWhereScoresAreHuge) {
  // From uniform beliefs, w = (features of gold - their means) / mu, which gives scores of about 1e8.
  ProblemSpec spec{.name = "chain, tiny mu", .labels = 3, .features = 7, .sequences = 8, .seed = 91};
  spec.lambda = 0.0;
  spec.mu = 1e-8;
  const Outcome r = run("sdca", Problem(spec),
                        {.tol = 0.0, .monitor = bounded_samples(20000), .options = {{"gold_score", "0"}}});
  EXPECT_EQ(r.result.status, Status::kMaxIterations);
  for (std::size_t s = 1; s < r.trace.size(); ++s)
    EXPECT_LE(dual_of(r.trace[s]), r.certificate.objective) << s;
  EXPECT_GT(dual_of(r.trace.back()), dual_of(r.trace[1]));
}

TEST(Sdca, ABatchLargerThanTheDataIsAllOfThem) {
  const Problem problem(smooth_specs()[0]);
  const Outcome r = run(
      "sdca", problem,
      {.tol = 1e-8, .monitor = {.max_iterations = 60000}, .options = {{"batch", "1000"}, {"reports", "1"}}});
  EXPECT_EQ(r.result.status, Status::kConverged);
  EXPECT_NEAR(r.certificate.objective, smooth_optimum(problem), 1e-9 * r.certificate.objective);
}

TEST(Sdca, BeginsNearTheModelThatItStartsFrom) {
  for (const ProblemSpec& spec : smooth_specs()) {
    SCOPED_TRACE(spec.name);
    const Problem problem(spec);
    const Outcome best = run("prox-newton", problem, {.tol = 1e-8});
    const Outcome r = run(
        "sdca", problem,
        {.tol = 1e-12, .monitor = every_sample(1), .options = {{"reports", "1000"}}, .start = best.result.w});
    const double optimum = best.certificate.objective;
    EXPECT_NEAR(r.trace[0].objective, optimum, 1e-9 * optimum);
    EXPECT_NEAR(r.trace[1].objective, optimum, 1e-7 * optimum);
    EXPECT_NEAR(dual_of(r.trace[1]), optimum, 1e-7 * optimum);

    Random random(3);
    SparseVector far;
    for (Coord c = 0; c < problem.objective().dimension(); ++c) far.push_back(c, random.normal());
    const Outcome other =
        run("sdca", problem, {.tol = 1e-8, .monitor = {.max_iterations = 60000}, .start = far});
    EXPECT_EQ(other.result.status, Status::kConverged);
    EXPECT_NEAR(other.certificate.objective, optimum, 1e-9 * optimum);
  }
}

/// Without enough memory, a run ends before the clock starts and before any inference.
TEST(Sdca, SaysWhereTheMemoryDoesNotSuffice) {
  for (const std::string solver : {"sdca", "oeg", "sag-nus"}) {
    const Problem problem(smooth_specs()[0]);
    const test::HookedOracle oracle(problem.oracle(), [](int, double value) { return value; });
    int samples = 0;
    try {
      run(solver, problem,
          {.options = {{"memory_limit", "1e-7"}}, .oracle = &oracle, .on_sample = [&](const Sample&) {
             ++samples;
           }});
      ADD_FAILURE() << solver;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), testing::HasSubstr("marginals of 24 instances take "));
      EXPECT_THAT(error.what(), testing::HasSubstr(" GB, expected at most memory_limit = 1e-07 GB"));
    }
    EXPECT_EQ(oracle.calls, 0) << solver;
    EXPECT_EQ(samples, 0) << solver;
  }
}

/// The clock counts the solver's inferences, and jumps once it passes the limit. From then on only inferences
/// that are already under way may finish.
TEST(Sdca, ATimeLimitEndsAnyPartOfARun) {
  for (const std::string solver : {"sdca", "oeg", "sag-nus"}) {
    const Problem problem(smooth_specs()[3]);
    const double visit = 1.0 / static_cast<double>(problem.oracle().instances());
    SparseVector start;
    start.push_back(0, 1.0);  // so that the first dual point takes a pass of inference
    for (const double limit : {0.3, 0.7, 1.2, 1.6, 3.3}) {
      SCOPED_TRACE(testing::Message() << solver << ", limit " << limit);
      const test::HookedOracle oracle(problem.oracle(), [](int, double value) { return value; });
      MonitorOptions monitor{.time_limit = limit};
      monitor.clock = [&] { return oracle.passes > limit ? 1e6 : oracle.passes; };
      const Choices options = solver == "sdca" ? Choices{{"refresh_every", "1"}} : Choices{};
      double passes = 0.0;
      const Outcome r = run(solver, problem,
                            {.tol = 0.0,
                             .monitor = monitor,
                             .options = options,
                             .start = start,
                             .oracle = &oracle,
                             .on_sample = [&](const Sample&) { passes = oracle.passes; }});
      EXPECT_EQ(r.result.status, Status::kTimeLimit);
      // SAG-NUS may make several trials in a visit.
      EXPECT_LE(passes, limit + (solver == "sag-nus" ? 20.0 : 1.5) * visit);
      EXPECT_TRUE(std::isfinite(r.certificate.objective));
    }
  }
}

TEST(Sdca, NeedsASmoothObjective) {
  for (const std::string solver : {"sdca", "oeg", "sag-nus"}) {
    const SolverInfo& info = solver_registry().find(solver);
    EXPECT_EQ(unmet_needs(info, {0.0, 1.0}, Loss::Kind::kLog), "");
    EXPECT_THAT(unmet_needs(info, {0.5, 1.0}, Loss::Kind::kLog), testing::HasSubstr("expected lambda = 0"));
    EXPECT_THAT(unmet_needs(info, {0.0, 0.0}, Loss::Kind::kLog), testing::HasSubstr("expected mu > 0"));
  }
}

}  // namespace
}  // namespace proxbench
