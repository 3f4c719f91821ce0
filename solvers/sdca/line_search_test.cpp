/// Compares SDCA's line search with values of the dual that are found without it.

#include "solvers/sdca/line_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "solvers/shared/test_problems.h"

namespace proxbench {
namespace {

using sdca::LineSearch;
using test::Problem;
using Tree = test::ProblemSpec::Tree;

std::vector<double> random_weights(std::size_t d, double size, Random& random) {
  std::vector<double> w(d);
  for (double& x : w) x = size * random.normal();
  return w;
}

/// The beliefs of an instance under the model with dense weights.
std::vector<double> model(const Problem& problem, Index i, const std::vector<double>& w) {
  const Dataset& data = problem.data();
  const Index outputs = problem.oracle().outputs();
  const std::size_t width = padded(outputs), begin = data.begin[i], n = data.begin[i + 1] - begin;
  std::vector<double> rows(n * width, 0.0);
  for (std::size_t t = 0; t < n; ++t) {
    const auto row = data.x.row(static_cast<Index>(begin + t));
    const auto values = data.x.row_values(static_cast<Index>(begin + t));
    for (std::size_t e = 0; e < row.size(); ++e)
      for (Index k = 0; k < outputs; ++k)
        rows[t * width + k] += (values.empty() ? 1.0 : values[e]) * w[row[e] * outputs + k];
  }
  const BeliefOracle& oracle = *problem.oracle().beliefs();
  std::vector<double> out(oracle.belief_size(i).all());
  const std::size_t extras = problem.oracle().extra_weights();
  oracle.infer_beliefs(i, rows.data(), std::span(w).last(extras), out.data());
  return out;
}

/// The dual along mu + gamma*(nu - mu), without the terms of the other instances.
class Line {
 public:
  Line(const Problem& problem, Index i, std::vector<double> w, std::vector<double> log_mu, double l2)
      : size_(problem.oracle().beliefs()->belief_size(i)),
        w_(std::move(w)),
        log_mu_(std::move(log_mu)),
        log_nu_(model(problem, i, w_)),
        l2_(l2),
        v_(w_.size(), 0.0) {
    const Dataset& data = problem.data();
    const Index outputs = problem.oracle().outputs();
    const std::size_t width = padded(outputs), begin = data.begin[i], n = data.begin[i + 1] - begin;
    std::vector<double> difference(size_.all()), rows(n * width), extra(problem.oracle().extra_weights());
    for (std::size_t c = 0; c < difference.size(); ++c)
      difference[c] = std::exp(log_nu_[c]) - std::exp(log_mu_[c]);
    problem.oracle().beliefs()->expectation(i, difference.data(), rows.data(), extra);
    for (std::size_t t = 0; t < n; ++t) {
      const auto row = data.x.row(static_cast<Index>(begin + t));
      const auto values = data.x.row_values(static_cast<Index>(begin + t));
      for (std::size_t e = 0; e < row.size(); ++e)
        for (Index k = 0; k < outputs; ++k)
          v_[row[e] * outputs + k] -= (values.empty() ? 1.0 : values[e]) * rows[t * width + k] / l2_;
    }
    for (std::size_t e = 0; e < extra.size(); ++e) v_[v_.size() - extra.size() + e] -= extra[e] / l2_;
  }

  /// H(m) - (l2/2)*(||w + moved + gamma*v||^2 - ||w + moved||^2).
  double value(double gamma, const std::vector<double>& moved) const {
    long double entropy = 0, squares = 0;
    for (std::size_t c = 0; c < size_.all(); ++c) {
      const long double p = std::exp(static_cast<long double>(log_mu_[c])),
                        q = std::exp(static_cast<long double>(log_nu_[c])), m = p + gamma * (q - p);
      if (m > 0) entropy -= (c < size_.positive ? 1 : -1) * m * std::log(m);
    }
    for (std::size_t j = 0; j < w_.size(); ++j) {
      // The square at gamma = 0 is subtracted, which keeps values small.
      const long double from = static_cast<long double>(w_[j]) + moved[j], step = gamma * v_[j];
      squares += step * (2 * from + step);
    }
    return static_cast<double>(entropy - l2_ / 2 * squares);
  }
  double value(double gamma) const { return value(gamma, std::vector<double>(w_.size(), 0.0)); }
  double curvature() const {
    double sum = 0.0;
    for (const double x : v_) sum += x * x;
    return l2_ * sum;
  }
  double shift(const std::vector<double>& moved) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < v_.size(); ++j) sum += l2_ * moved[j] * v_[j];
    return sum;
  }
  double derivative(double gamma) const {
    return (value(gamma + kStep) - value(gamma - kStep)) / (2 * kStep);
  }
  double second(double gamma) const {
    constexpr double kWide = 1e-3;
    return (value(gamma + kWide) - 2 * value(gamma) + value(gamma - kWide)) / (kWide * kWide);
  }
  double maximiser() const {
    double low = 0.0, high = 1.0;
    while (high - low > 1e-10) {
      const double a = low + (high - low) / 3, b = high - (high - low) / 3;
      (value(a) < value(b) ? low : high) = value(a) < value(b) ? a : b;
    }
    return (low + high) / 2;
  }
  double divergence(const std::vector<double>& log_p, const std::vector<double>& log_q) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < size_.all(); ++c)
      sum += (c < size_.positive ? 1 : -1) * std::exp(log_p[c]) * (log_p[c] - log_q[c]);
    return sum;
  }

  static constexpr double kStep = 1e-5;
  BeliefOracle::Size size_;
  std::vector<double> w_, log_mu_, log_nu_;
  double l2_;
  std::vector<double> v_;
};

