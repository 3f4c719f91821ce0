/// The beliefs of a chain: the log marginals of its pairs (edge by edge, K x K, the earlier label first),
/// then the log marginals of the positions that two pairs share. A sequence of one position has only its own
/// marginals.

#include <algorithm>
#include <cmath>

#include "core/kernels/kernel_table.h"
#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"
#include "oracles/chain/chain_loss.h"

namespace proxbench {

BeliefOracle::Size ChainOracle::belief_size(Index instance) const {
  const std::size_t positions = length(instance), labels = outputs_;
  if (positions == 1) return {padded(labels), 0};
  return {padded((positions - 1) * labels * labels), padded((positions - 2) * labels)};
}

double ChainOracle::infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                                  double* log_beliefs) const {
  require_gold();
  const std::span<const Index> gold = gold_of(instance);
  const std::size_t positions = gold.size(), labels = outputs_, width = padded(labels), edges = positions - 1,
                    used = edges == 0 ? labels : edges * labels * labels;
  const KernelTable& kernels = kernels_in_use();
  const Size size = belief_size(instance);
  double* shared = log_beliefs + size.positive;
  double loss = 0.0;
  // Rounding may make a logarithm positive.
  const auto write = [](const double* logs, std::size_t n, double* out) {
    return std::transform(logs, logs + n, out, [](double x) { return std::min(x, 0.0); });
  };
  const auto [low, high] = std::minmax_element(extra.begin(), extra.end());
  if (*high - *low <= kLinearRange) {
    static thread_local AlignedVector<double> columns, forward, backward;
    columns.resize(padded(positions) * labels);
    forward.resize(width * width);
    backward.assign(width * width, 0.0);
    for (std::size_t i = 0; i < labels; ++i) {
      for (std::size_t j = 0; j < labels; ++j) forward[i * width + j] = extra[i * labels + j] - *high;
      std::fill_n(forward.data() + i * width + labels, width - labels, -kInfinity);
    }
    kernels.exponentiate(forward.data(), labels * width);
    for (std::size_t i = 0; i < labels; ++i)
      for (std::size_t j = 0; j < labels; ++j) backward[j * width + i] = forward[i * width + j];
    kernels.rows_to_columns(scores, width, labels, 0, positions, columns.data(), padded(positions));

    const Index bounds[] = {0, static_cast<Index>(positions)}, alone = 0;
    Buffers& work = buffers(positions, 1, true);
    ChainChunk chunk = chunk_in(work);
    chunk.begin = bounds;
    chunk.by_length = &alone;
    chunk.base = columns.data();
    chunk.stride = padded(positions);
    chunk.forward = forward.data();
    chunk.backward = backward.data();
    chunk.posterior = work.posterior.data();
    chunk.pair = work.pair.data();
    chain_kernels().forward_backward(chunk);
    loss = chain_loss(
        gold, [&](std::size_t t) { return scores[t * width + gold[t]]; }, extra.data(), labels, *high,
        work.top.data(), work.scale.data());

    for (AlignedVector<double>* numbers : {&work.message, &work.posterior, &work.score})
      kernels.logarithm(numbers->data(), positions * width);
    if (edges == 0) write(work.posterior.data(), labels, log_beliefs);
    for (std::size_t t = 1; t < edges; ++t) shared = write(work.posterior.data() + t * width, labels, shared);
    if (edges > 0)
      chain_kernels().log_pairs({.outputs = labels,
                                 .width = width,
                                 .edges = edges,
                                 .before = work.message.data(),
                                 .after = work.score.data() + width,
                                 .transition = extra.data(),
                                 .shift = -*high,
                                 .out = log_beliefs});
  } else {
    const Conditionals model = conditionals(scores, extra, positions, gold.data());
    loss = model.loss;
    if (edges == 0) std::copy_n(model.marginal.data(), labels, log_beliefs);
    for (std::size_t t = 0; t < edges; ++t) {
      const double* const here = model.marginal.data() + t * width;
      if (t > 0) shared = std::copy_n(here, labels, shared);
      for (std::size_t j = 0; j < labels; ++j)
        for (std::size_t k = 0; k < labels; ++k)
          log_beliefs[(t * labels + j) * labels + k] = here[j] * model.next[(t * labels + j) * width + k];
    }
    kernels.logarithm(log_beliefs, size.all());
    write(log_beliefs, size.all(), log_beliefs);
  }
  std::fill(log_beliefs + used, log_beliefs + size.positive, 0.0);
  std::fill(shared, log_beliefs + size.all(), 0.0);
  return loss;
}

