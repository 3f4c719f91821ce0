/// The same problem in other units gives the same results, to the last bit.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/monitor/monitor.h"
#include "solvers/shared/test_problems.h"

namespace proxbench {
namespace {

using test::Problem;
using test::ProblemSpec;

/// Normal numbers times `size`, a third of them replaced by 0. The oracle's extra weights get none.
SparseVector draw(const Problem& problem, double size) {
  Random random(7);
  SparseVector w;
  for (Coord c = 0; c < Coord{problem.data().x.features()} * problem.data().outputs(); ++c)
    if (const double x = size * random.normal(); random.uniform() < 0.67 && x != 0.0) w.push_back(c, x);
  return w;
}

SparseVector times(SparseVector w, int k) {
  for (double& x : w.value) x = std::ldexp(x, k);
  return w;
}

void expect_same_bits(double found, double expected, const std::string& what) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected))
      << what << " = " << found << ", expected " << expected;
}

struct PenaltyCase {
  double lambda, mu;
};

TEST(Scaling, LeavesCertificatesTheSame) {
  for (ProblemSpec spec : test::scale_specs())
    for (const PenaltyCase& penalty : {PenaltyCase{0.5, 0.0}, PenaltyCase{0.0, 0.3}, PenaltyCase{0.5, 0.3}})
      for (const Loss::Kind kind : {Loss::Kind::kLog, Loss::Kind::kHinge})
        for (const double size : {0.0, 0.1, 3.0}) {
          spec.lambda = penalty.lambda;
          spec.mu = penalty.mu;
          spec.loss.kind = kind;
          const Problem problem(spec);
          Objective objective = problem.objective();
          const SparseVector w = draw(problem, size);
          const Certificate expected = certify(objective, w);
          for (const int k : test::kScales) {
            SCOPED_TRACE(testing::Message()
                         << spec.name << ", " << loss_name(kind) << ", lambda = " << spec.lambda
                         << ", mu = " << spec.mu << ", w of " << size << ", k = " << k);
            const Problem other(test::scaled(spec, k));
            Objective scaled = other.objective();
            const Certificate found = certify(scaled, times(w, -k));
            expect_same_bits(found.objective, expected.objective, "F");
            expect_same_bits(found.loss, expected.loss, "loss");
            expect_same_bits(found.dual, expected.dual, "bound");
            expect_same_bits(found.gap(), expected.gap(), "gap");
            expect_same_bits(found.l1, std::ldexp(expected.l1, -k), "l1");
            if (!std::isnan(expected.kkt)) expect_same_bits(found.kkt, std::ldexp(expected.kkt, k), "kkt");
            EXPECT_EQ(found.nnz, expected.nnz);
          }
        }
}

}  // namespace
}  // namespace proxbench