std::vector<Line> lines() {
  std::vector<Line> out;
  Random random(3);
  for (const test::ProblemSpec& spec :
       {test::ProblemSpec{
            .name = "", .labels = 3, .features = 6, .sequences = 5, .longest = 5, .real = true, .seed = 71},
        test::ProblemSpec{
            .name = "", .labels = 9, .features = 6, .sequences = 5, .seed = 72, .tree = Tree::kNested},
        test::ProblemSpec{
            .name = "", .labels = 2, .features = 6, .sequences = 3, .seed = 73, .tree = Tree::kFlat}}) {
    const Problem problem(spec);
    const Objective objective = problem.objective();
    for (const double l2 : {0.1, 3.0})
      for (const double size : {0.1, 1.0})
        for (Index i = 0; i < objective.instances(); ++i) {
          const std::vector<double> w = random_weights(objective.dimension(), size, random);
          const auto add = [&](const std::vector<double>& log_mu) {
            out.emplace_back(problem, i, w, log_mu, l2);
          };
          add(model(problem, i, random_weights(objective.dimension(), size, random)));
          std::vector<double> gold(objective.oracle().beliefs()->belief_size(i).all());
          for (const double score : {0.0, 10.0}) {
            objective.oracle().beliefs()->gold_beliefs(i, score, gold.data());
            add(gold);
          }
        }
  }
  return out;
}

/// Whether the dual falls again before the line reaches the model's own beliefs.
bool inner(const Line& line) {
  return line.curvature() > 1e-6;
}

/// A search along a line, with its own copy of the beliefs.
struct SearchOn : LineSearch {
  explicit SearchOn(const Line& line) : log_m(line.log_mu_) {
    set(line.size_, log_m.data(), line.log_nu_.data());
  }
  std::vector<double> log_m;
};

TEST(SdcaLineSearch, KnowsItsEnds) {
  for (const Line& line : lines()) {
    const SearchOn search(line);
    EXPECT_NEAR(search.gap(), line.divergence(line.log_mu_, line.log_nu_), 1e-12 * (1 + search.gap()));
    EXPECT_GE(search.gap(), 0.0);
    for (std::size_t c = 0; c < line.size_.all(); ++c)
      EXPECT_NEAR(search.difference()[c], std::exp(line.log_nu_[c]) - std::exp(line.log_mu_[c]), 1e-15);
  }
}

TEST(SdcaLineSearch, ANewtonStepFromOneHalfHasTheDerivativesOfTheDual) {
  std::size_t tried = 0;
  for (const Line& line : lines()) {
    const double expected = 0.5 - line.derivative(0.5) / line.second(0.5);
    SearchOn search(line);
    const double found = search.maximise(line.curvature(), 0.0);
    if (!inner(line)) continue;
    ++tried;
    EXPECT_NEAR(found, std::clamp(expected, 0.0, 1.0), 1e-4);
  }
  EXPECT_GE(tried, 40u);
}

