#include "core/certificates/dual_points.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/certificates/rounding.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

namespace {

constexpr std::size_t kInstancesPerChunk = 256;
/// Numbers of a block of a sum of entropies, and roundings of a step from one position to the next.
constexpr std::size_t kBlockOfEntropy = 1024;
constexpr double kOfStep = 16.0;

/// The expected outputs at each position, and the expected counts of the extra weights over all instances.
/// dual_value() subtracts gold.
struct Expectation {
  explicit Expectation(const Objective& objective)
      : width(padded(objective.outputs())),
        rows(objective.oracle().positions() * width, 0.0),
        extra(objective.oracle().extra_weights() + 1) {}
  std::size_t width;
  /// The last number of `extra` is the linear part (hinge loss) or the entropy part (log loss) of D.
  AlignedVector<double> rows, extra;

  /// Subtracts gold and returns D(alpha): the last number of `extra` - sum_j max(|g_j| - lambda, 0)^2 /
  /// (2*mu), minus a bound on its rounding. `of` holds the largest numbers of all chunks.
  double dual_value(const Objective& objective, const MarginalErrors& of);
};

double Expectation::dual_value(const Objective& objective, const MarginalErrors& of) {
  const Structure& structure = objective.oracle();
  const std::size_t extras = structure.extra_weights();
  for (Index q = 0; q < structure.positions(); ++q)
    for (const Index k : structure.gold_outputs(q)) rows[q * width + k] -= 1.0;
  const std::vector<double> gold = structure.gold_extra(objective.parallel());
  std::vector<double> sizes(extras), squares(structure.positions());
  for (std::size_t e = 0; e < extras; ++e) {
    sizes[e] = extra[e] + gold[e];
    extra[e] -= gold[e];
  }
  for (std::size_t p = 0; p < squares.size(); ++p)
    squares[p] = squared_norm(std::span(rows).subspan(p * width, width));
  const GradientRounding rounding(objective, {squares, sizes, of.marginal, of.marginal + of.additions});

  // By feature, the norm of w(alpha) = -sign(g)*max(|g| - lambda, 0)/mu, times mu.
  std::vector<double> norm(objective.map().features(), 0.0);
  const auto excess = [&](const double* g, std::size_t n) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const double over = std::max(std::abs(g[k]) - objective.lambda(), 0.0);
      sum += over * over;
    }
    return sum;
  };
  objective.map().sum_rows(rows.data(), width, false, [&](Index j, const double* g) {
    norm[j] = std::sqrt(excess(g, objective.outputs()));
  });
  objective.map().share(norm);
  double off = 0.0;
  for (Index j = 0; j < objective.map().features(); ++j)
    off += norm[j] * rounding.at(Coord{j} * objective.outputs());
  for (std::size_t e = 0; e < extras; ++e)
    off +=
        std::max(std::abs(extra[e]) - objective.lambda(), 0.0) * rounding.at(objective.unary_weights() + e);
  const double mu = objective.mu(), squared = squared_norm(norm) + excess(extra.data(), extras);
  // The additions of the linear or entropy part, and those of the squares, of which there are d.
  constexpr double kLevels = 64.0;
  const double of_sums = (of.additions + kLevels) * std::abs(extra[extras]) + of.conjugate +
                         (static_cast<double>(objective.outputs()) + kBlockOfNorms + kLevels +
                          static_cast<double>(objective.map().features()) / kBlockOfNorms) *
                             squared / (2.0 * mu);
  return extra[extras] - squared / (2.0 * mu) - (2.0 * off + rounding.norm() * rounding.norm()) / (2.0 * mu) -
         kUnitRoundoff * of_sums;
}

/// Returns D of a point. Calls add = make(expected, part) once for each chunk of `grain` instances, then
/// add(i, errors) for each instance i of the chunk. `errors` begin as zeros for each chunk; a call raises
/// `marginal` and adds to the others.
double sum_up(const Objective& objective, const auto& make, std::size_t grain = kInstancesPerChunk) {
  Expectation expected(objective);
  const Chunks chunks{objective.instances(), grain};
  std::vector<MarginalErrors> errors(chunks.count());
  sum_chunks(objective.parallel(), chunks.count(), expected.extra.size(), expected.extra.data(),
             [&](std::size_t chunk, double* part) {
               auto add = make(expected, part);
               for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                 add(static_cast<Index>(i), errors[chunk]);
             });
  MarginalErrors all;
  for (const MarginalErrors& one : errors) {
    all.marginal = std::max(all.marginal, one.marginal);
    all.additions = std::max(all.additions, one.additions);
    all.conjugate += one.conjugate;
  }
  return expected.dual_value(objective, all);
}

/// The sum of p_i * log q_i over a list, in blocks whose sums are compensated. Each is at most 0.
double negative_entropy(const double* p, const double* logs, std::size_t n) {
  const KernelTable& kernels = kernels_in_use();
  CompensatedSum sum;
  const Chunks blocks{n, kBlockOfEntropy};
  for (std::size_t b = 0; b < blocks.count(); ++b)
    sum.add(kernels.dot(p + blocks.begin(b), logs + blocks.begin(b), blocks.end(b) - blocks.begin(b)));
  return sum.value();
}

}  // namespace

