#include "core/objective.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/sum.h"

namespace proxbench {

namespace {

/// The members of a selection that are sums or maxima over all coordinates.
constexpr double Objective::Selection::*kOverAll[] = {
    &Objective::Selection::kkt_max,       &Objective::Selection::kkt_l1,
    &Objective::Selection::kkt_squares,   &Objective::Selection::along,
    &Objective::Selection::along_sizes,   &Objective::Selection::gradient_max,
    &Objective::Selection::excess_squares};

/// Fills in the selections of the chunks that other processes visited.
void exchange(const LinearMap& map, std::span<Objective::Selection> parts) {
  if (map.parallel().processes() == nullptr) return;
  const auto own = map.own_chunks();
  std::vector<double> numbers;
  for (std::size_t c = own.first; c < own.second; ++c) {
    const Objective::Selection& part = parts[c];
    for (const auto number : kOverAll) numbers.push_back(part.*number);
    numbers.push_back(static_cast<double>(part.index.size()));
    for (std::size_t i = 0; i < part.index.size(); ++i)
      numbers.insert(numbers.end(), {static_cast<double>(part.index[i]), part.weight[i], part.gradient[i]});
  }
  const std::vector<double> all = whole_list(map.parallel(), std::move(numbers));
  const double* next = all.data();
  for (Objective::Selection& part : parts) {
    part = {};
    for (const auto number : kOverAll) part.*number = *next++;
    for (auto left = static_cast<std::size_t>(*next++); left > 0; --left) {
      part.index.push_back(static_cast<Coord>(*next++));
      part.weight.push_back(*next++);
      part.gradient.push_back(*next++);
    }
  }
}

}  // namespace

Objective::Objective(const DesignMatrix& x, const Oracle& oracle, const Penalty& penalty,
                     const Parallel& parallel, const Loss& loss)
    : oracle_(oracle),
      max_(oracle.max() != nullptr ? oracle.max() : oracle.relaxation()),
      instances_(whole_count(parallel, oracle.instances())),
      penalty_(penalty),
      loss_(loss),
      map_(x, oracle, parallel),
      counts_(instances_) {
  penalty.check();
  if (loss.hinge() && max_ == nullptr)
    throw Error::usage("the oracle has no max over structures, which a hinge loss needs");
  if (!loss.hinge() && oracle.sum() == nullptr)
    throw Error::usage("the oracle has no sums over structures, which a log loss needs");
}

void Objective::restrict_to(std::vector<Coord> candidates) {
  candidates_ = std::move(candidates);
  std::vector<Index> features;
  for (const Coord c : *candidates_) {
    if (c >= unary_weights()) break;
    const Index j = map_.feature_of(c);
    if (features.empty() || features.back() != j) features.push_back(j);
  }
  map_.restrict_to(std::move(features));
}

double Objective::inference_flops(std::size_t columns, bool residual) const {
  return add_processes(parallel(), own_flops(columns, residual));
}

/// Work of an inference over some positions: the flops of the oracle, the scores read and the residual
/// written.
Work Objective::inference_work(const ScorePoint& at, const Residual* residual, std::size_t positions) const {
  std::size_t columns = at.base.columns;
  if (at.direction != nullptr) columns += at.direction->columns;
  if (residual != nullptr) columns += residual->columns;
  const auto n = static_cast<double>(positions);
  const double share = n / static_cast<double>(map_.x().positions());
  return {share * own_flops(at.base.columns, residual != nullptr),
          static_cast<double>(sizeof(double)) * static_cast<double>(columns) * n};
}

double Objective::infer(const ScorePoint& at, Residual* residual) {
  const auto timer = time_inference(at, residual, map_.x().positions());
  counts_.add_pass();
  if (loss_.hinge()) return max_->maximise(at, loss_.cost, residual, parallel()).loss;
  return oracle_.sum()->infer(at, residual, parallel());
}

double Objective::infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual) {
  std::size_t positions = 0;
  for (const Index i : instances) positions += oracle_.length(i);
  const auto timer = time_inference(at, residual, positions);
  counts_.add_searches(static_cast<double>(instances.size()));
  return oracle_.sum()->infer_some(instances, at, residual, parallel());
}

