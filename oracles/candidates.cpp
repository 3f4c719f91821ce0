#include "oracles/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace

/// The weights exp(s - largest) of some groups that follow each other, and what they sum to. Buffers live as
/// long as the thread.
struct CandidatesOracle::Softmax {
  AlignedVector<double> weight;            ///< by position, from the first group's first on
  std::vector<double> sum, largest, gold;  ///< by group; gold: s - largest of the gold candidate

  static Softmax& of(const Groups& on, const ScorePoint& at, std::size_t first, std::size_t last) {
    static thread_local Softmax work;
    const std::size_t origin = on.begin[first], n = on.begin[last] - origin, groups = last - first;
    work.weight.resize(padded(n));
    for (std::vector<double>* numbers : {&work.sum, &work.largest, &work.gold}) numbers->resize(groups);
    double* const weight = work.weight.data();
    const double* base = at.base.column(0) + origin;
    std::copy(base, base + n, weight);
    if (at.direction != nullptr)
      kernels_in_use().add_scaled(weight, at.alpha, at.direction->column(0) + origin, n);
    for (std::size_t i = 0; i < groups; ++i) {
      double* const begin = weight + (on.begin[first + i] - origin);
      double* const end = weight + (on.begin[first + i + 1] - origin);
      const double largest = *std::max_element(begin, end);
      for (double* s = begin; s != end; ++s) *s -= largest;
      work.largest[i] = largest;
      const Index gold = on.gold[first + i];
      work.gold[i] = gold == kUnknownOutput ? kMinusInfinity : weight[gold - origin];
    }
    std::fill(weight + n, weight + padded(n), kMinusInfinity);
    kernels_in_use().exponentiate(weight, padded(n));
    for (std::size_t i = 0; i < groups; ++i) {
      double sum = 0.0;
      for (std::size_t p = on.begin[first + i]; p < on.begin[first + i + 1]; ++p) sum += weight[p - origin];
      work.sum[i] = sum;
    }
    return work;
  }
};

void CandidatesOracle::Groups::cut() {
  chunk_begin = instance_chunks(begin);
}

CandidatesOracle::CandidatesOracle(const Dataset& data) : gold_(data.gold) {
  if (data.outputs() != 1)
    throw Error("candidates oracle: found " + std::to_string(data.outputs()) +
                " outputs, expected one (a format of candidates in groups, such as rerank)");
  if (data.hierarchy != nullptr) throw Error("candidates oracle: found a hierarchy, expected none");
  all_.begin = data.begin;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    if (data.begin[i] == data.begin[i + 1])
      throw Error("candidates oracle: group " + std::to_string(i) + " is empty");
    Index gold = kUnknownOutput;
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p) {
      if (gold_[p] != 0) continue;
      if (gold != kUnknownOutput)
        throw Error("candidates oracle: group " + std::to_string(i) +
                    " has two gold candidates, expected one at most");
      gold = p;
    }
    all_.gold.push_back(gold);
    gold_known_ = gold_known_ && gold != kUnknownOutput;
  }
  all_.cut();
}

std::span<const Index> CandidatesOracle::gold_outputs(Index position) const {
  return {&gold_[position], gold_[position] == 0 ? std::size_t{1} : std::size_t{0}};
}

void CandidatesOracle::require_gold() const {
  if (!gold_known_)
    throw Error("candidates oracle: a group has no gold candidate, so the likelihood is not defined");
}

double CandidatesOracle::infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const {
  return infer_on(all_, at, residual, parallel);
}

double CandidatesOracle::infer_some(std::span<const Index> instances, const ScorePoint& at,
                                    Residual* residual, const Parallel& parallel) const {
  Groups some;
  for (const Index i : instances) {
    some.gold.push_back(all_.gold[i] == kUnknownOutput ? kUnknownOutput
                                                       : some.begin.back() + all_.gold[i] - all_.begin[i]);
    some.begin.push_back(some.begin.back() + all_.begin[i + std::size_t{1}] - all_.begin[i]);
  }
  some.cut();
  return infer_on(some, at, residual, parallel);
}

double CandidatesOracle::infer_on(const Groups& on, const ScorePoint& at, Residual* residual,
                                  const Parallel& parallel, Kept* kept) const {
  require_gold();
  if (kept != nullptr) kept->probability.resize(on.begin.back());
  return sum_chunks(parallel, on.chunk_begin.size() - 1, [&](std::size_t chunk) {
    const std::size_t first = on.chunk_begin[chunk], last = on.chunk_begin[chunk + 1],
                      origin = on.begin[first];
    const Softmax& softmax = Softmax::of(on, at, first, last);
    double loss = 0.0;
    for (std::size_t i = first; i < last; ++i) {
      const double sum = softmax.sum[i - first];
      loss += std::log(sum) - softmax.gold[i - first];
      if (residual == nullptr) continue;
      double* const r = residual->column(0);
      for (std::size_t p = on.begin[i]; p < on.begin[i + 1]; ++p) r[p] = softmax.weight[p - origin] / sum;
      if (kept != nullptr) std::copy(r + on.begin[i], r + on.begin[i + 1], &kept->probability[on.begin[i]]);
      r[on.gold[i]] -= 1.0;
    }
    return loss;
  });
}

