/// The beliefs of a chain: log marginals of its pairs (edge by edge, K x K, the earlier label first), then
/// those of the positions that two pairs share. A sequence of one position has its own marginals alone.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/kernels/kernel_table.h"
#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"

namespace proxbench {

namespace {

/// Buffers that a thread reuses; rows are positions.
struct BeliefBuffers {
  AlignedVector<double> columns, message, posterior, weight, pair, forward, backward, top, scale, inverse;
  std::vector<Index> edge;

  static BeliefBuffers& mine(std::size_t positions, std::size_t outputs) {
    static thread_local BeliefBuffers b;
    const std::size_t width = padded(outputs), rows = padded(positions);
    b.columns.resize(rows * outputs);
    for (AlignedVector<double>* numbers : {&b.message, &b.posterior, &b.weight})
      numbers->resize(rows * width);
    for (AlignedVector<double>* numbers : {&b.pair, &b.forward, &b.backward}) numbers->resize(width * width);
    for (AlignedVector<double>* numbers : {&b.top, &b.scale, &b.inverse}) numbers->resize(rows);
    b.edge.resize(rows);
    return b;
  }
};

/// Makes log probabilities of scores: their exponentials sum to 1 within rounding however large the scores
/// are, since the largest is taken off before anything is added. Returns the logarithm that was taken off.
double normalise(std::span<double> x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0.0;
  for (double& v : x) {
    v -= largest;
    sum += std::exp(v);
  }
  const double log_sum = std::log(sum);
  for (double& v : x) v = std::min(v - log_sum, 0.0);
  return largest + log_sum;
}

/// log sum exp of log probabilities. They are not above 0.
double log_sum_exp(std::span<const double> x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0.0;
  for (const double v : x) sum += std::exp(v - largest);
  return std::min(largest + std::log(sum), 0.0);
}

/// The log marginals of all pairs and of the positions that two pairs share (of the position, where there is
/// one), with logarithms throughout: right for any finite scores. They are those of a Markov chain, each
/// label given the one before, so they are consistent although the scores' rounding grows with the scores.
/// Returns log Z.
double log_marginals(std::size_t positions, std::size_t labels, const double* scores, std::size_t width,
                     std::span<const double> transition, double* pairs, double* shared) {
  // The conditional probabilities of the pairs stand where their marginals will be.
  std::vector<double> after(labels, 0.0), here(labels);
  for (std::size_t t = positions; t-- > 0;) {
    for (std::size_t k = 0; k < labels; ++k) after[k] += scores[t * width + k];
    if (t == 0) break;
    double* const pair = pairs + (t - 1) * labels * labels;
    for (std::size_t j = 0; j < labels; ++j) {
      for (std::size_t k = 0; k < labels; ++k) pair[j * labels + k] = transition[j * labels + k] + after[k];
      here[j] = normalise({pair + j * labels, labels});
    }
    after = here;
  }
  const double log_partition = normalise(after);  // log p of the first label
  if (positions == 1) std::ranges::copy(after, pairs);
  std::vector<double> column(labels);
  for (std::size_t t = 0; t + 1 < positions; ++t) {
    double* const pair = pairs + t * labels * labels;
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) pair[j * labels + k] += after[j];
    for (std::size_t k = 0; k < labels; ++k) {
      for (std::size_t j = 0; j < labels; ++j) column[j] = pair[j * labels + k];
      after[k] = log_sum_exp(column);
    }
    if (t + 2 < positions) shared = std::ranges::copy(after, shared).out;
  }
  return log_partition;
}

}  // namespace

BeliefOracle::Size ChainOracle::belief_size(Index instance) const {
  const std::size_t positions = all_.begin[instance + std::size_t{1}] - all_.begin[instance],
                    labels = outputs_;
  if (positions == 1) return {padded(labels), 0};
  return {padded((positions - 1) * labels * labels), padded((positions - 2) * labels)};
}