void Objective::partial_gradient(const Residual& residual, std::span<const Coord> set,
                                 std::span<const double> w, std::span<double> out) const {
  map_.partial_adjoint(residual, set, out);
  if (mu() > 0)
    for (std::size_t i = 0; i < set.size(); ++i) out[i] += mu() * w[i];
}

void Objective::gradient(const Residual& residual, std::span<const double> w, std::span<double> out) const {
  if (candidates_) {
    std::vector<double> weight, g(candidates_->size());
    for (const Coord c : *candidates_) weight.push_back(w[c]);
    partial_gradient(residual, *candidates_, weight, g);
    std::ranges::fill(out, 0.0);
    for (std::size_t i = 0; i < g.size(); ++i) out[(*candidates_)[i]] = g[i];
    return;
  }
  const PhaseTimer timer(profile_, Phase::kFullGradient, [&] { return map_.full_work(residual); });
  map_.for_each_gradient(residual, [&](std::size_t, Index j, const double* g, std::size_t step) {
    const std::size_t base = static_cast<std::size_t>(j) * outputs();
    for (Index k = 0; k < outputs(); ++k) out[base + k] = g[k * step] + mu() * w[base + k];
  });
  map_.share(out.first(unary_weights()), outputs());
  for (std::size_t e = 0; e < residual.extra.size(); ++e)
    out[unary_weights() + e] = residual.extra[e] + mu() * w[unary_weights() + e];
}

template <class Visit>
void Objective::for_each_candidate(Coord begin, Coord end, const Visit& visit) const {
  if (!candidates_) {
    for (Coord c = begin; c < end; ++c) visit(c);
    return;
  }
  auto c = std::lower_bound(candidates_->begin(), candidates_->end(), begin);
  for (; c != candidates_->end() && *c < end; ++c) visit(*c);
}

/// Adds coordinate c to `selection`. g is the gradient of l there, and w the weight.
void Objective::record(Coord c, double w, double g, double threshold, Selection& selection) const {
  const double excess = std::max(std::abs(g) - lambda(), 0.0);
  selection.gradient_max = std::max(selection.gradient_max, std::abs(g));
  selection.excess_squares += excess * excess;
  g += mu() * w;
  const double m = std::abs(minimum_norm_subgradient(w, g, lambda()));
  selection.kkt_max = std::max(selection.kkt_max, m);
  selection.kkt_l1 += m;
  selection.kkt_squares += m * m;
  selection.along += w * g;
  selection.along_sizes += std::abs(w * g);
  if (threshold < kInfinity && (w != 0.0 || std::abs(g) > threshold)) {
    selection.index.push_back(c);
    selection.weight.push_back(w);
    selection.gradient.push_back(g);
  }
}

void Objective::reselect(const Selection& known, double complete_above, double threshold,
                         Selection& out) const {
  out = Selection{};
  // Gradients at coordinates outside `known` are at most this large.
  out.gradient_max = std::min(complete_above, known.gradient_max);
  auto candidate = candidates_ ? candidates_->begin() : std::vector<Coord>::const_iterator{};
  for (std::size_t i = 0; i < known.index.size(); ++i) {
    if (candidates_) {
      candidate = std::lower_bound(candidate, candidates_->end(), known.index[i]);
      if (candidate == candidates_->end()) break;
      if (*candidate != known.index[i]) continue;
    }
    record(known.index[i], known.weight[i], known.gradient[i] - mu() * known.weight[i], threshold, out);
  }
  out.complete_above = threshold;
  if (!std::isfinite(out.kkt_l1)) out.kkt_max = out.kkt_l1;  // std::max would hide a NaN
}