double CandidatesOracle::infer_instance(Index instance, const double* scores, std::span<const double>,
                                        double* residual, std::span<double>,
                                        InstanceOracle::Workspace& work) const {
  const std::size_t n = size_of(instance), width = padded(1);
  for (OutputColumns* columns : {&work.scores, &work.residual}) {
    columns->stride = padded(n);
    columns->resize_columns(1);
  }
  const KernelTable& kernels = kernels_in_use();
  kernels.rows_to_columns(scores, width, 1, 0, n, work.scores.values.data(), work.scores.stride);
  const double loss =
      infer_some({&instance, 1}, {work.scores}, residual != nullptr ? &work.residual : nullptr, Parallel());
  if (residual != nullptr)
    kernels.columns_to_rows(work.residual.values.data(), work.residual.stride, 1, 0, n, residual, width);
  return loss;
}

double CandidatesOracle::infer_and_keep(const ScorePoint& at, Residual& residual,
                                        std::unique_ptr<Messages>& kept, const Parallel& parallel) const {
  if (kept == nullptr) kept = std::make_unique<Kept>();
  return infer_on(all_, at, &residual, parallel, static_cast<Kept*>(kept.get()));
}

/// d p(y) = p(y) * (d(y) - E[d]).
void CandidatesOracle::derivative(const Messages& at, const Scores& direction, Residual& out,
                                  const Parallel& parallel) const {
  const double* const probability = static_cast<const Kept&>(at).probability.data();
  const double* const d = direction.column(0);
  double* const r = out.column(0);
  parallel.for_each(all_.chunk_begin.size() - 1, [&](std::size_t chunk) {
    for (std::size_t i = all_.chunk_begin[chunk]; i < all_.chunk_begin[chunk + 1]; ++i) {
      const std::size_t begin = all_.begin[i], end = all_.begin[i + 1];
      double expected = 0.0;
      for (std::size_t p = begin; p < end; ++p) expected += probability[p] * d[p];
      for (std::size_t p = begin; p < end; ++p) r[p] = probability[p] * (d[p] - expected);
    }
  });
}

double CandidatesOracle::infer_beliefs(Index instance, const double* scores, std::span<const double>,
                                       double* log_beliefs) const {
  require_gold();
  static thread_local AlignedVector<double> weight;
  const std::size_t n = size_of(instance), width = padded(1);
  double largest = kMinusInfinity;
  for (std::size_t y = 0; y < n; ++y) largest = std::max(largest, scores[y * width]);
  weight.assign(padded(n), kMinusInfinity);
  for (std::size_t y = 0; y < n; ++y) weight[y] = scores[y * width] - largest;
  kernels_in_use().exponentiate(weight.data(), weight.size());
  double sum = 0.0;
  for (std::size_t y = 0; y < n; ++y) sum += weight[y];
  // The largest is taken off first: log Z has the rounding of large scores.
  const double log_sum = std::log(sum);
  for (std::size_t y = 0; y < n; ++y) log_beliefs[y] = std::min(scores[y * width] - largest - log_sum, 0.0);
  std::fill(log_beliefs + n, log_beliefs + padded(n), 0.0);
  return log_sum + (largest - scores[(all_.gold[instance] - all_.begin[instance]) * width]);
}

void CandidatesOracle::gold_beliefs(Index instance, double score, double* log_beliefs) const {
  require_gold();
  const std::size_t n = size_of(instance);
  // Relative to the gold candidate: 1 + (n - 1) * exp(-score).
  const double log_partition = std::log1p((static_cast<double>(n) - 1.0) * std::exp(-score));
  std::fill(log_beliefs, log_beliefs + n, -score - log_partition);
  std::fill(log_beliefs + n, log_beliefs + padded(n), 0.0);
  log_beliefs[all_.gold[instance] - all_.begin[instance]] = -log_partition;
}

void CandidatesOracle::structure_beliefs(Index, std::span<const Index> outputs, double* beliefs) const {
  for (std::size_t y = 0; y < outputs.size(); ++y) beliefs[y] = outputs[y] == 0 ? 1.0 : 0.0;
  std::fill(beliefs + outputs.size(), beliefs + padded(outputs.size()), 1.0);
}

void CandidatesOracle::expectation(Index instance, const double* beliefs, double* rows,
                                   std::span<double>) const {
  const std::size_t n = size_of(instance), width = padded(1);
  std::fill(rows, rows + n * width, 0.0);
  for (std::size_t y = 0; y < n; ++y) rows[y * width] = beliefs[y];
}

