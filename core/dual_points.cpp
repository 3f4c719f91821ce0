/// The values of the dual points that solvers keep, and checks of these points.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/dual.h"
#include "core/kernels/kernel_table.h"
#include "core/rounding.h"

namespace proxbench {

namespace {

constexpr std::size_t kInstancesPerChunk = 256;

/// Writes x with six significant digits.
std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

/// The expected outputs at each position, and the expected counts of the extra weights over all instances.
/// dual_value() subtracts gold.
struct Expectation {
  explicit Expectation(const Objective& objective)
      : width(padded(objective.outputs())),
        rows(objective.structure().positions() * width, 0.0),
        extra(objective.structure().extra_weights() + 1) {}
  std::size_t width;
  /// The last number of `extra` is the linear part (hinge loss) or the entropy part (log loss) of D.
  AlignedVector<double> rows, extra;

  /// Subtracts gold and returns D(alpha): the last number of `extra` - sum_j max(|g_j| - lambda, 0)^2 /
  /// (2*mu), minus a bound on its rounding.
  double dual_value(const Objective& objective);

 private:
  static double conjugate_rounding(const Objective& objective, double sum);
};

double Expectation::dual_value(const Objective& objective) {
  const Structure& structure = objective.structure();
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
  const GradientRounding rounding(objective, squares, sizes);

  // By feature, the norm of w(alpha) = -sign(g)*max(|g| - lambda, 0)/mu, times mu.
  std::vector<double> norm(objective.features(), 0.0);
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
  objective.map().share_features(norm);
  double off = 0.0;
  for (Index j = 0; j < objective.features(); ++j)
    off += norm[j] * rounding.at(Coord{j} * objective.outputs());
  for (std::size_t e = 0; e < extras; ++e)
    off +=
        std::max(std::abs(extra[e]) - objective.lambda(), 0.0) * rounding.at(objective.unary_weights() + e);
  const double mu = objective.mu();
  return extra[extras] - (squared_norm(norm) + excess(extra.data(), extras)) / (2.0 * mu) -
         (2.0 * off + rounding.norm() * rounding.norm()) / (2.0 * mu) -
         conjugate_rounding(objective, extra[extras]);
}

/// Bounds the rounding of a sum over instances of entropies or costs, with the distributions taken as exact.
double Expectation::conjugate_rounding(const Objective& objective, double sum) {
  constexpr double kRoundings = 16.0, kAdditions = static_cast<double>(kInstancesPerChunk) + 32.0;
  const double outputs = objective.outputs();
  return kUnitRoundoff * (kAdditions * std::abs(sum) +
                          static_cast<double>(objective.x().whole_positions()) *
                              (outputs / static_cast<double>(kPad) + kRoundings) * (1.0 + std::log(outputs)));
}

/// Returns D of a point. Calls add = make(expected, part) once for each chunk of `grain` instances, then
/// add(i) for each instance i of the chunk.
double sum_up(const Objective& objective, const auto& make, std::size_t grain = kInstancesPerChunk) {
  Expectation expected(objective);
  const Chunks chunks{objective.instances(), grain};
  sum_chunks(objective.parallel(), chunks.count(), expected.extra.size(), expected.extra.data(),
             [&](std::size_t chunk, double* part) {
               auto add = make(expected, part);
               for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                 add(static_cast<Index>(i));
             });
  return expected.dual_value(objective);
}

}  // namespace

double BeliefPoint::value(const Objective& objective) const {
  const BeliefOracle& oracle = objective.beliefs();
  const KernelTable& kernels = kernels_in_use();
  const auto begin = objective.structure().begin();
  const std::size_t extras = objective.structure().extra_weights();
  return sum_up(objective, [&](Expectation& expected, double* part) {
    return [&, part, logs = AlignedVector<double>(), p = AlignedVector<double>(),
            extra = AlignedVector<double>(extras)](Index i) mutable {
      const BeliefOracle::Size size = oracle.belief_size(i);
      logs.resize(size.all());
      beliefs(oracle, i, logs.data());
      p = logs;
      kernels.exponentiate(p.data(), p.size());
      const double off = oracle.inconsistency(i, p.data());
      if (!(off <= kBeliefTolerance))
        throw Error("instance ", i, ": the dual point's marginals disagree by ", number(off),
                    ", expected at most ", number(kBeliefTolerance));
      // The penalty divides any inconsistency by mu. So the bound is computed for a consistent distribution.
      oracle.make_consistent(i, p.data());
      logs = p;
      kernels.logarithm(logs.data(), logs.size());
      part[extras] -= kernels.dot(p.data(), logs.data(), size.positive) -
                      kernels.dot(p.data() + size.positive, logs.data() + size.positive, size.negative);
      oracle.expectation(i, p.data(), expected.rows.data() + begin[i] * expected.width, extra);
      kernels.add_scaled(part, 1.0, extra.data(), extras);
    };
  });
}

double StructurePoint::value(const Objective& objective) const {
  const InstanceMaxOracle& oracle = objective.structures();
  const auto begin = objective.structure().begin();
  const std::size_t extras = objective.structure().extra_weights();
  return sum_up(objective, [&](Expectation& expected, double* part) {
    return [&, part, mix = Mixture(), on = std::vector<std::size_t>()](Index i) mutable {
      const std::size_t length = objective.structure().length(i);
      mixture(i, mix);
      double sum = 0.0, least = 0.0;
      for (const double weight : mix.weight) {
        sum += weight;
        least = std::min(least, weight);
      }
      if (!(std::abs(sum - 1.0) <= kBeliefTolerance) || least < 0.0 ||
          mix.outputs.size() != mix.weight.size() * length)
        throw Error("instance ", i, ": the dual point's ", mix.weight.size(), " weights sum to 1 + ",
                    number(sum - 1.0), ", the least is ", number(least),
                    ": expected weights >= 0 that sum to 1 within ", number(kBeliefTolerance));
      for (std::size_t a = 0; a < mix.weight.size(); ++a) {
        const double weight = mix.weight[a] / sum;
        const std::span<const Index> outputs(mix.outputs.data() + a * length, length);
        part[extras] += weight * oracle.cost_of(i, objective.loss().cost, outputs);
        for (std::size_t t = 0; t < length; ++t)
          for (const Index k : oracle.outputs_on(outputs[t]))
            expected.rows[(begin[i] + t) * expected.width + k] += weight;
        oracle.extra_on(outputs, on);
        for (const std::size_t e : on) part[e] += weight;
      }
    };
  });
}

namespace {

/// Checks the marginals of one position at a time and adds them to the expectation, for all positions of some
/// instances.
class MarginalSum {
 public:
  MarginalSum(const Objective& objective, const MarginalPoint& point, Expectation& expected, double* extra)
      : structure_(objective.structure()),
        point_(point),
        expected_(expected),
        extra_(extra),
        outputs_(objective.outputs()),
        mean_(objective.loss().cost == Cost::kHammingMean) {}

