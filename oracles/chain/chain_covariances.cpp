/// Second moments of one sequence, the terms of a dense Hessian.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/stop_token.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"

namespace proxbench {

ChainOracle::Conditionals ChainOracle::conditionals(const Scores& scores, std::size_t instance) const {
  AlignedVector<double> rows;
  score_rows(all_, {scores}, instance, instance + 1, rows);
  return conditionals(rows.data() + (begin_[instance] - all_.row_origin(instance)) * padded(outputs_),
                      scores.extra, length(instance), nullptr);
}

/// One backward pass finds the conditionals, then a forward pass the marginals. The loss is the sum of
/// -log p(y_1) and all -log p(y_{t+1} | y_t), none of which is below 0.
ChainOracle::Conditionals ChainOracle::conditionals(const double* scores, std::span<const double> transition,
                                                    std::size_t length, const Index* gold) const {
  const KernelTable& kernels = kernels_in_use();
  const std::size_t labels = outputs_, width = padded(labels);
  Conditionals out;
  out.marginal.assign(length * width, 0.0);
  out.next.assign((length - 1) * labels * width, 0.0);
  CompensatedSum loss;
  const auto normalise = [&](double* x) {
    const double sum = std::accumulate(x, x + labels, 0.0);
    for (std::size_t k = 0; k < labels; ++k) x[k] /= sum;
    return sum;
  };
  // Replaces x[0..labels) by its softmax, and returns log sum exp. Adds the loss of x[gold].
  const auto softmax = [&](double* x, const Index* y) {
    const double largest = *std::max_element(x, x + labels);
    for (std::size_t k = 0; k < labels; ++k) x[k] -= largest;
    const double below = y != nullptr ? -x[*y] : 0.0;
    std::fill(x + labels, x + width, -kInfinity);
    kernels.exponentiate(x, width);
    const double log_sum = std::log(normalise(x));
    if (y != nullptr) loss.add(below + log_sum);
    return largest + log_sum;
  };
  // score[k] is the log of the total weight from position t on, given y_t = k. All from_next are relative to
  // the largest of them, so that they do not grow with the sequence.
  std::vector<double> score(labels), from_next(labels, 0.0);
  for (std::size_t t = length; t-- > 0;) {
    stop_point();
    for (std::size_t k = 0; k < labels; ++k) score[k] = scores[t * width + k] + from_next[k];
    if (t == 0) break;
    double* const next = out.next.data() + (t - 1) * labels * width;
    for (std::size_t c = 0; c < labels; ++c) {
      for (std::size_t d = 0; d < labels; ++d) next[c * width + d] = transition[c * labels + d] + score[d];
      from_next[c] = softmax(next + c * width, gold != nullptr && gold[t - 1] == c ? gold + t : nullptr);
    }
    const double largest = *std::ranges::max_element(from_next);
    for (double& x : from_next) x -= largest;
  }
  std::ranges::copy(score, out.marginal.begin());
  softmax(out.marginal.data(), gold);
  out.loss = loss.value();
  for (std::size_t t = 0; t + 1 < length; ++t) {
    double* const marginal = out.marginal.data() + t * width;
    kernels.add_product({.rows = marginal,
                         .rows_stride = labels,
                         .count = 1,
                         .inner = labels,
                         .matrix = out.next.data() + t * labels * width,
                         .matrix_stride = width,
                         .width = width,
                         .out = marginal + width,
                         .out_stride = width});
    if ((t + 1) % kChainRest == 0) normalise(marginal + width);
  }
  return out;
}

/// One forward pass. Row k of `so_far` holds the covariances with [y_t = k] of all slots, summed over the
/// positions and edges up to t. One edge later, row d is the sum over k of p(d | k) times row k. The features
/// of each position and edge are paired with these rows. Two features of the same position or edge meet
/// twice, so each time counts half. All other pairs meet once, at the later of the two.
void ChainOracle::covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                              HalfMatrix& out) const {
  /// The edges of this many positions are taken together, as products of matrices.
  constexpr std::size_t kTogether = 8;
  const KernelTable& kernels = kernels_in_use();
  const std::size_t labels = outputs_, width = padded(labels), stride = padded(features.slots),
                    extras = features.extra.size(), extra_width = padded(extras),
                    length = this->length(instance);
  const Conditionals model = conditionals(scores, instance);
  out.clear(features.slots);
  // For the current positions: `labels` vectors each, and for each extra weight p(d | c) and p(c, d) on the
  // edge to the next position.
  AlignedVector<double> history(kTogether * labels * stride), conditional(labels * labels),
      next_of(extras * kTogether), chance(kTogether * extra_width, 0.0), chance_of(extras * kTogether);
  std::size_t met = extra_width;  // slots that have occurred so far, padded
  std::vector<std::size_t> met_at(kTogether);
  for (std::size_t t = 0; t < length; ++t) {
    const double* marginal = model.marginal.data() + t * width;
    const std::size_t at = t % kTogether, at_before = (t + kTogether - 1) % kTogether;
    double* const so_far = history.data() + at * labels * stride;
    const std::size_t met_before = met;
    const std::span<const LocalFeatures::Entry> entries(features.entry.data() + features.begin[t],
                                                        features.begin[t + 1] - features.begin[t]);
    for (const auto& e : entries) met = std::max(met, padded(e.slot + std::size_t{1}));
    met_at[at] = met;
    for (std::size_t k = 0; k < labels; ++k) std::fill_n(so_far + k * stride, met, 0.0);
    if (t > 0) {
      const double* next = model.next.data() + (t - 1) * labels * width;
      for (std::size_t c = 0; c < labels; ++c)
        for (std::size_t d = 0; d < labels; ++d) conditional[d * labels + c] = next[c * width + d];
      kernels.add_product({.rows = conditional.data(),
                           .rows_stride = labels,
                           .count = labels,
                           .inner = labels,
                           .matrix = history.data() + at_before * labels * stride,
                           .matrix_stride = stride,
                           .width = met_before,
                           .out = so_far,
                           .out_stride = stride});
      const double* edge = chance.data() + at_before * extra_width;
      for (std::size_t k = 0; k < labels; ++k)
        kernels.add_scaled(so_far + k * stride, -marginal[k], edge, extras);
      for (std::size_t i = 0; i < extras; ++i) so_far[features.extra[i] % labels * stride + i] += edge[i];
    }
    const auto add_halves = [&] {
      for (const auto& [slot, output, value] : entries) {
        const double half = 0.5 * value * marginal[output];
        for (std::size_t k = 0; k < labels; ++k) so_far[k * stride + slot] -= half * marginal[k];
        so_far[output * stride + slot] += half;
      }
    };
    add_halves();
    for (const auto& [slot, output, value] : entries)
      kernels.add_scaled(out.row(slot, met), value, so_far + output * stride, met);
    add_halves();

    const bool last = t + 1 == length;
    const double* next = last ? nullptr : model.next.data() + t * labels * width;
    for (std::size_t i = 0; i < extras && !last; ++i) {
      const std::size_t c = features.extra[i] / labels, d = features.extra[i] % labels;
      next_of[i * kTogether + at] = next[c * width + d];
      chance[at * extra_width + i] = chance_of[i * kTogether + at] = marginal[c] * next[c * width + d];
    }
    // The edges of all current positions.
    const std::size_t edges = at + (last ? 0 : 1);
    if (!last && edges < kTogether) continue;
    for (std::size_t p = 0; p < edges; ++p)
      for (std::size_t k = 0; k < labels; ++k)
        std::fill(history.data() + (p * labels + k) * stride + met_at[p],
                  history.data() + (p * labels + k) * stride + met, 0.0);
    for (std::size_t i = 0; i < extras; ++i) out.row(i, met);
    for (std::size_t i = 0, end = 0; i < extras; i = end) {
      const std::size_t c = features.extra[i] / labels;
      while (end < extras && features.extra[end] / labels == c) ++end;
      kernels.add_product({.rows = next_of.data() + i * kTogether,
                           .rows_stride = kTogether,
                           .count = end - i,
                           .inner = edges,
                           .matrix = history.data() + c * stride,
                           .matrix_stride = labels * stride,
                           .width = met,
                           .out = out.row(i, met),
                           .out_stride = out.stride});
    }
    for (std::size_t i = 0; i < extras; ++i) {
      double* const half = chance_of.data() + i * kTogether;
      for (std::size_t p = 0; p < edges; ++p) {
        half[p] *= -0.5;
        out.row(i, met)[i] -= half[p];
      }
    }
    kernels.add_product({.rows = chance_of.data(),
                         .rows_stride = kTogether,
                         .count = extras,
                         .inner = edges,
                         .matrix = chance.data(),
                         .matrix_stride = extra_width,
                         .width = extra_width,
                         .out = extras > 0 ? out.row(0, met) : nullptr,
                         .out_stride = out.stride});
  }
}

}  // namespace proxbench
