#include "core/dual.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

namespace {

constexpr std::size_t kInstancesPerChunk = 256;
/// Rounding of gradients relative to lambda, and of the gap relative to F: bounds are widened by them.
constexpr double kGradientRounding = 1e-9, kGapRounding = 1e-13;

/// H of (1 - t)*(all on gold) + t*p.
double mixture_entropy(const InstanceTerms& terms, double t) {
  if (t == 1.0) return terms.entropy;
  const double rest = -std::expm1(terms.log_gold);                                 // 1 - p(gold)
  const double gold = std::exp(terms.log_gold), log_gold = std::log1p(-t * rest);  // of the mixture
  double entropy = -(1.0 - t * rest) * log_gold;
  if (t > 0.0) entropy += t * (terms.entropy + gold * terms.log_gold) - t * rest * std::log(t);
  return entropy;
}

/// sum_j max(t*|g_j| - lambda, 0)^2 over the gradient of l.
double excess_squares(const Objective::Selection& selection, double t, double lambda, double mu) {
  if (t == 1.0 || lambda == 0.0) return t * t * selection.excess_squares;
  double sum = 0.0;
  for (std::size_t j = 0; j < selection.index.size(); ++j) {
    const double excess =
        std::max(t * std::abs(selection.gradient[j] - mu * selection.weight[j]) - lambda, 0.0);
    sum += excess * excess;
  }
  return sum;
}

}  // namespace

DualBound dual_bound(const Objective& objective, const Scores& scores,
                     const Objective::Selection& selection) {
  const double lambda = objective.lambda(), mu = objective.mu();
  std::vector<InstanceTerms> terms(objective.instances());
  objective.instance_terms(scores, terms);
  const auto value = [&](double t) {
    const Chunks chunks{terms.size(), kInstancesPerChunk};
    double sum = sum_chunks(objective.parallel(), chunks.count(), [&](std::size_t chunk) {
      double part = 0.0;
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
        part += mixture_entropy(terms[i], t);
      return part;
    });
    if (mu > 0.0) sum -= excess_squares(selection, t, lambda, mu) / (2.0 * mu);
    return sum;
  };
  if (mu == 0.0) {
    const double t = selection.gradient_max > lambda ? lambda / selection.gradient_max : 1.0;
    return {value(t), t};
  }
  DualBound best{value(1.0), 1.0};
  // Golden sections of [0, 1]: D is concave in t, and flat around its maximum.
  constexpr double kSection = 0.6180339887498949, kPrecision = 1e-5;
  double low = 0.0, high = 1.0, left = 1.0 - kSection, right = kSection;
  double at_left = value(left), at_right = value(right);
  while (high - low > kPrecision) {
    if (at_left > at_right) {
      high = right;
      right = std::exchange(left, high - kSection * (high - low));
      at_right = std::exchange(at_left, value(left));
    } else {
      low = left;
      left = std::exchange(right, low + kSection * (high - low));
      at_left = std::exchange(at_right, value(right));
    }
  }
  for (const DualBound& found : {DualBound{at_left, left}, DualBound{at_right, right}})
    if (found.value > best.value) best = found;
  return best;
}

