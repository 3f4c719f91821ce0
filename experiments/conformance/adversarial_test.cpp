/// No solver and no certificate states something false about the data sets of test_adversarial.h. Convergence is
/// not required. oracles/test_judge.h decides which statements are true.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/test_folder.h"
#include "experiments/conformance/test_adversarial.h"
#include "experiments/run/training.h"
#include "oracles/oracles.h"
#include "oracles/test_judge.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using test::Judge;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-6, kGapTarget = 1e-9;
/// The judge computes the optimum itself if the problem has no more weights and positions than these.
constexpr std::size_t kFewWeights = 40, kFewPositions = 1000;

/// What a solver or certify() claims about a point.
struct Claim {
  std::string by;  ///< for messages
  SparseVector w;
  Certificate certificate;
  std::optional<Status> status = {};
  double tol = 0.0, gap_target = 0.0;
  std::vector<Sample> trace = {};
};

Claim claim_of(const std::string& by, const RunOutcome& outcome) {
  return {by,
          outcome.w,
          outcome.certificate,
          outcome.status,
          outcome.parameters.tol,
          outcome.parameters.gap_target,
          outcome.trace};
}

std::string digits(long double x) {
  return fmt::format("{:.20g}", x);
}

/// What the judge knows about a problem: min F is at most `lowest`.
struct Truth {
  const Judge& judge;
  Loss loss;
  long double lowest = std::numeric_limits<long double>::infinity();
  long double kkt_at_zero = 0.0L, kkt_at_zero_rounding = 0.0L;
};

/// Lists all false claims; `value` is the judge's F at the claim's w.
std::vector<std::string> false_statements(const Claim& claim, long double value, const Truth& truth) {
  std::vector<std::string> out;
  const auto say = [&](const std::string& what) { out.push_back(claim.by + ": " + what); };
  const Certificate& c = claim.certificate;
  const Judge::Weights w = truth.judge.dense(claim.w);
  const long double rounding = truth.judge.rounding(w, value);
  const bool log_loss = !truth.loss.hinge();
  const long double kkt = log_loss ? truth.judge.kkt(w) : 0.0L,
                    kkt_rounding = log_loss ? truth.judge.kkt_rounding(w) : 0.0L;

  const bool overflows = !(value < std::numeric_limits<double>::max() / 4);
  if (std::isfinite(c.objective)) {
    if (!(std::fabs(c.objective - value) <= rounding))
      say(fmt::format("F = {}, expected {} within {}", digits(c.objective), digits(value), digits(rounding)));
    // NaN claims nothing.
    if (c.gap() < 0.0) say(fmt::format("a gap of {:g}, expected >= 0", c.gap()));
    if (c.relative_gap() < 0.0) say(fmt::format("a relative gap of {:g}, expected >= 0", c.relative_gap()));
  } else {
    if (!overflows && !std::isnan(c.objective))
      say(fmt::format("F = {}, expected {}", c.objective, digits(value)));
    if (std::isfinite(c.relative_gap()))
      say(fmt::format("F = {}, but proven to a relative gap of {:g}", c.objective, c.relative_gap()));
    if (claim.status && *claim.status != Status::kDiverged)
      say(fmt::format("F = {}, but {}", c.objective, status_name(*claim.status)));
  }
  if (!(c.dual <= truth.lowest) && !std::isnan(c.dual))
    say(fmt::format("min F >= {}, but F = {} is reached", digits(c.dual), digits(truth.lowest)));
  if (log_loss && std::isfinite(c.kkt) && !(std::fabs(c.kkt - kkt) <= kkt_rounding + 1e-12L * kkt))
    say(fmt::format("kkt {}, expected {} within {}", digits(c.kkt), digits(kkt), digits(kkt_rounding)));

  if (log_loss && std::isfinite(c.kkt) && c.kkt_rounding > 0.0 &&
      !(std::fabs(c.kkt - kkt) <= c.kkt_rounding + 1e-15L * kkt))
    say(fmt::format("kkt {} is known to {}, expected {}", digits(c.kkt), c.kkt_rounding, digits(kkt)));
  if (std::isfinite(c.objective) && c.rounding > 0.0 &&
      !(std::fabs(c.objective - value) <= c.rounding + 1e-18L * std::fabs(value)))
    say(fmt::format("F = {} is known to {}, expected {}", digits(c.objective), c.rounding, digits(value)));

  for (const Sample& sample : claim.trace) {
    const auto at = [&](const std::string& what) {
      say(fmt::format("iteration {}: {}", sample.iteration, what));
    };
    for (const double gap : {sample.gap, sample.dual_gap})
      if (!std::isnan(gap) && !(gap >= 0.0 && std::isfinite(gap)))
        at(fmt::format("a gap of {:g}, expected a finite number >= 0", gap));
    if (std::isfinite(sample.gap) &&
        !(sample.objective - sample.gap <= truth.lowest + 0x1p-52L * std::fabs(sample.objective)))
      at(fmt::format("min F >= {}, but F = {} is reached", digits(sample.objective - sample.gap),
                     digits(truth.lowest)));
  }

  if (claim.status == Status::kConverged && log_loss) {
    const long double allowed = claim.tol * truth.kkt_at_zero;
    if (!(kkt <= allowed * (1.0L + 1e-6L) + kkt_rounding + claim.tol * truth.kkt_at_zero_rounding))
      say(fmt::format("converged, but kkt is {}, expected <= {}", digits(kkt), digits(allowed)));
  }
  if (claim.status == Status::kConverged && truth.loss.hinge() &&
      !(value - truth.lowest <= claim.tol * value * (1.0L + 1e-6L) + rounding))
    say(fmt::format("converged, but F is {} above what is reached", digits(value - truth.lowest)));
  if (claim.status == Status::kGapReached) {
    if (claim.gap_target == 0.0) say("gap-reached, but no gap was asked for");
    if (!(c.relative_gap() <= claim.gap_target))
      say(fmt::format("gap-reached at a relative gap of {:g}", c.relative_gap()));
    if (!(value - truth.lowest <= claim.gap_target * value * (1.0L + 1e-6L) + rounding))
      say(fmt::format("gap-reached, but F is {} above what is reached", digits(value - truth.lowest)));
  }
  return out;
}

