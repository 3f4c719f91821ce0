/// Claims about long sequences, and about many equal losses, whose sums cancel. The judge has 128 bits
/// (oracles/test_judge.h); for equal losses min F is a closed form.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/conformance/test_adversarial.h"
#include "experiments/run/path.h"
#include "experiments/run/training.h"
#include "oracles/test_judge.h"

namespace proxbench {
namespace {

using test::Draft;
using test::Judge;

LoadedData load(const Draft& draft) {
  DataPair pair;
  pair.train = draft.dataset();
  pair.oracle = draft.oracle;
  return LoadedData(std::move(pair), Parallel(1));
}

std::string digits(long double x) {
  return fmt::format("{:.20g}", x);
}

/// One sequence over three labels. A feature tells the label at most positions, another one the position's
/// parity; the labels repeat with period 3, or are drawn.
enum class Kind { kEasy, kPeriodic, kNoisy };
Draft sequence(Kind kind, std::size_t length) {
  Random random(length);
  Draft out{
      .oracle = "chain", .outputs = 3, .rows = {}, .gold = {}, .begin = {0, static_cast<Index>(length)}};
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t label = kind == Kind::kNoisy ? random.below(3) : t % 3;
    const bool told = kind == Kind::kEasy || (kind == Kind::kPeriodic ? t % 11 != 0 : random.uniform() < 0.6);
    std::vector<double> row(5, 0.0);
    row[told ? label : 0] = 0.7;
    row[3 + t % 2] = 1.3;
    out.rows.push_back(std::move(row));
    out.gold.push_back(static_cast<Index>(label));
  }
  return out;
}

/// Checks what a certificate says of w: F within its rounding, and a bound that is not above F.
void expect_true(const Certificate& c, const SparseVector& w, const Judge& judge, const std::string& where) {
  const long double value = judge.objective(w);
  EXPECT_LE(std::fabs(c.objective - value), c.rounding)
      << where << ": F = " << digits(c.objective) << ", expected " << digits(value);
  EXPECT_LE(c.dual, value) << where << ": min F >= " << digits(c.dual) << ", but F(w) = " << digits(value);
}

RunOutcome trained(const LoadedData& data, const std::string& solver, const Penalty& penalty, double gap,
                   std::int64_t iterations, const Loss& loss = {}) {
  RunParameters settings;
  settings.solver = solver;
  settings.penalty.lambda = penalty.lambda;
  settings.penalty.mu = penalty.mu;
  settings.loss = loss;
  settings.tol = 0.0;
  settings.gap_target = gap;
  settings.max_iterations = iterations;
  return train(data, settings);
}

struct Case {
  Kind kind;
  std::size_t length;
};

TEST(LongSequences, HaveTrueCertificates) {
  for (const auto& [kind, length] : {Case{Kind::kEasy, 600},
                                     {Kind::kPeriodic, 600},
                                     {Kind::kNoisy, 600},
                                     {Kind::kPeriodic, 20000},
                                     {Kind::kNoisy, 20000},
                                     {Kind::kEasy, 100000},
                                     {Kind::kNoisy, 100000},
                                     {Kind::kPeriodic, 400000},
                                     {Kind::kNoisy, 400000}}) {
    const Draft draft = sequence(kind, length);
    const LoadedData data = load(draft);
    const bool huge = length >= 100000;
    for (const auto& [solver, penalty] :
         {std::pair<std::string, Penalty>{"prox-newton", {1.0, 0.0}}, {"newton-cg", {0.0, 1.0}}}) {
      if (huge && penalty.mu > 0.0 && kind != Kind::kEasy) continue;
      const Judge judge(data.train(), "chain", penalty);
      const RunOutcome outcome = trained(data, solver, penalty, 1e-12, huge ? 8 : 40);
      expect_true(outcome.certificate, outcome.w, judge,
                  fmt::format("{} on {} tokens, kind {}", solver, length, static_cast<int>(kind)));
      EXPECT_LT(outcome.certificate.rounding, 1e-12 * static_cast<double>(length)) << length;
    }
  }
}

/// The bound must hold for min F, not only at the point itself. The judge's descent comes nearer to it.
TEST(LongSequences, HaveBoundsBelowTheMinimum) {
  for (const Penalty& penalty : {Penalty{1.0, 0.0}, Penalty{0.0, 1.0}, Penalty{0.5, 0.1}}) {
    const LoadedData data = load(sequence(Kind::kPeriodic, 150));
    const Judge judge(data.train(), "chain", penalty);
    const RunOutcome outcome = trained(data, "prox-newton", penalty, 1e-15, 100);
    const Judge::Weights best = judge.descend(judge.dense(outcome.w));
    EXPECT_LE(outcome.certificate.dual, judge.objective(best)) << penalty.text();
    EXPECT_LE(outcome.certificate.relative_gap(), 1e-10) << penalty.text();
  }
}

TEST(LongSequences, HaveTrueKkt) {
  const LoadedData data = load(sequence(Kind::kNoisy, 3000));
  const Penalty penalty{1.0, 0.0};
  const Judge judge(data.train(), "chain", penalty);
  Objective objective = data.objective({penalty.lambda, penalty.mu}, {});
  for (const double size : {0.0, 0.1, 3.0}) {
    Random random(5);
    SparseVector w;
    for (Coord c = 0; c < judge.dimension() && size > 0.0; ++c) w.push_back(c, size * random.normal());
    const Certificate found = certify(objective, w);
    EXPECT_LE(std::fabs(found.kkt - judge.kkt(judge.dense(w))), found.kkt_rounding) << size;
    EXPECT_LE(found.kkt_rounding, 1e-6 * found.kkt) << size;
  }
}

/// Transitions that differ by more than the linear domain allows (ChainOracle::kLinearRange).
TEST(LongSequences, HaveTrueCertificatesInTheLogDomain) {
  const LoadedData data = load(sequence(Kind::kNoisy, 20000));
  const Penalty penalty{1.0, 0.0};
  const Judge judge(data.train(), "chain", penalty);
  Objective objective = data.objective({penalty.lambda, penalty.mu}, {});
  SparseVector w;
  for (Coord c = 0; c < judge.dimension(); ++c)
    w.push_back(c, c == judge.unary_weights() + 1 ? -400.0 : 0.1 * static_cast<double>(c % 7));
  expect_true(certify(objective, w), w, judge, "log domain");
}

TEST(LongSequences, HaveTrueBoundsFromDualSolvers) {
  for (const std::size_t length : {std::size_t{600}, std::size_t{4000}}) {
    const LoadedData data = load(sequence(Kind::kPeriodic, length));
    const Penalty penalty{0.0, 1.0};
    for (const std::string solver : {"sdca", "oeg"}) {
      const RunOutcome outcome = trained(data, solver, penalty, 1e-9, 30);
      expect_true(outcome.certificate, outcome.w, Judge(data.train(), "chain", penalty), solver);
    }
    const Loss hinge{Loss::Kind::kHinge, Cost::kHamming};
    for (const std::string solver : {"bcfw", "gdmm"}) {
      const RunOutcome outcome = trained(data, solver, penalty, 1e-6, 20, hinge);
      expect_true(outcome.certificate, outcome.w, Judge(data.train(), "chain", penalty, hinge), solver);
    }
  }
}

/// A table as people have them: a year, an income, an age, a pH and a population, and a label that depends on
/// three of them.
Draft table(std::size_t rows, std::uint64_t seed) {
  Random random(seed);
  Draft out{.oracle = "tree", .outputs = 2};
  for (std::size_t i = 0; i < rows; ++i) {
    const double year = std::floor(1990.0 + 34.0 * random.uniform()),
                 income = std::exp(10.5 + 0.6 * random.normal()),
                 age = std::floor(18.0 + 62.0 * random.uniform()), ph = 7.0 + 0.2 * random.normal(),
                 people = std::floor(5e6 * random.uniform());
    const double sum =
        (age - 50.0) / 10.0 + 4.0 * (ph - 7.0) + 2.0 * (std::log(income) - 10.5) + random.normal();
    out.rows.push_back({1.0, year, income, age, ph, people});
    out.gold.push_back(sum > 0.0 ? 1 : 0);
    out.begin.push_back(static_cast<Index>(i + 1));
  }
  return out;
}

TEST(UnscaledTables, LetPathsGoToTheirEnds) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5})
    for (const std::string solver : {"prox-newton", "prox-qn", "owl-qn"}) {
      const LoadedData data = load(table(60, seed));
      RunParameters settings;
      settings.solver = solver;
      settings.max_iterations = 150;
      std::vector<Penalty> penalties;
      const double largest = lambda_max(data, {});
      for (int k = 0; k < 10; ++k) penalties.push_back({largest * std::pow(10.0, -0.6 * k), 0.0});
      const RunOutcome outcome = train_path(data, settings, penalties, {});
      ASSERT_EQ(outcome.points.size(), penalties.size()) << solver << ", seed " << seed;
      expect_true(outcome.certificate, outcome.w, Judge(data.train(), "tree", penalties.back()), solver);
    }
}