double ChainOracle::infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                                  double* log_beliefs) const {
  require_gold();
  const std::size_t begin = all_.begin[instance], positions = all_.begin[instance + std::size_t{1}] - begin,
                    labels = outputs_, width = padded(labels);
  BeliefBuffers& work = BeliefBuffers::mine(positions, labels);
  const KernelTable& kernels = kernels_in_use();
  const Size size = belief_size(instance);
  const std::size_t edges = positions - 1, shared_positions = edges > 0 ? edges - 1 : 0;
  double* const shared = log_beliefs + size.positive;
  std::fill(log_beliefs + (edges == 0 ? labels : edges * labels * labels), shared, 0.0);
  std::fill(shared + shared_positions * labels, log_beliefs + size.all(), 0.0);
  double log_partition = 0.0;
  const auto [low, high] = std::minmax_element(extra.begin(), extra.end());
  if (*high - *low <= kLinearRange) {
    const double largest = *high;
    for (std::size_t i = 0; i < labels; ++i) {
      for (std::size_t j = 0; j < labels; ++j) work.forward[i * width + j] = extra[i * labels + j] - largest;
      std::fill_n(work.forward.begin() + static_cast<std::ptrdiff_t>(i * width + labels), width - labels,
                  -std::numeric_limits<double>::infinity());
    }
    kernels.exponentiate(work.forward.data(), labels * width);
    std::fill(work.backward.begin(), work.backward.end(), 0.0);
    for (std::size_t i = 0; i < labels; ++i)
      for (std::size_t j = 0; j < labels; ++j) work.backward[j * width + i] = work.forward[i * width + j];
    kernels.rows_to_columns(scores, width, labels, 0, positions, work.columns.data(), padded(positions));
    const Index bounds[] = {0, static_cast<Index>(positions)}, alone = 0;
    chain_kernels().forward_backward({.outputs = labels,
                                      .width = width,
                                      .begin = bounds,
                                      .origin = 0,
                                      .sequences = 1,
                                      .by_length = &alone,
                                      .base = work.columns.data(),
                                      .direction = nullptr,
                                      .alpha = 0.0,
                                      .stride = padded(positions),
                                      .forward = work.forward.data(),
                                      .backward = work.backward.data(),
                                      .largest_transition = largest,
                                      .log_partition = &log_partition,
                                      .message = work.message.data(),
                                      .posterior = work.posterior.data(),
                                      .pair = work.pair.data(),
                                      .back = nullptr,
                                      .ratio = nullptr,
                                      .residual = nullptr,
                                      .residual_stride = 0,
                                      .weight = work.weight.data(),
                                      .top = work.top.data(),
                                      .scale = work.scale.data(),
                                      .inverse = work.inverse.data(),
                                      .edge = work.edge.data()});
    for (AlignedVector<double>* numbers : {&work.message, &work.posterior, &work.weight})
      kernels.logarithm(numbers->data(), positions * width);
    const auto copy = [&](std::size_t t, double* out) {
      for (std::size_t k = 0; k < labels; ++k) out[k] = std::min(work.posterior[t * width + k], 0.0);
    };
    if (edges == 0) copy(0, log_beliefs);
    for (std::size_t t = 1; t < edges; ++t) copy(t, shared + (t - 1) * labels);
    if (edges > 0)
      chain_kernels().log_pairs({.outputs = labels,
                                 .width = width,
                                 .edges = edges,
                                 .before = work.message.data(),
                                 .after = work.weight.data() + width,
                                 .transition = extra.data(),
                                 .shift = -largest,
                                 .out = log_beliefs});
  } else {
    log_partition = log_marginals(positions, labels, scores, width, extra, log_beliefs, shared);
  }

  double gold = 0.0;
  for (std::size_t t = 0; t < positions; ++t) {
    gold += scores[t * width + all_.gold[begin + t]];
    if (t < edges) gold += extra[all_.gold[begin + t] * labels + all_.gold[begin + t + 1]];
  }
  return log_partition - gold;
}

/// All labels but gold are alike, so that a message is two numbers: of gold and of any other, as logarithms.
void ChainOracle::gold_beliefs(Index instance, double score, double* log_beliefs) const {
  require_gold();
  struct Message {
    double gold, other;
  };
  const std::size_t begin = all_.begin[instance], positions = all_.begin[instance + std::size_t{1}] - begin,
                    labels = outputs_;
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
    out[all_.gold[begin + t]] = std::min(0.0, forward[t].gold + backward[t].gold - log_partition);
  };
  if (positions == 1) return position(0, log_beliefs);
  for (std::size_t t = 0; t + 1 < positions; ++t) {
    double* const pair = log_beliefs + t * labels * labels;
    const Index a = all_.gold[begin + t], b = all_.gold[begin + t + 1];
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
  const std::size_t positions = all_.begin[instance + std::size_t{1}] - all_.begin[instance],
                    labels = outputs_, width = padded(labels), edges = positions - 1;
  const KernelTable& kernels = kernels_in_use();
  std::fill(rows, rows + positions * width, 0.0);
  std::fill(extra.begin(), extra.end(), 0.0);
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
  const std::size_t positions = all_.begin[instance + std::size_t{1}] - all_.begin[instance],
                    labels = outputs_;
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
    std::fill(into.begin(), into.end(), 0.0);
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) into[k] += pair[j * labels + k];
  }
}

double ChainOracle::inconsistency(Index instance, const double* beliefs) const {
  const std::size_t positions = all_.begin[instance + std::size_t{1}] - all_.begin[instance],
                    labels = outputs_, edges = positions - 1;
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
    std::fill(into.begin(), into.end(), 0.0);
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) into[k] += pair[j * labels + k];
  }
  return worst;
}

}  // namespace proxbench
