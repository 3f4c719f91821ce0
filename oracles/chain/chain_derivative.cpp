/// The chain's derivative capability: the change of marginals along a direction of scores.
#include <algorithm>
#include <numeric>

#include "core/base/stop_token.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"

namespace proxbench {

namespace {

/// The rows of a chunk, and pointers to them.
struct Scratch {
  AlignedVector<double> change, through, message_change, weight, weight_change, shift;
  std::vector<const double*> left, right;

  static Scratch& mine(std::size_t rows, std::size_t width) {
    static thread_local Scratch scratch;
    for (AlignedVector<double>* numbers : {&scratch.change, &scratch.through, &scratch.message_change,
                                           &scratch.weight, &scratch.weight_change})
      numbers->resize(rows * width);
    scratch.shift.resize(rows);
    scratch.left.resize(2 * rows);
    scratch.right.resize(2 * rows);
    return scratch;
  }
};

}  // namespace

/// Makes room for the messages at a point. In the log domain, copies its scores.
void ChainOracle::prepare(const ScorePoint& at, const Transitions& m, Kept& kept) const {
  kept.transitions = m;
  std::size_t rows = 0;
  if (m.linear()) {
    kept.scores = {};
    kept.first_row.clear();
    for (std::size_t chunk = 0; chunk < all_.chunks(); ++chunk) {
      kept.first_row.push_back(rows);
      rows += padded(all_.chunk(chunk).end - all_.chunk(chunk).origin);
    }
  } else {
    kept.scores = at.base;
    kept.scores.extra = m.score;
    if (at.direction != nullptr)
      kernels_in_use().add_scaled(kept.scores.values.data(), at.alpha, at.direction->values.data(),
                                  kept.scores.values.size());
  }
  for (AlignedVector<double>* numbers : {&kept.message, &kept.back, &kept.ratio})
    numbers->resize(rows * m.width);
}

double ChainOracle::infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                                   const Parallel& parallel) const {
  if (kept == nullptr) kept = std::make_unique<Kept>();
  Kept& messages = static_cast<Kept&>(*kept);
  const double loss = infer_on(all_, at, &residual, parallel, &messages);
  messages.pair = gold_extra(parallel);
  for (std::size_t e = 0; e < messages.pair.size(); ++e) messages.pair[e] += residual.extra[e];
  return loss;
}

void ChainOracle::derivative(const Messages& at, const Scores& direction, Residual& out,
                             const Parallel& parallel) const {
  const Kept& kept = static_cast<const Kept&>(at);
  kept.transitions.linear() ? derivative_linear(kept, direction, out, parallel)
                            : derivative_log(kept, direction, out, parallel);
}

void ChainOracle::derivative_linear(const Kept& at, const Scores& direction, Residual& out,
                                    const Parallel& parallel) const {
  const Transitions& m = at.transitions;
  const std::size_t labels = outputs_, width = m.width;
  AlignedVector<double> forward_change(width * width, 0.0), backward_change(width * width, 0.0);
  for (std::size_t i = 0; i < labels; ++i)
    for (std::size_t j = 0; j < labels; ++j)
      forward_change[i * width + j] = backward_change[j * width + i] =
          m.forward[i * width + j] * direction.extra[i * labels + j];

  AlignedVector<double> pair(width * width);
  sum_chunks(parallel, all_.chunks(), pair.size(), pair.data(), [&](std::size_t chunk, double* part) {
    const auto [first, last, begin, end, origin] = all_.chunk(chunk);
    const std::size_t kept_at = at.first_row[chunk] * width;
    Scratch& scratch = Scratch::mine(padded(end - origin), width);
    direction.get_rows(origin, end - origin, scratch.change.data());
    chain_kernels().derivative({.outputs = labels,
                                .width = width,
                                .begin = all_.begin.data() + first,
                                .origin = origin,
                                .sequences = last - first,
                                .by_length = all_.by_length.data() + first,
                                .forward = m.forward.data(),
                                .backward = m.backward.data(),
                                .forward_change = forward_change.data(),
                                .backward_change = backward_change.data(),
                                .message = at.message.data() + kept_at,
                                .back = at.back.data() + kept_at,
                                .ratio = at.ratio.data() + kept_at,
                                .change = scratch.change.data(),
                                .pair = part,
                                .through = scratch.through.data(),
                                .message_change = scratch.message_change.data(),
                                .weight = scratch.weight.data(),
                                .weight_change = scratch.weight_change.data(),
                                .shift = scratch.shift.data(),
                                .left = scratch.left.data(),
                                .right = scratch.right.data()});
    out.set_rows(begin, end - begin, scratch.change.data() + (begin - origin) * width);
  });
  for (std::size_t i = 0; i < labels; ++i)
    for (std::size_t j = 0; j < labels; ++j)
      out.extra[i * labels + j] =
          pair[i * width + j] + direction.extra[i * labels + j] * at.pair[i * labels + j];
}