/// make_consistent() defines the distribution: a first clique, then conditional ones. On the way to a clique
/// of the last position, a probability passes through two sums of K numbers and a few products at each
/// position. An expected output is one more sum of K, and the first pair a sum of K*K. The entropy is a
/// difference of two sums of terms of one sign, each with the relative error of its p, of log p (an error
/// relative to 1), and of a block's additions.
double BeliefPoint::value(const Objective& objective) const {
  const BeliefOracle& oracle = *objective.oracle().beliefs();
  const KernelTable& kernels = kernels_in_use();
  const auto begin = objective.oracle().begin();
  const std::size_t extras = objective.oracle().extra_weights();
  return sum_up(objective, [&](Expectation& expected, double* part) {
    return [&, part, logs = AlignedVector<double>(), p = AlignedVector<double>(),
            extra = AlignedVector<double>(extras)](Index i, MarginalErrors& errors) mutable {
      const BeliefOracle::Size size = oracle.belief_size(i);
      logs.resize(size.all());
      beliefs(oracle, i, logs.data());
      p = logs;
      kernels.exponentiate(p.data(), p.size());
      const double off = oracle.inconsistency(i, p.data());
      if (!(off <= kBeliefTolerance))
        throw Error("instance ", i, ": the dual point's marginals disagree by ", six_digits(off),
                    ", expected at most ", six_digits(kBeliefTolerance));
      // The penalty divides any inconsistency by mu. So the bound is computed for a consistent distribution.
      oracle.make_consistent(i, p.data());
      logs = p;
      kernels.logarithm(logs.data(), logs.size());
      const double plus = negative_entropy(p.data(), logs.data(), size.positive),
                   minus =
                       negative_entropy(p.data() + size.positive, logs.data() + size.positive, size.negative);
      part[extras] -= plus - minus;
      oracle.expectation(i, p.data(), expected.rows.data() + begin[i] * expected.width, extra);
      kernels.add_scaled(part, 1.0, extra.data(), extras);
      const auto length = static_cast<double>(objective.oracle().length(i)),
                 outputs = static_cast<double>(objective.outputs()),
                 first = length > 1.0 ? outputs * outputs : 0.0,
                 marginal = length * (3.0 * outputs + kOfStep) + first;
      errors.marginal = std::max(errors.marginal, marginal);
      errors.additions += length;
      errors.conjugate += (kBlockOfEntropy + marginal) * (std::abs(plus) + std::abs(minus)) +
                          (marginal + kOfStep) * 2.0 * length;
    };
  });
}

/// The distribution has the weights divided by their exact sum. With m weights, one and its sums over equal
/// outputs are off by at most 2m + 4 roundings.
double StructurePoint::value(const Objective& objective) const {
  const InstanceMaxOracle& oracle = *objective.oracle().instance_max();
  const auto begin = objective.oracle().begin();
  const std::size_t extras = objective.oracle().extra_weights();
  return sum_up(objective, [&](Expectation& expected, double* part) {
    return
        [&, part, mix = Mixture(), on = std::vector<std::size_t>()](Index i, MarginalErrors& errors) mutable {
          const std::size_t length = objective.oracle().length(i);
          mixture(i, mix);
          double sum = 0.0, least = 0.0;
          for (const double weight : mix.weight) {
            sum += weight;
            least = std::min(least, weight);
          }
          if (!(std::abs(sum - 1.0) <= kBeliefTolerance) || least < 0.0 ||
              mix.outputs.size() != mix.weight.size() * length)
            throw Error("instance ", i, ": the dual point's ", mix.weight.size(), " weights sum to 1 + ",
                        six_digits(sum - 1.0), ", the least is ", six_digits(least),
                        ": expected weights >= 0 that sum to 1 within ", six_digits(kBeliefTolerance));
          double costs = 0.0;
          for (std::size_t a = 0; a < mix.weight.size(); ++a) {
            const double weight = mix.weight[a] / sum;
            const std::span<const Index> outputs(mix.outputs.data() + a * length, length);
            costs += weight * oracle.cost_of(i, objective.loss().cost, outputs);
            for (std::size_t t = 0; t < length; ++t)
              for (const Index k : oracle.outputs_on(outputs[t]))
                expected.rows[(begin[i] + t) * expected.width + k] += weight;
            oracle.extra_on(outputs, on);
            for (const std::size_t e : on) part[e] += weight;
          }
          part[extras] += costs;
          const auto weights = static_cast<double>(mix.weight.size());
          errors.marginal = std::max(errors.marginal, 2.0 * weights + 4.0);
          errors.additions += weights * static_cast<double>(length);
          errors.conjugate += (2.0 * weights + 8.0) * costs;
        };
  });
}

double MarginalPoint::value(const Objective& objective) const {
  const FactorOracle& oracle = *objective.oracle().factors();
  const std::size_t extras = objective.oracle().extra_weights();
  return sum_up(
      objective,
      [&](Expectation& expected, double* part) {
        return [part, extras,
                adder = oracle.marginal_adder(*this, objective.loss().cost,
                                              {expected.rows.data(), expected.width, part})](
                   Index i, MarginalErrors& errors) { part[extras] += adder->add(i, errors); };
      },
      std::max(kInstancesPerChunk, objective.instances() / 8));
}

}  // namespace proxbench