struct SolverCase {
  std::string solver;
  std::map<std::string, std::string> options = {};
  std::string text() const {
    std::string out = solver;
    for (const auto& [name, value] : options) out += " " + name + "=" + value;
    return out;
  }
};

std::vector<SolverCase> solver_cases() {
  std::vector<SolverCase> out;
  for (const std::string& name : solver_registry().names()) out.push_back({name});
  out.push_back({"sgd", {{"eta0", "100"}}});
  return out;
}

LoadedData load(const test::Draft& draft) {
  DataPair pair;
  pair.train = draft.dataset();
  pair.oracle = draft.oracle;
  return LoadedData(std::move(pair), Parallel(1));
}

/// The claims of all solvers that can train on the data with this penalty, and of certify() at other points.
class ClaimCheck {
 public:
  ClaimCheck(const test::AdversarialData& adversary, const Penalty& penalty, const Loss& loss)
      : adversary_(adversary),
        penalty_(penalty),
        loss_(loss),
        data_(load(adversary.data)),
        judge_(data_.train(), data_.oracle_name(), penalty, loss),
        truth_{judge_, loss} {
    if (loss.hinge()) return;
    const Judge::Weights zero(judge_.dimension(), 0.0L);
    truth_.kkt_at_zero = judge_.kkt(zero);
    truth_.kkt_at_zero_rounding = judge_.kkt_rounding(zero);
  }

  void train_all(const std::vector<SolverCase>& solver_cases) {
    for (const SolverCase& solver_case : solver_cases) {
      const SolverInfo& info = solver_registry().find(solver_case.solver);
      Options options(info.options);
      for (const auto& [name, value] : solver_case.options) options.set(name, value);
      if (!unmet_needs(info, penalty_, loss_.kind, oracle_registry().find(data_.oracle_name())).empty())
        continue;
      train_one(solver_case, {.tol = kTolerance});
      train_one(solver_case, {.tol = 0.0, .gap_target = kGapTarget});
      if (!info.starts_anywhere || adversary_.brief) continue;
      for (const double size : {1e3, 1e16}) train_one(solver_case, {.tol = kTolerance, .start_size = size});
    }
  }