/// Two labels whose beliefs hardly differ or nearly vanish, and curvatures of any size. Newton steps are too
/// short if f'' of the entropies is large and rounding leaves few digits of f'.
TEST(SdcaLineSearch, EndsSoonForAnyCurvature) {
  const BeliefOracle::Size two{.positive = kPad, .negative = 0};
  for (const double mu : {1e-3, 1.0, 30.0, 100.0, 700.0})
    for (const double off : {1e-13, 1e-10, 1e-7, 1e-3, 1.0})
      for (int power = -60; power <= 20; ++power)
        for (const double precision : {1e-1, 1e-3, 1e-8}) {
          AlignedVector<double> log_mu(kPad, -708.0), log_nu(kPad, -708.0);
          const double nu = mu * (1.0 + off);
          log_mu[0] = -mu;
          log_mu[1] = std::log(-std::expm1(-mu));
          log_nu[0] = -nu;
          log_nu[1] = std::log(-std::expm1(-nu));
          LineSearch search;
          search.set(two, log_mu.data(), log_nu.data());
          const double gamma = search.maximise(std::pow(10.0, power), precision);
          EXPECT_TRUE(gamma >= 0.0 && gamma <= 1.0);
          EXPECT_LE(search.evaluations(), 100) << mu << ", " << off << ", " << power << ", " << precision;
        }
}

TEST(SdcaLineSearch, FindsTheMaximumFromBelow) {
  std::size_t inside = 0;
  for (const Line& line : lines())
    for (const double precision : {0.5, 1e-1, 1e-3, 1e-8}) {
      SearchOn search(line);
      const double gamma = search.maximise(line.curvature(), precision);
      EXPECT_GE(gamma, 0.0);
      EXPECT_LE(gamma, 1.0);
      EXPECT_GE(line.value(gamma) - line.value(0.0), -1e-12) << "f never falls";
      if (!inner(line)) continue;
      const double best = line.maximiser();
      if (best > Line::kStep && best < 1.0 - Line::kStep && gamma > Line::kStep) {
        ++inside;
        EXPECT_GE(line.derivative(gamma), -1e-6 * (1.0 + line.curvature())) << "at " << gamma;
      }
      // A short Newton step does not mean that the maximum is as close, so this leaves some room.
      if (precision <= 1e-3) {
        EXPECT_NEAR(gamma, best, 10 * precision + 1e-5);
      }
    }
  EXPECT_GE(inside, 100u);
}

TEST(SdcaLineSearch, WithoutCurvatureGoesAllTheWay) {
  const Line line = lines().front();
  SearchOn search(line);
  EXPECT_EQ(search.maximise(0.0, {}), 1.0);
  search.log_m = line.log_mu_;
  search.set(line.size_, search.log_m.data(), line.log_mu_.data());
  EXPECT_EQ(search.maximise(line.curvature(), {}), 0.0) << "where both ends are the same";
  EXPECT_EQ(search.gap(), 0.0);
}

TEST(SdcaLineSearch, BeliefsAreTheLogarithmsOfTheMixture) {
  for (const Line& line : lines()) {
    SearchOn search(line);
    const double found = search.maximise(line.curvature(), {});
    for (const double gamma : {0.0, 0.3, found, 1.0}) {
      search.go_to(gamma);
      for (std::size_t c = 0; c < search.log_m.size(); ++c) {
        EXPECT_LE(search.log_m[c], 0.0);
        EXPECT_NEAR(std::exp(search.log_m[c]),
                    (1 - gamma) * std::exp(line.log_mu_[c]) + gamma * std::exp(line.log_nu_[c]), 1e-15);
      }
    }
  }
}

TEST(SdcaLineSearch, CorrectedStepsRaiseTheDualWhereverTheWeightsHaveGone) {
  Random random(5);
  std::size_t moved_on = 0, stayed = 0;
  for (const Line& line : lines()) {
    for (const double precision : {0.0, 1e-3}) {
      SearchOn search(line);
      const double before = search.maximise(line.curvature(), precision);
      for (const double size : {0.0, 1e-3, 0.1, 1.0, 10.0})
        for (const double along : {-1.0, 0.0, 1.0}) {
          // Includes a move along v, so that shifts of both signs are large.
          std::vector<double> moved = random_weights(line.w_.size(), size, random);
          for (std::size_t j = 0; j < moved.size(); ++j) moved[j] += along * size * line.v_[j];
          const double gamma = search.corrected(line.curvature(), line.shift(moved));
          ASSERT_GE(gamma, 0.0);
          ASSERT_LE(gamma, 1.0);
          const double scale = 1.0 + line.curvature() + std::abs(line.shift(moved));
          EXPECT_GE(line.value(gamma, moved) - line.value(0.0, moved), -1e-12 * scale)
              << "size " << size << ", along " << along;
          moved_on += gamma > 0.0;
          stayed += gamma == 0.0;
          // If nothing moved, this is one more Newton step.
          if (size == 0.0 && precision > 0.0 && inner(line)) {
            EXPECT_NEAR(gamma, line.maximiser(), std::abs(before - line.maximiser()) + 1e-6);
          }
        }
    }
  }
  EXPECT_GE(moved_on, 300u);
  EXPECT_GE(stayed, 100u);
}

}  // namespace
}  // namespace proxbench