void CandidatesOracle::make_consistent(Index instance, double* beliefs) const {
  const std::span<double> p(beliefs, size_of(instance));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
}

double CandidatesOracle::inconsistency(Index instance, const double* beliefs) const {
  const std::span<const double> p(beliefs, size_of(instance));
  const double off = std::abs(std::accumulate(p.begin(), p.end(), 0.0) - 1.0);
  return std::max(off, -*std::min_element(p.begin(), p.end()));
}

/// Cov(a, b) = sum over candidates of p(y) a(y) b(y), less the product of the means.
void CandidatesOracle::covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                                   HalfMatrix& out) const {
  out.clear(features.slots);
  const Softmax& softmax = Softmax::of(all_, {scores}, instance, instance + 1);
  const std::size_t n = all_.begin[instance + 1] - all_.begin[instance], width = padded(features.slots);
  AlignedVector<double> mean(width, 0.0);
  for (std::size_t y = 0; y < n; ++y) {
    const double p = softmax.weight[y] / softmax.sum[0];
    const std::span<const LocalFeatures::Entry> on(features.entry.data() + features.begin[y],
                                                   features.begin[y + 1] - features.begin[y]);
    for (const auto& a : on) {
      mean[a.slot] += p * a.value;
      double* const row = out.row(a.slot, width);
      for (const auto& b : on) row[b.slot] += 0.5 * p * a.value * b.value;
    }
  }
  for (std::size_t a = 0; a < features.slots; ++a)
    if (mean[a] != 0.0) kernels_in_use().add_scaled(out.row(a, width), -0.5 * mean[a], mean.data(), width);
}

void CandidatesOracle::instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                                      const Parallel& parallel) const {
  require_gold();
  parallel.for_each(all_.chunk_begin.size() - 1, [&](std::size_t chunk) {
    const std::size_t first = all_.chunk_begin[chunk], last = all_.chunk_begin[chunk + 1];
    const Softmax& softmax = Softmax::of(all_, {scores}, first, last);
    for (std::size_t i = first; i < last; ++i) {
      const double sum = softmax.sum[i - first], largest = softmax.largest[i - first];
      double expected = 0.0;
      for (std::size_t p = all_.begin[i]; p < all_.begin[i + 1]; ++p) {
        const double weight = softmax.weight[p - all_.begin[first]];
        if (weight > 0.0) expected += weight * (scores.column(0)[p] - largest);
      }
      terms[i].log_gold = softmax.gold[i - first] - std::log(sum);
      terms[i].entropy = std::log(sum) - expected / sum;
    }
  });
}

void CandidatesOracle::decode(const Scores& scores, Decoding, std::span<Index> outputs,
                              const Parallel& parallel) const {
  const double* score = scores.column(0);
  parallel.for_each(all_.chunk_begin.size() - 1, [&](std::size_t chunk) {
    for (std::size_t i = all_.chunk_begin[chunk]; i < all_.chunk_begin[chunk + 1]; ++i) {
      const Index begin = all_.begin[i], end = all_.begin[i + 1];
      std::fill(outputs.begin() + begin, outputs.begin() + end, kNoOutput);
      outputs[static_cast<std::size_t>(std::max_element(score + begin, score + end) - score)] = 0;
    }
  });
}

struct CandidatesOracle::Order final : NbestOracle::Workspace {
  std::vector<Index> candidate;  ///< within the group
};

std::unique_ptr<NbestOracle::Workspace> CandidatesOracle::make_workspace() const {
  return std::make_unique<Order>();
}

void CandidatesOracle::nbest(const Scores& scores, Index instance, std::size_t n, List& out,
                             NbestOracle::Workspace& work) const {
  std::vector<Index>& order = dynamic_cast<Order&>(work).candidate;
  const std::size_t size = size_of(instance), count = std::min(n, size);
  const double* const score = scores.column(0) + all_.begin[instance];
  order.resize(size);
  std::iota(order.begin(), order.end(), Index{0});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](Index a, Index b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
  out.outputs.assign(count * size, kNoOutput);
  out.score.resize(count);
  for (std::size_t r = 0; r < count; ++r) {
    out.outputs[r * size + order[r]] = 0;
    out.score[r] = score[order[r]];
  }
}

OracleInfo candidates_info() {
  return {"candidates",
          "re-ranking: one of the candidates of each group, by a softmax of w . features; one output",
          "Collins 2000; Andrew and Gao 2007, section 4",
          [](const Dataset& data) { return std::make_unique<CandidatesOracle>(data); },
          {Capability::kSum, Capability::kInstance, Capability::kBeliefs, Capability::kCovariance,
           Capability::kDerivative, Capability::kNbest, Capability::kMax, Capability::kInstanceMax}};
}

}  // namespace proxbench