  void certify_points() {
    for (const double size : {0.0, 1.0, 1e3, 1e16})
      certify_at(fmt::format("weights of {:g}", size), weights(size));
    if (loss_.hinge()) return;
    const auto descend = [&](const SparseVector& w) {
      const Judge::Weights found = judge_.descend(judge_.dense(w));
      truth_.lowest = std::min(truth_.lowest, judge_.objective(found));
      SparseVector rounded;
      for (std::size_t c = 0; c < found.size(); ++c)
        if (found[c] != 0.0L) rounded.push_back(c, static_cast<double>(found[c]));
      certify_at("the judge's weights", rounded);
    };
    if (judge_.dimension() <= kFewWeights && data_.train().positions() <= kFewPositions) descend({});
  }

  std::vector<std::string> false_statements() {
    std::vector<long double> values;
    for (const Claim& claim : claims_) values.push_back(judge_.objective(claim.w));
    for (const long double value : values) truth_.lowest = std::min(truth_.lowest, value);
    std::vector<std::string> out = failed_;
    for (std::size_t i = 0; i < claims_.size(); ++i)
      for (const std::string& statement : proxbench::false_statements(claims_[i], values[i], truth_))
        out.push_back(statement);
    return out;
  }
  std::size_t claims() const { return claims_.size(); }

 private:
  struct Run {
    double tol = 0.0, gap_target = 0.0, start_size = 0.0;
  };

  /// Draws normal weights of the given size, scaled to the adversary's values.
  SparseVector weights(double size) const {
    Random random(77);
    SparseVector w;
    if (size > 0.0)
      for (std::size_t c = 0; c < judge_.dimension(); ++c)
        w.push_back(c, random.normal() * size / (c < judge_.unary_weights() ? adversary_.scale : 1.0));
    return w;
  }

  void train_one(const SolverCase& solver_case, const Run& run) {
    RunParameters settings;
    settings.format = "test";
    settings.solver = solver_case.solver;
    settings.solver_options = solver_case.options;
    settings.penalty.lambda = penalty_.lambda;
    settings.penalty.mu = penalty_.mu;
    settings.loss = loss_;
    settings.tol = run.tol;
    settings.gap_target = run.gap_target;
    settings.max_iterations = adversary_.iterations;
    // Samples do not depend on the clock.
    settings.sampling_budget = std::numeric_limits<double>::infinity();
    std::string by = fmt::format("{}, {}, tol {:g}, gap {:g}", solver_case.text(), penalty_.text(), run.tol,
                                 run.gap_target);
    if (run.start_size > 0.0) {
      by += fmt::format(", from weights of {:g}", run.start_size);
      settings.start =
          folder_.write("start.tsv", model_of(data_, "test", Options(), settings, weights(run.start_size)));
    }
    try {
      claims_.push_back(claim_of(by, train(data_, settings)));
    } catch (const Error& error) {
      // Far from the optimum, scores may lose their digits. An error that says so claims nothing.
      if (run.start_size == 0.0) failed_.push_back(by + ": " + error.what());
    }
  }

  void certify_at(const std::string& by, const SparseVector& w) {
    Objective objective = data_.objective({penalty_.lambda, penalty_.mu}, loss_);
    claims_.push_back({.by = fmt::format("certify at {}, {}", by, penalty_.text()),
                       .w = w,
                       .certificate = certify(objective, w)});
  }

  const test::AdversarialData& adversary_;
  Penalty penalty_;
  Loss loss_;
  LoadedData data_;
  Judge judge_;
  Truth truth_;
  TestFolder folder_;
  std::vector<Claim> claims_;
  std::vector<std::string> failed_;
};

