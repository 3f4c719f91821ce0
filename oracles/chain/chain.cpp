#include "oracles/chain/chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/stop_token.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_sets.h"
#include "core/kernels/kernel_table.h"
#include "oracles/chain/chain_kernels.h"
#include "oracles/chain/chain_loss.h"
#include "oracles/oracles.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(ChainKernels, chain_kernels)

namespace {

/// Throws Error if the transition scores, their exponentials in both directions and their gradient do not fit
/// into this machine's memory. A file of another format easily has a different label on each line.
void require_memory(Index labels) {
  const double needed = 4.0 * sizeof(double) * labels * labels, present = machine_memory();
  if (needed > present)
    throw Error(all_parts("chain oracle: found ", labels, " labels, whose transitions take ",
                          std::llround(needed / kGigabyte), " GB, expected what fits into this machine's ",
                          std::llround(present / kGigabyte), " GB"),
                ErrorKind::kInput);
}

}  // namespace

ChainOracle::Sequences::Sequences(std::span<const Index> boundaries, std::span<const Index> labels)
    : begin(boundaries), gold(labels), chunk_begin(instance_chunks(boundaries)) {
  const auto length = [&](Index i) { return begin[i + std::size_t{1}] - begin[i]; };
  by_length.resize(begin.size() - 1);
  for (std::size_t c = 0; c + 1 < chunk_begin.size(); ++c) {
    const auto first = by_length.begin() + static_cast<std::ptrdiff_t>(chunk_begin[c]),
               last = by_length.begin() + static_cast<std::ptrdiff_t>(chunk_begin[c + 1]);
    const Index offset = chunk_begin[c];
    std::iota(first, last, Index{0});
    std::stable_sort(first, last, [&](Index a, Index b) { return length(a + offset) > length(b + offset); });
  }
}

ChainOracle::ChainOracle(const Dataset& data)
    : ExactOracle(data, "chain oracle: a gold label is unknown"), all_(begin_, gold_) {
  if (outputs_ == 0) throw Error("chain oracle: no labels");
  if (data.hierarchy != nullptr)
    throw Error("chain oracle: found labels that are nodes of a hierarchy, expected labels side by side");
  require_memory(outputs_);
  for (std::size_t i = 0; i + 1 < data.begin.size(); ++i)
    if (data.begin[i] == data.begin[i + 1]) throw Error("chain oracle: sequence ", i, " is empty");
  labels_.resize(outputs_);
  std::iota(labels_.begin(), labels_.end(), Index{0});
  gold_known_ = std::ranges::all_of(gold_, [&](Index y) { return y < outputs_; });
}

std::vector<double> ChainOracle::gold_extra(const Parallel& parallel) const {
  require_gold();
  std::vector<double> count(extra_weights(), 0.0);
  for (std::size_t i = 0; i < instances(); ++i)
    for (Index p = begin_[i]; p + 1 < begin_[i + 1]; ++p)
      count[std::size_t{gold_[p]} * outputs_ + gold_[p + 1]] += 1.0;
  add_processes(parallel, count);
  return count;
}

/// This thread's buffers. They live as long as the thread, since the next call mostly needs the same sizes.
ChainOracle::Buffers& ChainOracle::buffers(std::size_t rows, std::size_t instances, bool backward) const {
  static thread_local Buffers work;
  const std::size_t width = padded(outputs_);
  work.score.resize(padded(rows) * width);
  work.message.resize(padded(rows) * width);
  work.loss.resize(instances);
  for (AlignedVector<double>* numbers : {&work.top, &work.scale, &work.inverse})
    numbers->resize(padded(rows));
  work.left.resize(kChainEdges);
  work.right.resize(kChainEdges);
  if (backward) {
    work.posterior.resize(padded(rows) * width);
    work.pair.resize(width * width);
  }
  return work;
}