  /// Returns the expected cost, as does add_label_set().
  double add_chain(Index instance) {
    const Index begin = structure_.begin()[instance], end = structure_.begin()[instance + std::size_t{1}];
    double wrong = 0.0;
    point_.labels(begin, next_);
    for (Index p = begin; p < end; ++p) {
      here_.swap(next_);
      double sum = 0.0;
      for (const LabelWeight& one : here_) {
        check(p, one);
        sum += one.weight;
        add(p, one);
        if (one.label != structure_.gold_outputs(p).front()) wrong += one.weight;
      }
      if (!(std::abs(sum - 1.0) <= kBeliefTolerance))
        refuse(p, "weights that sum to 1 + " + number(sum - 1.0));
      if (p + 1 == end) break;
      point_.labels(p + 1, next_);
      point_.pairs(p, pairs_);
      for (const PairWeight& pair : pairs_) {
        check(p, pair);
        extra_[std::size_t{pair.left} * outputs_ + pair.right] += pair.weight;
      }
      check_sums(p, p, here_, &PairWeight::left);
      check_sums(p, p + 1, next_, &PairWeight::right);
    }
    return mean_ ? wrong / static_cast<double>(end - begin) : wrong;
  }

  double add_label_set(Index p) {
    const auto gold = structure_.gold_outputs(p);
    double wrong = static_cast<double>(gold.size());
    point_.labels(p, here_);
    point_.pairs(p, pairs_);
    for (std::size_t a = 0; a < here_.size(); ++a) {
      const LabelWeight& one = here_[a];
      check(p, one);
      if (one.weight > 1.0 + kBeliefTolerance) refuse(p, text(one) + ", which is above 1");
      if (a > 0 && here_[a - 1].label >= one.label)
        refuse(p, text(one) + " after " + text(here_[a - 1]) + ", where labels must ascend");
      add(p, one);
      wrong += std::ranges::binary_search(gold, one.label) ? -one.weight : one.weight;
    }
    check_label_pairs(p);
    // Visits all pairs of listed labels, in the order that pairs_ now has.
    std::size_t at = 0;
    for (std::size_t a = 0; a < here_.size(); ++a)
      for (std::size_t b = a + 1; b < here_.size(); ++b) {
        const LabelWeight &left = here_[a], &right = here_[b];
        const bool listed =
            at < pairs_.size() && pairs_[at].left == left.label && pairs_[at].right == right.label;
        const double both = listed ? pairs_[at++].weight : 0.0;
        if (!(both >= left.weight + right.weight - 1.0 - kBeliefTolerance &&
              both <= std::min(left.weight, right.weight) + kBeliefTolerance))
          refuse(p, text(PairWeight{left.label, right.label, both}) + " beside " + text(left) + " and " +
                        text(right));
        extra_[label_pair(outputs_, left.label, right.label)] += both;
      }
    return mean_ ? wrong / static_cast<double>(outputs_) : wrong;
  }

