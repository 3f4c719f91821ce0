/// The values of the dual points that solvers keep, and checks of these points.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ranges>
#include <string>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/dual.h"
#include "core/kernels/kernel_table.h"
#include "core/rounding.h"

namespace proxbench {

namespace {

constexpr std::size_t kInstancesPerChunk = 256;
/// Numbers of a block of a sum of entropies, and roundings of a step from one position to the next.
constexpr std::size_t kBlockOfEntropy = 1024;
constexpr double kOfStep = 16.0;

/// Writes x with six significant digits.
std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

/// How exact the expectation of a point is, in units of 2^-53.
struct PointErrors {
  double marginal = 0.0;   ///< the relative error of an expected output at a position
  double additions = 0.0;  ///< those of a chunk to one of its sums over instances
  double conjugate = 0.0;  ///< the sum over instances of the errors of their parts of D
};

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
  /// (2*mu), minus a bound on its rounding. `of` holds the largest numbers of all chunks.
  double dual_value(const Objective& objective, const PointErrors& of);
};

double Expectation::dual_value(const Objective& objective, const PointErrors& of) {
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
  const GradientRounding rounding(objective, {squares, sizes, of.marginal, of.marginal + of.additions});

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
  const double mu = objective.mu(), squared = squared_norm(norm) + excess(extra.data(), extras);
  // The additions of the linear or entropy part, and those of the squares, of which there are d.
  constexpr double kLevels = 64.0;
  const double of_sums = (of.additions + kLevels) * std::abs(extra[extras]) + of.conjugate +
                         (static_cast<double>(objective.outputs()) + kBlockOfNorms + kLevels +
                          static_cast<double>(objective.features()) / kBlockOfNorms) *
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
  std::vector<PointErrors> errors(chunks.count());
  sum_chunks(objective.parallel(), chunks.count(), expected.extra.size(), expected.extra.data(),
             [&](std::size_t chunk, double* part) {
               auto add = make(expected, part);
               for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
                 add(static_cast<Index>(i), errors[chunk]);
             });
  PointErrors all;
  for (const PointErrors& one : errors) {
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
  for (const Chunks blocks{n, kBlockOfEntropy};
       const std::size_t b : std::views::iota(std::size_t{0}, blocks.count()))
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
  const BeliefOracle& oracle = objective.beliefs();
  const KernelTable& kernels = kernels_in_use();
  const auto begin = objective.structure().begin();
  const std::size_t extras = objective.structure().extra_weights();
  return sum_up(objective, [&](Expectation& expected, double* part) {
    return [&, part, logs = AlignedVector<double>(), p = AlignedVector<double>(),
            extra = AlignedVector<double>(extras)](Index i, PointErrors& errors) mutable {
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
      const double plus = negative_entropy(p.data(), logs.data(), size.positive),
                   minus =
                       negative_entropy(p.data() + size.positive, logs.data() + size.positive, size.negative);
      part[extras] -= plus - minus;
      oracle.expectation(i, p.data(), expected.rows.data() + begin[i] * expected.width, extra);
      kernels.add_scaled(part, 1.0, extra.data(), extras);
      const auto length = static_cast<double>(objective.structure().length(i)),
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
  const InstanceMaxOracle& oracle = objective.structures();
  const auto begin = objective.structure().begin();
  const std::size_t extras = objective.structure().extra_weights();
  return sum_up(objective, [&](Expectation& expected, double* part) {
    return [&, part, mix = Mixture(), on = std::vector<std::size_t>()](Index i, PointErrors& errors) mutable {
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

  /// Returns the expected cost, as does add_label_set(). The given marginals may disagree by
  /// kBeliefTolerance. So they are replaced by those of a distribution: a Markov chain that starts from the
  /// labels of the first position and moves by the conditional probabilities of the pairs.
  double add_chain(Index instance, PointErrors& errors) {
    const Index begin = structure_.begin()[instance], end = structure_.begin()[instance + std::size_t{1}];
    double wrong = 0.0;
    std::size_t most = 1;
    point_.labels(begin, next_);
    chain_next_ = next_;
    double total = 0.0;
    for (const LabelWeight& one : chain_next_) total += one.weight;
    for (LabelWeight& one : chain_next_) one.weight /= total;
    for (Index p = begin; p < end; ++p) {
      here_.swap(next_);
      chain_.swap(chain_next_);
      double sum = 0.0;
      for (const LabelWeight& one : here_) {
        check(p, one);
        sum += one.weight;
      }
      if (!(std::abs(sum - 1.0) <= kBeliefTolerance))
        refuse(p, "weights that sum to 1 + " + number(sum - 1.0));
      for (const LabelWeight& one : chain_) {
        add(p, one);
        if (one.label != structure_.gold_outputs(p).front()) wrong += one.weight;
      }
      most = std::max(most, chain_.size());
      if (p + 1 == end) break;
      point_.labels(p + 1, next_);
      point_.pairs(p, pairs_);
      for (const PairWeight& pair : pairs_) check(p, pair);
      check_sums(p, p, here_, &PairWeight::left);
      check_sums(p, p + 1, next_, &PairWeight::right);
      move();
      errors.additions += static_cast<double>(pairs_.size());
    }
    const auto length = static_cast<double>(end - begin),
               marginal = length * (2.0 * static_cast<double>(most) + kOfStep);
    errors.marginal = std::max(errors.marginal, marginal);
    errors.additions += 1.0;
    errors.conjugate += (marginal + length * static_cast<double>(most)) * wrong;
    return mean_ ? wrong / length : wrong;
  }

  /// Weights and pairs that are outside the local polytope by at most kBeliefTolerance are moved into it.
  double add_label_set(Index p, PointErrors& errors) {
    const auto gold = structure_.gold_outputs(p);
    double wrong = static_cast<double>(gold.size());
    point_.labels(p, here_);
    point_.pairs(p, pairs_);
    for (std::size_t a = 0; a < here_.size(); ++a) {
      LabelWeight& one = here_[a];
      check(p, one);
      if (one.weight > 1.0 + kBeliefTolerance) refuse(p, text(one) + ", which is above 1");
      one.weight = std::min(one.weight, 1.0);
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
        const double both = listed ? pairs_[at++].weight : 0.0,
                     least = std::max(0.0, left.weight + right.weight - 1.0),
                     most = std::min(left.weight, right.weight);
        if (!(both >= least - kBeliefTolerance && both <= most + kBeliefTolerance))
          refuse(p, text(PairWeight{left.label, right.label, both}) + " beside " + text(left) + " and " +
                        text(right));
        extra_[label_pair(outputs_, left.label, right.label)] +=
            std::clamp(both, std::min(least, most), most);
      }
    errors.marginal = std::max(errors.marginal, 4.0);
    errors.additions += 2.0;
    errors.conjugate +=
        static_cast<double>(here_.size() + gold.size()) * static_cast<double>(here_.size() + gold.size());
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
  /// Moves the chain to the next position and adds its pairs to extra_. If the pairs of a label have no
  /// weight, the label itself has at most kBeliefTolerance. Its weight then goes to the first label of the
  /// next position.
  void move() {
    chain_next_ = next_;
    for (LabelWeight& one : chain_next_) one.weight = 0.0;
    for (const LabelWeight& from : chain_) {
      double sum = 0.0;
      for (const PairWeight& pair : pairs_)
        if (pair.left == from.label) sum += pair.weight;
      const auto give = [&](Index label, double weight) {
        extra_[std::size_t{from.label} * outputs_ + label] += weight;
        auto to = std::ranges::find(chain_next_, label, &LabelWeight::label);
        if (to == chain_next_.end()) to = chain_next_.insert(to, {label, 0.0});
        to->weight += weight;
      };
      if (!(sum > 0.0)) {
        give(next_.front().label, from.weight);
        continue;
      }
      for (const PairWeight& pair : pairs_)
        if (pair.left == from.label) give(pair.right, from.weight * (pair.weight / sum));
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
  std::vector<LabelWeight> here_, next_, left_;  ///< as given
  std::vector<LabelWeight> chain_, chain_next_;  ///< of the Markov chain
  std::vector<PairWeight> pairs_;
};

}  // namespace

double MarginalPoint::value(const Objective& objective) const {
  const bool chain = objective.factors().shape() == FactorOracle::Shape::kChain;
  const std::size_t extras = objective.structure().extra_weights();
  return sum_up(
      objective,
      [&](Expectation& expected, double* part) {
        return
            [=, sum = MarginalSum(objective, *this, expected, part)](Index i, PointErrors& errors) mutable {
              part[extras] += chain ? sum.add_chain(i, errors) : sum.add_label_set(i, errors);
            };
      },
      std::max(kInstancesPerChunk, objective.instances() / 8));
}

}  // namespace proxbench