/// A chunk that writes to these buffers, for the forward pass only.
ChainChunk ChainOracle::chunk_in(Buffers& work) const {
  return {.outputs = outputs_,
          .width = padded(outputs_),
          .top = work.top.data(),
          .scale = work.scale.data(),
          .inverse = work.inverse.data(),
          .message = work.message.data(),
          .weight = work.score.data(),
          .left = work.left.data(),
          .right = work.right.data()};
}

ChainOracle::Transitions ChainOracle::transitions(const ScorePoint& at) const {
  Transitions m;
  m.outputs = outputs_;
  m.width = padded(outputs_);
  m.score = at.extra();
  m.largest = *std::ranges::max_element(m.score);
  m.smallest = *std::ranges::min_element(m.score);
  if (m.linear()) {
    m.forward.assign(m.width * m.width, 0.0);
    m.backward.assign(m.width * m.width, 0.0);
    for (std::size_t i = 0; i < outputs_; ++i)
      for (std::size_t j = 0; j < outputs_; ++j)
        m.forward[i * m.width + j] = m.backward[j * m.width + i] =
            std::exp(m.score[i * outputs_ + j] - m.largest);
  }
  return m;
}

/// Infers instances [first, last): one instance, or a chunk. If `losses`, fills work.loss. If `backward` is
/// given, also fills the posteriors and backward->pair.
void ChainOracle::infer_rows(const Sequences& on, const Transitions& m, const ScorePoint& at, Buffers& work,
                             std::size_t first, std::size_t last, bool losses,
                             const Backward* backward) const {
  if (!m.linear()) {
    score_rows(on, at, first, last, work.score);
    return infer_log(on, m, work, first, last, losses, backward);
  }
  infer_linear(on, m, at, work, first, last, backward);
  if (!losses) return;
  const double* const base = at.base.values.data();
  const double* const along = at.direction != nullptr ? at.direction->values.data() : nullptr;
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t begin = on.begin[i], row = begin - on.row_origin(first);
    const std::span<const Index> gold = on.gold.subspan(begin, on.begin[i + 1] - begin);
    const auto score = [&](std::size_t t) {
      const std::size_t own = gold[t] * at.base.stride + begin + t;
      return along == nullptr ? base[own] : base[own] + at.alpha * along[own];
    };
    work.loss[i - first] = chain_loss(gold, score, m.score.data(), outputs_, m.largest, work.top.data() + row,
                                      work.scale.data() + row);
  }
}

/// Writes the scores of instances [first, last) as rows by position.
void ChainOracle::score_rows(const Sequences& on, const ScorePoint& at, std::size_t first, std::size_t last,
                             AlignedVector<double>& rows) const {
  const std::size_t origin = on.row_origin(first), n = on.begin[last] - origin;
  rows.resize(padded(n) * padded(outputs_));
  make_rows(at, outputs_, origin, n, rows.data());
}

/// Rabiner's scaling: alpha_t sums to one, and c_t is the factor taken out at t.
void ChainOracle::infer_linear(const Sequences& on, const Transitions& m, const ScorePoint& at, Buffers& work,
                               std::size_t first, std::size_t last, const Backward* backward) const {
  static constexpr Index kAlone = 0;
  const std::size_t origin = on.row_origin(first);
  ChainChunk chunk = chunk_in(work);
  chunk.begin = on.begin.data() + first;
  chunk.origin = origin;
  chunk.sequences = last - first;
  chunk.by_length = last - first == 1 ? &kAlone : on.by_length.data() + first;
  chunk.base = at.base.values.data() + origin;
  if (at.direction != nullptr) chunk.direction = at.direction->values.data() + origin;
  chunk.alpha = at.alpha;
  chunk.stride = at.base.stride;
  chunk.forward = m.forward.data();
  chunk.backward = m.backward.data();
  if (backward != nullptr) {
    if (backward->minus_gold) chunk.gold = on.gold.data() + origin;
    chunk.posterior = work.posterior.data();
    chunk.pair = backward->pair;
    if (backward->residual != nullptr) {
      chunk.residual = backward->residual->values.data() + origin;
      chunk.residual_stride = backward->residual->stride;
    }
    if (Kept* const kept = backward->kept; kept != nullptr) {
      const std::size_t kept_at = backward->kept_row * m.width;
      chunk.message = kept->message.data() + kept_at;
      chunk.back = kept->back.data() + kept_at;
      chunk.ratio = kept->ratio.data() + kept_at;
    }
  }
  chain_kernels().forward_backward(chunk);
}