void ChainOracle::derivative_log(const Kept& at, const Scores& direction, Residual& out,
                                 const Parallel& parallel) const {
  AlignedVector<double> pair(extra_weights());
  sum_chunks(parallel, all_.chunks(), pair.size(), pair.data(), [&](std::size_t chunk, double* part) {
    for (std::size_t i = all_.chunk(chunk).first; i < all_.chunk(chunk).last; ++i)
      derivative_log_of(i, at, direction, out, part);
  });
  std::ranges::copy(pair, out.extra.begin());
}

/// Treats the sequence as a Markov chain with p(d | c) from one position to the next. f_t(k) is the
/// derivative of p_t(k) by the scores up to t only. g_t(k) is the expected change of all later scores and
/// transitions, given y_t = k. The scores at each position are shifted by h_t so that f_t sums to 0
/// (chain_kernels.h).
void ChainOracle::derivative_log_of(std::size_t instance, const Kept& at, const Scores& direction,
                                    Residual& out, double* pair) const {
  const std::size_t labels = outputs_, width = padded(labels), first = begin_[instance],
                    length = this->length(instance);
  const Conditionals model = conditionals(at.scores, instance);
  const double* const change = direction.extra.data();
  std::vector<double> f(length * labels), shift(length), g(labels, 0.0), g_before(labels);
  for (std::size_t t = 0; t < length; ++t) {
    stop_point();
    const double* p = model.marginal.data() + t * width;
    double* const here = f.data() + t * labels;
    for (std::size_t k = 0; k < labels; ++k) here[k] = p[k] * direction.column(k)[first + t];
    if (t > 0)
      for (std::size_t c = 0; c < labels; ++c) {
        const double* next = model.next.data() + ((t - 1) * labels + c) * width;
        const double chance = model.marginal[(t - 1) * width + c], before = f[(t - 1) * labels + c];
        for (std::size_t k = 0; k < labels; ++k)
          here[k] += next[k] * (before + chance * change[c * labels + k]);
      }
    shift[t] = std::accumulate(here, here + labels, 0.0);
    for (std::size_t k = 0; k < labels; ++k) here[k] -= shift[t] * p[k];
  }
  for (std::size_t t = length; t-- > 0;) {
    stop_point();
    for (std::size_t k = 0; k < labels; ++k)
      out.column(k)[first + t] = f[t * labels + k] + model.marginal[t * width + k] * g[k];
    if (t == 0) break;
    for (std::size_t c = 0; c < labels; ++c) {
      const double* next = model.next.data() + ((t - 1) * labels + c) * width;
      const double chance = model.marginal[(t - 1) * width + c], before = f[(t - 1) * labels + c];
      g_before[c] = 0.0;
      for (std::size_t k = 0; k < labels; ++k) {
        const double behind = change[c * labels + k] + direction.column(k)[first + t] - shift[t] + g[k];
        pair[c * labels + k] += next[k] * (before + chance * behind);
        g_before[c] += next[k] * behind;
      }
    }
    g.swap(g_before);
  }
}

}  // namespace proxbench