void Objective::select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                                Selection& out) const {
  const PhaseTimer timer(profile_, Phase::kFullGradient, [&] { return map_.full_work(residual); });
  // Sums are formed by chunk of features, extra weights last. So both methods below give the same sums.
  std::vector<Selection> parts(map_.feature_chunks() + 1);
  const auto chunk_of = [&](Coord c) {
    return c < unary_weights() ? map_.chunk_of(map_.feature_of(c)) : map_.feature_chunks();
  };
  // Returns the position within w of the first weight at or after a coordinate.
  auto start_of = [&](Coord c) {
    return static_cast<std::size_t>(std::ranges::lower_bound(w.index, c) - w.index.begin());
  };
  // Most coordinates are zero and stay zero. They matter only for the largest gradient.
  const double quiet = std::min(threshold, lambda());
  auto visit = [&](Selection& part, std::size_t& cursor, Coord c, double g) {
    const double size = std::abs(g);
    const bool weighted = cursor < w.nnz() && w.index[cursor] == c;
    if (size <= quiet && !weighted) {
      if (size > part.gradient_max) part.gradient_max = size;
    } else {
      record(c, weighted ? w.value[cursor++] : 0.0, g, threshold, part);
    }
  };
  auto has_weights = [&](Index j) {
    const std::size_t cursor = start_of(static_cast<Coord>(j) * outputs());
    return cursor < w.nnz() && w.index[cursor] < static_cast<Coord>(j + std::size_t{1}) * outputs();
  };
  if (candidates_ && residual.one_each()) {
    const std::vector<double> zero(candidates_->size(), 0.0);  // record() adds mu*w
    std::vector<double> g(zero.size());
    partial_gradient(residual, *candidates_, zero, g);
    std::size_t cursor = 0;
    for (std::size_t i = 0; i < g.size(); ++i)
      visit(parts[chunk_of((*candidates_)[i])], cursor, (*candidates_)[i], g[i]);
  } else {
    map_.for_each_gradient(
        residual, quiet, has_weights, [&](std::size_t chunk, Index j, const double* g, std::size_t step) {
          const Coord base = static_cast<Coord>(j) * outputs();
          std::size_t cursor = start_of(base);
          for_each_candidate(base, base + outputs(),
                             [&](Coord c) { visit(parts[chunk], cursor, c, g[(c - base) * step]); });
        });
    exchange(map_, std::span(parts).first(map_.feature_chunks()));
    std::size_t cursor = start_of(unary_weights());
    for_each_candidate(unary_weights(), dimension(),
                       [&](Coord c) { visit(parts.back(), cursor, c, residual.extra[c - unary_weights()]); });
  }

  out = Selection{};
  for (const Selection& part : parts) {
    out.kkt_max = std::max(out.kkt_max, part.kkt_max);
    out.kkt_l1 += part.kkt_l1;
    out.kkt_squares += part.kkt_squares;
    out.along += part.along;
    out.along_sizes += part.along_sizes;
    out.gradient_max = std::max(out.gradient_max, part.gradient_max);
    out.excess_squares += part.excess_squares;
    out.index.insert(out.index.end(), part.index.begin(), part.index.end());
    out.weight.insert(out.weight.end(), part.weight.begin(), part.weight.end());
    out.gradient.insert(out.gradient.end(), part.gradient.begin(), part.gradient.end());
  }
  out.complete_above = threshold;
  if (!std::isfinite(out.kkt_l1)) out.kkt_max = out.kkt_l1;  // std::max would hide a NaN
}

double proximal_step(const Objective::Selection& from, double a, double lambda, SparseVector& w) {
  w.clear();
  double squared = 0.0;
  for (std::size_t i = 0; i < from.index.size(); ++i) {
    const double moved = soft_threshold(from.weight[i] - from.gradient[i] / a, lambda / a);
    squared += (moved - from.weight[i]) * (moved - from.weight[i]);
    if (moved != 0.0) w.push_back(from.index[i], moved);
  }
  return squared;
}

}  // namespace proxbench