/// Does what ChainKernels::forward_backward() does in the log domain, from rows in work.score. Slow, but
/// works for any finite scores.
void ChainOracle::infer_log(const Sequences& on, const Transitions& m, Buffers& work, std::size_t first,
                            std::size_t last, bool losses, const Backward* backward) const {
  const KernelTable& kernels = kernels_in_use();
  const std::size_t width = m.width, origin = on.row_origin(first), labels = outputs_;
  AlignedVector<double> pair(backward != nullptr ? width * width : 0, 0.0);  // of up to kChainEdges edges
  if (backward != nullptr) std::fill_n(backward->pair, width * width, 0.0);
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t row = (on.begin[i] - origin) * width, length = on.begin[i + 1] - on.begin[i];
    const Index* const gold =
        losses || (backward != nullptr && backward->minus_gold) ? on.gold.data() + on.begin[i] : nullptr;
    const Conditionals model = conditionals(work.score.data() + row, m.score, length, gold);
    work.loss[i - first] = model.loss;
    if (backward == nullptr) continue;
    for (std::size_t t = 0; t < length; ++t) {
      stop_point();
      double* const posterior = work.posterior.data() + row + t * width;
      std::copy_n(model.marginal.data() + t * width, width, posterior);
      for (std::size_t c = 0; c < labels && t + 1 < length; ++c)
        kernels.add_scaled(pair.data() + c * width, posterior[c],
                           model.next.data() + (t * labels + c) * width, width);
      if (backward->minus_gold) {
        if (t + 1 < length) pair[gold[t] * width + gold[t + 1]] -= 1.0;
        // As in the kernel: minus the sum of the others.
        posterior[gold[t]] = 0.0;
        posterior[gold[t]] = -std::accumulate(posterior, posterior + labels, 0.0);
      }
      if ((t + 1) % kChainEdges != 0 && t + 1 < length) continue;
      kernels.add_scaled(backward->pair, 1.0, pair.data(), pair.size());
      std::ranges::fill(pair, 0.0);
    }
  }
}

double ChainOracle::infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const {
  return infer_on(all_, at, residual, parallel);
}

double ChainOracle::infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                               const Parallel& parallel) const {
  std::vector<Index> begin{0}, gold;
  for (const Index i : instances) {
    const std::span<const Index> more = gold_of(i);
    gold.insert(gold.end(), more.begin(), more.end());
    begin.push_back(static_cast<Index>(gold.size()));
  }
  return infer_on(Sequences(begin, gold), at, residual, parallel);
}

double ChainOracle::infer_on(const Sequences& on, const ScorePoint& at, Residual* residual,
                             const Parallel& parallel, Kept* kept) const {
  require_gold();
  const Transitions m = transitions(at);
  if (kept != nullptr) prepare(at, m, *kept);
  const std::size_t width = m.width;
  const std::size_t pair_size = residual != nullptr ? width * width : 0;
  // Sums of pair marginals, then the loss.
  AlignedVector<double> sum(pair_size + 1);
  sum_chunks(parallel, on.chunks(), sum.size(), sum.data(), [&](std::size_t chunk, double* part) {
    const auto [first, last, begin, end, origin] = on.chunk(chunk);
    Backward backward{part, true, residual};
    if (kept != nullptr && m.linear()) {
      backward.kept = kept;
      backward.kept_row = kept->first_row[chunk];
    }
    Buffers& work = buffers(end - origin, last - first, residual != nullptr);
    infer_rows(on, m, at, work, first, last, true, residual != nullptr ? &backward : nullptr);
    CompensatedSum loss;
    for (std::size_t i = first; i < last; ++i) loss.add(work.loss[i - first]);
    part[pair_size] = loss.value();
    if (residual != nullptr)
      residual->set_rows(begin, end - begin, work.posterior.data() + (begin - origin) * width);
  });

  if (residual != nullptr)
    for (std::size_t i = 0; i < outputs_; ++i)
      std::copy_n(sum.data() + i * width, outputs_, residual->extra.data() + i * outputs_);
  return sum[pair_size];
}

