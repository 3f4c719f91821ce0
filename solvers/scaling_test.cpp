/// Solvers that claim to be scale-free give the same bits on the same problem in other units.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "solvers/shared/test_solvers.h"

namespace proxbench {
namespace {

using test::Outcome;
using test::Problem;
using test::ProblemSpec;

constexpr std::int64_t kIterations = 40;

struct Tested {
  std::string solver;
  std::map<std::string, std::string> options = {};
  std::string name() const {
    std::string out = solver;
    for (const auto& [key, value] : options) out += "_" + value;
    std::replace_if(
        out.begin(), out.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return out;
  }
};

std::vector<Tested> scale_free_solvers() {
  std::vector<Tested> out;
  for (const std::string& name : solver_registry().names())
    if (solver_registry().find(name).scale_free) out.push_back({name});
  out.push_back({"lbfgs", {{"start", "identity"}}});
  out.push_back({"sdca", {{"sampling", "gap-importance"}}});
  return out;
}

void PrintTo(const Tested& tested, std::ostream* out) {
  *out << tested.name();
}

class ScaleFree : public testing::TestWithParam<Tested> {};

INSTANTIATE_TEST_SUITE_P(Solvers, ScaleFree, testing::ValuesIn(scale_free_solvers()),
                         [](const auto& tested) { return tested.param.name(); });

void expect_same_bits(double found, double expected, const std::string& what) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected))
      << what << " = " << found << ", expected " << expected;
}

void expect_same_run(const Outcome& found, const Outcome& expected, int k) {
  EXPECT_EQ(found.result.status, expected.result.status);
  ASSERT_EQ(found.trace.size(), expected.trace.size());
  for (std::size_t i = 0; i < found.trace.size(); ++i) {
    const Sample &a = found.trace[i], &b = expected.trace[i];
    SCOPED_TRACE(testing::Message() << "iteration " << b.iteration);
    expect_same_bits(a.objective, b.objective, "F");
    expect_same_bits(a.passes, b.passes, "passes");
    EXPECT_EQ(a.nnz, b.nnz);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(found.result.w.index, expected.result.w.index);
  for (std::size_t i = 0; i < found.result.w.nnz(); ++i)
    expect_same_bits(found.result.w.value[i], std::ldexp(expected.result.w.value[i], -k), "w");
}

TEST_P(ScaleFree, KeepsItsBitsInOtherUnits) {
  const SolverInfo& info = solver_registry().find(GetParam().solver);
  const OracleInfo* oracle = nullptr;
  std::size_t compared = 0;
  for (const ProblemSpec& spec : test::scale_specs())
    for (const double mu : {0.0, 0.2}) {
      ProblemSpec suited = spec;
      suited.mu = mu;
      suited = test::suited(suited, info.needs);
      const Problem problem(suited);
      if (problem.oracle_name() == "chain" && suited.longest > 1) continue;  // its transitions do not scale
      oracle = &oracle_registry().find(problem.oracle_name());
      Options options(info.options);
      for (const auto& [key, value] : GetParam().options) options.set(key, value);
      if (!unmet_needs(info, {suited.lambda, suited.mu}, suited.loss.kind, *oracle).empty()) continue;
      const test::Conditions conditions{
          .tol = 1e-8,
          .monitor = {.max_iterations = kIterations, .dense_samples = kIterations},
          .options = GetParam().options};
      const Outcome expected = test::run(info, problem, conditions);
      EXPECT_GE(expected.iterations, 2);
      for (const int k : test::kScales) {
        SCOPED_TRACE(testing::Message() << suited.name << ", mu = " << mu << ", k = " << k);
        expect_same_run(test::run(info, Problem(test::scaled(suited, k)), conditions), expected, k);
        if (HasFailure()) return;
        ++compared;
      }
    }
  EXPECT_GE(compared, std::size(test::kScales));
}

TEST(ScaleFreeSolvers, AreThoseWhoseHelpNamesNothingThatForbidsIt) {
  for (const std::string& name : solver_registry().names()) {
    const SolverInfo& info = solver_registry().find(name);
    EXPECT_EQ(info.scale_free, info.help.find("not scale-free: ") == std::string::npos) << name;
  }
}

}  // namespace
}  // namespace proxbench