/// Scores that were large and are small again have the rounding of large ones. They are mapped again in time.
TEST(UnscaledTables, LetSolversPassTheirAudits) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Random random(seed);
    Draft draft{.oracle = "tree", .outputs = 2};
    for (std::size_t i = 0; i < 20; ++i) {
      std::vector<double> row;
      for (int j = 0; j < 4; ++j) row.push_back(random.normal() * std::exp(6.0 * random.normal()));
      draft.rows.push_back(std::move(row));
      draft.gold.push_back(static_cast<Index>(random.below(2)));
      draft.begin.push_back(static_cast<Index>(i + 1));
    }
    const LoadedData data = load(draft);
    for (const auto& [solver, penalty] : {std::pair<std::string, Penalty>{"lbfgs", {0.0, 1.0}},
                                          {"newton-cg", {0.0, 1.0}},
                                          {"prox-newton", {1.0, 0.0}}}) {
      const RunOutcome outcome = trained(data, solver, penalty, 1e-9, 300);
      expect_true(outcome.certificate, outcome.w, Judge(data.train(), "tree", penalty), solver);
      EXPECT_GT(*outcome.audits, 0);
    }
  }
}

/// Where rounding hides F, no relative gap is claimed.
TEST(Certificate, ClaimsNothingOfAnFThatRoundsToZero) {
  Draft draft = table(30, 1);
  draft.scale(1e100);
  const LoadedData data = load(draft);
  const RunOutcome outcome = trained(data, "lbfgs", {0.0, 1e-200}, 1e-6, 50);
  const Certificate& c = outcome.certificate;
  EXPECT_TRUE(std::isnan(c.relative_gap()) || c.rounding < std::abs(c.objective));
  EXPECT_EQ(outcome.status == Status::kGapReached, c.relative_gap() <= 1e-6);
  const Certificate zero{.objective = 0.0, .dual = 0.0, .rounding = 1e-12};
  EXPECT_TRUE(std::isnan(zero.relative_gap()));
  EXPECT_EQ(zero.gap(), 1e-12);
  const Certificate blurred{.objective = 1.0, .dual = 0.0, .rounding = 1890.0};
  EXPECT_TRUE(std::isnan(blurred.relative_gap()));
}