void ChainOracle::instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                                 const Parallel& parallel) const {
  require_gold();
  const Transitions m = transitions({scores});
  const std::size_t width = m.width, labels = outputs_;
  parallel.for_each(instances(), [&](std::size_t i) {
    const std::size_t origin = all_.row_origin(i), end = all_.begin[i + 1] - origin;
    Buffers& work = buffers(end, 1, true);
    AlignedVector<double> s;
    score_rows(all_, {scores}, i, i + 1, s);
    const Backward backward{work.pair.data(), true};
    infer_rows(all_, m, {scores}, work, i, i + 1, true, &backward);
    // The expected score, relative to that of the gold structure.
    CompensatedSum expected;
    for (std::size_t t = all_.begin[i] - origin; t < end; ++t) {
      const double gold = s[t * width + all_.gold[origin + t]];
      for (std::size_t k = 0; k < labels; ++k)
        expected.add(work.posterior[t * width + k] * (s[t * width + k] - gold));
    }
    for (std::size_t a = 0; a < labels; ++a)
      for (std::size_t b = 0; b < labels; ++b)
        expected.add(work.pair[a * width + b] * m.score[a * labels + b]);
    terms[i].log_gold = -work.loss[0];
    terms[i].entropy = work.loss[0] - expected.value();
  });
}

void ChainOracle::decode(const Scores& scores, Decoding decoding, std::span<Index> outputs,
                         const Parallel& parallel) const {
  const std::size_t width = padded(outputs_);
  if (decoding == Decoding::kStructure) {
    parallel.for_each(all_.chunks(), [&](std::size_t chunk) {
      const auto [first, last, begin, end, origin] = all_.chunk(chunk);
      AlignedVector<double> rows;
      score_rows(all_, {scores}, first, last, rows);
      for (std::size_t i = first; i < last; ++i)
        viterbi(rows.data() + (begin_[i] - origin) * width, scores.extra, nullptr, 0.0,
                outputs.subspan(begin_[i], length(i)));
    });
    return;
  }
  const Transitions m = transitions({scores});
  parallel.for_each(all_.chunks(), [&](std::size_t chunk) {
    const auto [first, last, begin, end, origin] = all_.chunk(chunk);
    Buffers& work = buffers(end - origin, last - first, true);
    const Backward backward{work.pair.data(), false};
    infer_rows(all_, m, {scores}, work, first, last, false, &backward);
    for (std::size_t p = begin; p < end; ++p) {
      const double* posterior = work.posterior.data() + (p - origin) * width;
      outputs[p] = static_cast<Index>(std::max_element(posterior, posterior + outputs_) - posterior);
    }
  });
}

OracleInfo chain_info() {
  const auto pair = [](std::size_t weight, const Dataset& data) -> std::vector<std::string> {
    const std::vector<std::string>& labels = data.vocabulary->outputs;
    return {labels[weight / labels.size()], labels[weight % labels.size()]};
  };
  return oracle_info<ChainOracle>(
      "chain", "linear chain over each sequence: forward-backward, Viterbi; K*K transition weights",
      "Zhong et al. 2014, appendix D.1", {"pair", {"label", "label"}, pair});
}

}  // namespace proxbench