 private:
  [[noreturn]] static void refuse(Index position, const std::string& found) {
    throw Error("position ", position, ": the dual point has ", found,
                ", expected marginals of a distribution within ", number(kBeliefTolerance));
  }
  static std::string text(const LabelWeight& one) {
    return all_parts("weight ", number(one.weight), " on label ", one.label);
  }
  static std::string text(const PairWeight& pair) {
    return all_parts("weight ", number(pair.weight), " on the pair ", pair.left, ", ", pair.right);
  }
  void check(Index p, const LabelWeight& one) const {
    if (one.label >= outputs_) refuse(p, all_parts(text(one), " of ", outputs_));
    if (!(one.weight >= 0.0)) refuse(p, text(one));
  }
  void check(Index p, const PairWeight& pair) const {
    if (pair.left >= outputs_ || pair.right >= outputs_)
      refuse(p, all_parts(text(pair), " of ", outputs_, " labels"));
    if (!(pair.weight >= 0.0)) refuse(p, text(pair));
  }
  /// Sorts pairs_. Each pair must consist of two listed labels in ascending order and may appear only once.
  void check_label_pairs(Index p) {
    std::ranges::sort(pairs_, [](const PairWeight& a, const PairWeight& b) {
      return a.left != b.left ? a.left < b.left : a.right < b.right;
    });
    const auto listed = [&](Index label) {
      return std::ranges::binary_search(here_, label, {}, &LabelWeight::label);
    };
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const PairWeight& pair = pairs_[i];
      check(p, pair);
      if (pair.left >= pair.right) refuse(p, text(pair) + ", where the left label must be the smaller");
      if (!listed(pair.left) || !listed(pair.right)) refuse(p, text(pair) + ", one of which has no weight");
      if (i > 0 && pairs_[i - 1].left == pair.left && pairs_[i - 1].right == pair.right)
        refuse(p, text(pair) + " and " + text(pairs_[i - 1]) + ", where each must stand once");
    }
  }
  void add(Index p, const LabelWeight& one) { expected_.rows[p * expected_.width + one.label] += one.weight; }
  /// The pairs at p must sum to the weights of the labels at `end_position`, and to 0 for labels without
  /// weight.
  void check_sums(Index p, Index end_position, const std::vector<LabelWeight>& labels,
                  Index PairWeight::*end) {
    left_ = labels;
    for (const PairWeight& pair : pairs_) {
      auto at = std::ranges::find(left_, pair.*end, &LabelWeight::label);
      if (at == left_.end()) at = left_.insert(at, {pair.*end, 0.0});
      at->weight -= pair.weight;
    }
    for (const LabelWeight& one : left_)
      if (!(std::abs(one.weight) <= kBeliefTolerance))
        refuse(p, all_parts("pairs whose sum for label ", one.label, " at position ", end_position,
                            " is off by ", number(-one.weight)));
  }

  const Structure& structure_;
  const MarginalPoint& point_;
  Expectation& expected_;
  double* extra_;
  Index outputs_;
  bool mean_;
  std::vector<LabelWeight> here_, next_, left_;
  std::vector<PairWeight> pairs_;
};

}  // namespace

double MarginalPoint::value(const Objective& objective) const {
  const bool chain = objective.factors().shape() == FactorOracle::Shape::kChain;
  const std::size_t extras = objective.structure().extra_weights();
  return sum_up(
      objective,
      [&](Expectation& expected, double* part) {
        return [=, sum = MarginalSum(objective, *this, expected, part)](Index i) mutable {
          part[extras] += chain ? sum.add_chain(i) : sum.add_label_set(i);
        };
      },
      std::max(kInstancesPerChunk, objective.instances() / 8));
}

}  // namespace proxbench