/// Checks false_statements(): it accepts a true claim, and rejects the same claim with one fault.
class Statements : public ::testing::Test {
 protected:
  Statements() {
    truth_.lowest = judge_.objective(judge_.descend(Judge::Weights(judge_.dimension(), 0.0L)));
    const Judge::Weights zero(judge_.dimension(), 0.0L);
    truth_.kkt_at_zero = judge_.kkt(zero);
    claim_.certificate = {.objective = static_cast<double>(judge_.objective(zero)),
                          .kkt = static_cast<double>(judge_.kkt(zero)),
                          .dual = static_cast<double>(truth_.lowest) * (1 - 1e-9)};
    claim_.status = Status::kMaxIterations;
    claim_.tol = kTolerance;
  }
  std::vector<std::string> found() const {
    return false_statements(claim_, judge_.objective(claim_.w), truth_);
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Dataset data_ = test::draw({}).dataset();
  Judge judge_{data_, "tree", {0.0, 1.0}};
  Truth truth_{judge_, {}};
  Claim claim_{.by = "x", .w = {}, .certificate = {}};
};

TEST_F(Statements, MayBeTrue) {
  claim_.trace = {{.objective = claim_.certificate.objective, .gap = claim_.certificate.gap()}};
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Statements, AreFalseOfAnotherF) {
  claim_.certificate.objective *= 1 + 1e-12;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: F = ")));
}

TEST_F(Statements, AreFalseOfABoundAboveWhatIsReached) {
  claim_.certificate.dual = std::nextafter(static_cast<double>(truth_.lowest), kInfinity);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: min F >= ")));
  claim_.trace = {{.objective = claim_.certificate.objective, .gap = 1e-3 * claim_.certificate.objective}};
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: min F >= "), HasSubstr("x: iteration 0: min F >= ")));
}

TEST_F(Statements, AreFalseOfNegativeGaps) {
  claim_.trace = {{.iteration = 3, .objective = claim_.certificate.objective, .dual_gap = -1.0}};
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: iteration 3: a gap of -1")));
  claim_.trace[0].dual_gap = kInfinity;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: iteration 3: a gap of inf")));
}

TEST(Certificate, HasNoGapBelowItsRounding) {
  Certificate c{.objective = 3.0, .dual = 3.0 + 1e-15, .rounding = 1e-14};
  EXPECT_EQ(c.gap(), 1e-14);
  EXPECT_DOUBLE_EQ(c.relative_gap(), 1e-14 / 3.0);
  EXPECT_GE(static_cast<long double>(c.relative_gap()) * 3.0L, 1e-14L) << "rounded up";
  c.rounding = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(c.gap())) << "F is not known at all";
  EXPECT_TRUE(std::isnan(c.relative_gap()));
}

TEST_F(Statements, AreFalseOfNumbersThatAreNone) {
  claim_.certificate.objective = kInfinity;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: F = inf, expected"), HasSubstr("x: F = inf, but max-")));
}

TEST_F(Statements, AreFalseOfAnotherKkt) {
  claim_.certificate.kkt *= 1 + 1e-9;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: kkt ")));
}

TEST_F(Statements, AreFalseOfAStatusThatDoesNotHold) {
  claim_.status = Status::kConverged;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("x: converged, but kkt is ")));
  claim_.status = Status::kGapReached;
  EXPECT_THAT(found(), ElementsAre(HasSubstr("no gap was asked for"), HasSubstr("at a relative gap of "),
                                   HasSubstr("above what is reached")));
}

class Adversarial : public ::testing::TestWithParam<test::AdversarialData> {};

INSTANTIATE_TEST_SUITE_P(Table, Adversarial, ::testing::ValuesIn(test::adversarial_data()),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST_P(Adversarial, NothingFalseIsStated) {
  for (const Penalty& penalty : test::penalties_of(GetParam()))
    for (const Loss::Kind kind : {Loss::Kind::kLog, Loss::Kind::kHinge}) {
      ClaimCheck check(GetParam(), penalty, {.kind = kind});
      check.certify_points();
      check.train_all(solver_cases());
      EXPECT_GT(check.claims(), 3u);
      const std::vector<std::string> found = check.false_statements();
      EXPECT_TRUE(found.empty()) << found.size() << " false, " << loss_name(kind) << ":\n"
                                 << fmt::format("{}", fmt::join(found, "\n"));
    }
}

}  // namespace
}  // namespace proxbench