/// K labels in turn, so that no weight helps: min F = n log K at w = 0.
TEST(EqualLosses, HaveTrueBounds) {
  for (Index labels = 2; labels <= 200; labels += labels < 12 ? 1 : 7)
    for (const std::string oracle : {"tree", "chain", "candidates"}) {
      const std::size_t n = std::size_t{labels} * (2048 / labels);
      Draft draft{.oracle = oracle, .outputs = labels};
      if (oracle == "candidates") {
        // Groups of `labels` equal candidates, of which one is gold.
        draft.outputs = 1;
        for (std::size_t i = 0; i < n / labels; ++i) {
          for (Index k = 0; k < labels; ++k) {
            draft.rows.push_back({1.0});
            draft.gold.push_back(k == 0 ? 0 : kNoOutput);
          }
          draft.begin.push_back(static_cast<Index>(draft.rows.size()));
        }
      } else {
        for (std::size_t i = 0; i < n; ++i) {
          draft.rows.push_back({1.0});
          draft.gold.push_back(static_cast<Index>(i % labels));
          draft.begin.push_back(static_cast<Index>(i + 1));
        }
      }
      const LoadedData data = load(draft);
      const auto instances = static_cast<long double>(data.train().instances());
      const long double least = instances * std::log(static_cast<long double>(labels));
      Objective objective = data.objective({1000.0, 0.0}, {});
      const Certificate c = certify(objective, {});
      EXPECT_LE(c.dual, least) << oracle << ", " << labels << " labels: min F >= " << digits(c.dual)
                               << ", but min F = " << digits(least);
      EXPECT_LE(std::fabs(c.objective - least), c.rounding) << oracle << ", " << labels << " labels";
      EXPECT_LE(c.relative_gap(), 1e-12) << oracle << ", " << labels << " labels";
    }
}

}  // namespace
}  // namespace proxbench