/// All labels except gold are alike. So a message is two logarithms: one of gold, one of any other label.
void ChainOracle::gold_beliefs(Index instance, double score, double* log_beliefs) const {
  require_gold();
  struct Message {
    double gold, other;
  };
  const std::span<const Index> gold = gold_of(instance);
  const std::size_t positions = gold.size(), labels = outputs_;
  const double others = std::log(static_cast<double>(labels) - 1.0);  // -infinity for one label
  const auto add = [](double a, double b) {
    const double largest = std::max(a, b);
    return largest + std::log1p(std::exp(std::min(a, b) - largest));
  };
  std::vector<Message> forward(positions, {score, 0.0}), backward(positions, {0.0, 0.0});
  for (std::size_t t = 1; t < positions; ++t) {
    const Message from = forward[t - 1];
    forward[t] = {score + add(from.gold + score, from.other + others), add(from.gold, from.other + others)};
  }
  for (std::size_t t = positions - 1; t-- > 0;) {
    const Message from = backward[t + 1];
    backward[t] = {add(from.gold + 2.0 * score, from.other + others),
                   add(from.gold + score, from.other + others)};
  }
  const double log_partition = add(forward.back().gold, forward.back().other + others);
  const Size size = belief_size(instance);
  std::fill(log_beliefs, log_beliefs + size.all(), 0.0);
  const auto position = [&](std::size_t t, double* out) {
    std::fill(out, out + labels, std::min(0.0, forward[t].other + backward[t].other - log_partition));
    out[gold[t]] = std::min(0.0, forward[t].gold + backward[t].gold - log_partition);
  };
  if (positions == 1) return position(0, log_beliefs);
  for (std::size_t t = 0; t + 1 < positions; ++t) {
    double* const pair = log_beliefs + t * labels * labels;
    const Index a = gold[t], b = gold[t + 1];
    const auto value = [&](double first, double edge, double second) {
      return std::min(0.0, first + edge + second - log_partition);
    };
    const double to_gold = score + backward[t + 1].gold, to_other = backward[t + 1].other;
    std::fill(pair, pair + labels * labels, value(forward[t].other, 0.0, to_other));
    std::fill(pair + a * labels, pair + (a + 1) * labels, value(forward[t].gold, 0.0, to_other));
    for (std::size_t j = 0; j < labels; ++j) pair[j * labels + b] = value(forward[t].other, 0.0, to_gold);
    pair[a * labels + b] = value(forward[t].gold, score, to_gold);
    if (t > 0) position(t, log_beliefs + size.positive + (t - 1) * labels);
  }
}

void ChainOracle::structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const {
  const Size size = belief_size(instance);
  const std::size_t labels = outputs_, n = outputs.size();
  std::fill(beliefs, beliefs + size.all(), 1.0);
  std::fill(beliefs, beliefs + (n == 1 ? labels : (n - 1) * labels * labels), 0.0);
  if (n > 2) std::fill(beliefs + size.positive, beliefs + size.positive + (n - 2) * labels, 0.0);
  if (n == 1) beliefs[outputs[0]] = 1.0;
  for (std::size_t t = 0; t + 1 < n; ++t) {
    beliefs[(t * labels + outputs[t]) * labels + outputs[t + 1]] = 1.0;
    if (t > 0) beliefs[size.positive + (t - 1) * labels + outputs[t]] = 1.0;
  }
}

void ChainOracle::expectation(Index instance, const double* beliefs, double* rows,
                              std::span<double> extra) const {
  const std::size_t positions = length(instance), labels = outputs_, width = padded(labels),
                    edges = positions - 1;
  const KernelTable& kernels = kernels_in_use();
  std::fill(rows, rows + positions * width, 0.0);
  std::ranges::fill(extra, 0.0);
  if (edges == 0) {
    std::copy(beliefs, beliefs + labels, rows);
    return;
  }
  const double* const shared = beliefs + belief_size(instance).positive;
  for (std::size_t t = 1; t < edges; ++t)
    std::copy(shared + (t - 1) * labels, shared + t * labels, rows + t * width);
  const double* const last = beliefs + (edges - 1) * labels * labels;
  for (std::size_t j = 0; j < labels; ++j)
    for (std::size_t k = 0; k < labels; ++k) {
      rows[j] += beliefs[j * labels + k];
      rows[edges * width + k] += last[j * labels + k];
    }
  for (std::size_t t = 0; t < edges; ++t)
    kernels.add_scaled(extra.data(), 1.0, beliefs + t * labels * labels, labels * labels);
}

void ChainOracle::make_consistent(Index instance, double* beliefs) const {
  const std::size_t positions = length(instance), labels = outputs_;
  const auto scale_to = [](double* x, std::size_t n, double total) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i];
    for (std::size_t i = 0; i < n; ++i)
      x[i] = sum > 0.0 ? x[i] * (total / sum) : total / static_cast<double>(n);
  };
  if (positions == 1) return scale_to(beliefs, labels, 1.0);
  double* shared = beliefs + belief_size(instance).positive;
  std::vector<double> into(labels);
  for (std::size_t t = 0; t + 1 < positions; ++t) {
    double* const pair = beliefs + t * labels * labels;
    if (t == 0) scale_to(pair, labels * labels, 1.0);
    for (std::size_t j = 0; j < labels && t > 0; ++j) {
      scale_to(pair + j * labels, labels, into[j]);
      *shared++ = into[j];
    }
    std::ranges::fill(into, 0.0);
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) into[k] += pair[j * labels + k];
  }
}

double ChainOracle::inconsistency(Index instance, const double* beliefs) const {
  const std::size_t positions = length(instance), labels = outputs_, edges = positions - 1;
  double worst = 0.0;
  const auto differ = [&](double a, double b) {
    if (worst == worst && !(std::abs(a - b) <= worst)) worst = std::abs(a - b);  // a NaN stays
  };
  const auto total = [&](const double* x, std::size_t n) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[i];
      if (x[i] < 0.0) differ(x[i], 0.0);
    }
    return sum;
  };
  if (edges == 0) {
    differ(total(beliefs, labels), 1.0);
    return worst;
  }
  const double* const shared = beliefs + belief_size(instance).positive;
  std::vector<double> into(labels);
  for (std::size_t t = 0; t < edges; ++t) {
    const double* const pair = beliefs + t * labels * labels;
    differ(total(pair, labels * labels), 1.0);
    for (std::size_t j = 0; j < labels && t > 0; ++j) {
      differ(total(pair + j * labels, labels), shared[(t - 1) * labels + j]);
      differ(into[j], shared[(t - 1) * labels + j]);
    }
    std::ranges::fill(into, 0.0);
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) into[k] += pair[j * labels + k];
  }
  return worst;
}

}  // namespace proxbench
