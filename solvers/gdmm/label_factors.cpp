#include "solvers/gdmm/label_factors.h"

#include <algorithm>

#include "core/kernels/kernel_table.h"

namespace proxbench {

LabelFactors::LabelFactors(const Objective& objective, const Settings& settings)
    : Factors(objective.instances(), 2, settings),
      count_(objective.outputs()),
      cost_(objective.loss().cost == Cost::kHammingMean ? 1.0 / static_cast<double>(count_) : 1.0),
      unary_(objective.x(), count_),
      weights_(objective.map().extra_weights(), 0.0),
      attraction_(count_, 0.0),
      made_(objective.instances() * weights_.size(), false),
      variables_(objective.instances() * count_),
      scores_(unary_.width(), 0.0) {
  for (Index i = 0; i < objective.instances(); ++i) {
    const auto gold = objective.structure().gold_outputs(i);
    for (Index k = 0; k < count_; ++k) add_variable(i, std::ranges::binary_search(gold, k) ? 1 : 0);
    squared_norm_.push_back(unary_.squared_norm(i));
  }
  for (Index i = 0; i < objective.instances(); ++i) {
    const auto gold = objective.structure().gold_outputs(i);
    for (std::size_t a = 0; a < gold.size(); ++a)
      for (std::size_t b = a + 1; b < gold.size(); ++b) make_pair(i, gold[a], gold[b]);
  }
}

double LabelFactors::weight_of(std::size_t factor, Value value) const {
  const auto atom = std::ranges::find(active(factor), value, &Atom::value);
  return atom == active(factor).end() ? 0.0 : atom->weight;
}

void LabelFactors::labels(Index instance, std::vector<LabelWeight>& out) const {
  out.clear();
  for (Index k = 0; k < count_; ++k)
    if (const double weight = on(instance, k); weight > 0.0) out.push_back({k, std::min(weight, 1.0)});
}

void LabelFactors::pairs(Index instance, std::vector<PairWeight>& out) const {
  std::vector<LabelWeight> listed;
  labels(instance, listed);
  const auto made = factors_of(instance).subspan(count_);
  out.clear();
  for (std::size_t a = 0; a < listed.size(); ++a)
    for (std::size_t b = a + 1; b < listed.size(); ++b) {
      const auto pair = std::ranges::find_if(made, [&](std::size_t f) {
        const Ends& ends = ends_[f - variables_];
        return ends.left == listed[a].label && ends.right == listed[b].label;
      });
      const double least = std::max(0.0, listed[a].weight + listed[b].weight - 1.0);
      const double both = std::clamp(pair == made.end() ? 0.0 : weight_of(*pair, kBothOn), least,
                                     std::max(least, std::min(listed[a].weight, listed[b].weight)));
      if (both > 0.0) out.push_back({listed[a].label, listed[b].label, both});
    }
}

/// The pair begins with a distribution that agrees with its variables.
void LabelFactors::make_pair(std::size_t instance, Index left, Index right) {
  made_[instance * weights_.size() + pair_index(left, right)] = true;
  ends_.push_back({left, right});
  const std::size_t pair = add_pair(instance, variable(instance, left), variable(instance, right));
  const double a = on(instance, left), b = on(instance, right), both = std::max(0.0, a + b - 1.0);
  const double weight[] = {1.0 - a - b + both, b - both, a - both, both};
  for (Value value = 0; value < 4; ++value)
    shift(pair, value, weight[value] - (value == gold(pair) ? 1.0 : 0.0));
}

void LabelFactors::grow(std::size_t instance) {
  std::vector<LabelWeight> with_weight;
  labels(static_cast<Index>(instance), with_weight);
  for (std::size_t a = 0; a < with_weight.size(); ++a)
    for (std::size_t b = a + 1; b < with_weight.size(); ++b) {
      const Index left = with_weight[a].label, right = with_weight[b].label;
      if (!made(instance, left, right) &&
          (weights_[pair_index(left, right)] > 0.0 || on(instance, left) + on(instance, right) > 1.0))
        make_pair(instance, left, right);
    }

  const DesignMatrix& x = unary_.x();
  const auto features = x.row(static_cast<Index>(instance));
  const auto values = x.row_values(static_cast<Index>(instance));
  std::fill(scores_.begin(), scores_.end(), 0.0);
  kernels_in_use().add_rows(unary_.row(0), features.data(), values.empty() ? nullptr : values.data(),
                            features.size(), scores_.data(), unary_.width());
  std::vector<Index> possible;
  for (Index k = 0; k < count_; ++k) {
    const double cost = gold(variable(instance, k)) == 1 ? -cost_ : cost_;
    if (attraction_[k] > 0.0 && scores_[k] + cost + attraction_[k] > 0.0) possible.push_back(k);
  }
  double best = 0.0;
  Index left = 0, right = 0;
  for (std::size_t a = 0; a < possible.size(); ++a)
    for (std::size_t b = a + 1; b < possible.size(); ++b) {
      const double weight = weights_[pair_index(possible[a], possible[b])];
      if (weight <= best || made(instance, possible[a], possible[b])) continue;
      best = weight;
      left = possible[a];
      right = possible[b];
    }
  if (best > 0.0) make_pair(instance, left, right);
}

Factors::Vertex LabelFactors::search(std::size_t factor, Work&) const {
  Vertex best{0, gradient(factor, 0)};
  for (Value value = 1; value < (is_pair(factor) ? Value{4} : Value{2}); ++value)
    if (const double g = gradient(factor, value); g < best.gradient) best = {value, g};
  return best;
}

double LabelFactors::score(std::size_t factor, Value value) const {
  if (is_pair(factor)) {
    const Ends& ends = ends_[factor - variables_];
    return value == kBothOn ? weights_[pair_index(ends.left, ends.right)] : 0.0;
  }
  return value == 1 ? unary_.score(static_cast<Index>(factor / count_), static_cast<Index>(factor % count_))
                    : 0.0;
}

void LabelFactors::add_features(std::size_t factor, Value value, double step) {
  if (!is_pair(factor)) {
    if (value == 1)
      unary_.add(static_cast<Index>(factor / count_), static_cast<Index>(factor % count_), step);
    return;
  }
  if (value != kBothOn) return;
  const Ends& ends = ends_[factor - variables_];
  double& weight = weights_[pair_index(ends.left, ends.right)];
  const double change = std::max(weight + step, 0.0) - std::max(weight, 0.0);
  weight += step;
  attraction_[ends.left] += change;
  attraction_[ends.right] += change;
}

double LabelFactors::feature_curvature(std::size_t factor) const {
  return (is_pair(factor) ? 1.0 : squared_norm_[factor / count_]) / settings_.mu;
}

SparseVector LabelFactors::weights() const {
  SparseVector out = unary_.nonzeros();
  const Coord first = static_cast<Coord>(unary_.x().features()) * count_;
  for (std::size_t c = 0; c < weights_.size(); ++c)
    if (weights_[c] != 0.0) out.push_back(first + c, weights_[c]);
  return out;
}

}  // namespace proxbench