double dual_value(const Objective& objective, const DualPoint& point) {
  const BeliefOracle& oracle = objective.beliefs();
  const Structure& structure = objective.structure();
  const KernelTable& kernels = kernels_in_use();
  const auto begin = structure.begin();
  const std::size_t width = padded(objective.outputs()), extras = structure.extra_weights();
  // E[features] - gold: by position and output, and for the extra weights; behind these the entropies.
  AlignedVector<double> rows(structure.positions() * width), sums(extras + 1);
  const Chunks chunks{objective.instances(), kInstancesPerChunk};
  sum_chunks(
      objective.parallel(), chunks.count(), sums.size(), sums.data(), [&](std::size_t chunk, double* part) {
        AlignedVector<double> logs, p;
        AlignedVector<double> extra(extras);
        for (Index i = static_cast<Index>(chunks.begin(chunk)); i < chunks.end(chunk); ++i) {
          const BeliefOracle::Size size = oracle.belief_size(i);
          logs.resize(size.all());
          point.beliefs(oracle, i, logs.data());
          p = logs;
          kernels.exponentiate(p.data(), p.size());
          const double off = oracle.inconsistency(i, p.data());
          if (!(off <= kBeliefTolerance))
            throw Error("instance " + std::to_string(i) + ": the dual point's marginals disagree by " +
                        std::to_string(off) + ", expected at most 1e-9");
          part[extras] -= kernels.dot(p.data(), logs.data(), size.positive) -
                          kernels.dot(p.data() + size.positive, logs.data() + size.positive, size.negative);
          oracle.expectation(i, p.data(), rows.data() + begin[i] * width, extra);
          kernels.add_scaled(part, 1.0, extra.data(), extras);
        }
      });
  for (Index q = 0; q < structure.positions(); ++q)
    for (const Index k : structure.gold_outputs(q)) rows[q * width + k] -= 1.0;
  const std::vector<double> gold = structure.gold_extra();
  const auto excess = [&](const double* g, std::size_t n) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const double over = std::max(std::abs(g[k]) - objective.lambda(), 0.0);
      sum += over * over;
    }
    return sum;
  };
  const Chunks features{objective.features(), kInstancesPerChunk};
  double squares = sum_chunks(objective.parallel(), features.count(), [&](std::size_t chunk) {
    AlignedVector<double> g(width);
    double sum = 0.0;
    for (Index j = static_cast<Index>(features.begin(chunk)); j < features.end(chunk); ++j) {
      const std::vector<Index> positions = objective.x().column(j);
      const auto values = objective.x().column_values(j);
      std::fill(g.begin(), g.end(), 0.0);
      kernels.add_rows(rows.data(), positions.data(), values.empty() ? nullptr : values.data(),
                       positions.size(), g.data(), width);
      sum += excess(g.data(), objective.outputs());
    }
    return sum;
  });
  for (std::size_t e = 0; e < extras; ++e) sums[e] -= gold[e];
  squares += excess(sums.data(), extras);
  return sums[extras] - squares / (2.0 * objective.mu());
}

GapSafeScreen::GapSafeScreen(const Objective& objective)
    : lambda_(objective.lambda()),
      mu_(objective.mu()),
      unary_(objective.unary_weights()),
      dimension_(objective.dimension()),
      outputs_(objective.outputs()),
      radius_(objective.features()) {
  const auto begin = objective.structure().begin();
  std::vector<Index> instance_of(objective.x().positions());
  for (Index i = 0; i + 1 < begin.size(); ++i)
    for (Index p = begin[i]; p < begin[i + 1]; ++p) instance_of[p] = i;
  const Chunks chunks{objective.features(), 64};
  objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    for (std::size_t j = chunks.begin(chunk); j < chunks.end(chunk); ++j) {
      const std::vector<Index> positions = objective.x().column(static_cast<Index>(j));
      const auto values = objective.x().column_values(static_cast<Index>(j));
      double squares = 0.0, range = 0.0;
      for (std::size_t i = 0; i < positions.size(); ++i) {
        range += values.empty() ? 1.0 : std::abs(values[i]);
        if (i + 1 < positions.size() && instance_of[positions[i]] == instance_of[positions[i + 1]]) continue;
        squares += range * range;
        range = 0.0;
      }
      radius_[j] = std::sqrt(squares);
    }
  });
  largest_ = radius_.empty() ? 0.0 : *std::max_element(radius_.begin(), radius_.end());
}

/// sqrt(gap / 2), with what rounding may hide.
double GapSafeScreen::distance(const DualBound& bound, double gap) const {
  return std::sqrt(0.5 * (std::max(gap, 0.0) + kGapRounding * std::abs(bound.value)));
}

double GapSafeScreen::threshold(const DualBound& bound, double gap) const {
  return (lambda_ * (1.0 - kGradientRounding) - largest_ * distance(bound, gap)) / bound.scale;
}

std::vector<Coord> GapSafeScreen::survivors(const Objective::Selection& selection, const DualBound& bound,
                                            double gap) const {
  const double moved = distance(bound, gap);
  std::vector<Coord> out;
  for (std::size_t i = 0; i < selection.index.size() && selection.index[i] < unary_; ++i) {
    const double g = bound.scale * std::abs(selection.gradient[i] - mu_ * selection.weight[i]);
    if (!(g + radius_[selection.index[i] / outputs_] * moved < lambda_ * (1.0 - kGradientRounding)))
      out.push_back(selection.index[i]);
  }
  for (Coord c = unary_; c < dimension_; ++c) out.push_back(c);
  return out;
}

}  // namespace proxbench
