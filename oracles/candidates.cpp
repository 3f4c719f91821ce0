/// The candidates oracle: re-ranking (Collins 2000; Andrew and Gao 2007, section 4). An instance is a group,
/// its positions are the candidates, and its structure is the chosen candidate:
///
///     p(y|x) = exp(s(y)) / sum of exp(s(y')) over the candidates y' of the group
///
/// There is one output, and a candidate's score is w . features. In gold structures and predictions, the
/// chosen candidate has the output 0 and all others have kNoOutput.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "oracles/choice_oracle.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

class CandidatesOracle final : public ChoiceOracle, public CovarianceOracle {
 public:
  /// Takes groups and gold candidates. Throws Error unless there is one output, no hierarchy, and each group
  /// has at least one candidate and at most one gold candidate. Groups of test data may have no gold
  /// candidate.
  explicit CandidatesOracle(const Dataset& data)
      : ChoiceOracle(data, "candidates oracle: a group has no gold candidate"),
        all_{begin_, {}, instance_chunks(begin_)} {
    if (data.outputs() != 1)
      throw Error("candidates oracle: found ", data.outputs(),
                  " outputs, expected one (a format of candidates in groups, such as rerank)");
    if (data.hierarchy != nullptr) throw Error("candidates oracle: found a hierarchy, expected none");
    for (std::size_t i = 0; i < data.instances(); ++i) {
      if (data.begin[i] == data.begin[i + 1]) throw Error("candidates oracle: group ", i, " is empty");
      Index gold = kUnknownOutput;
      for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p) {
        if (gold_[p] != 0) continue;
        if (gold != kUnknownOutput)
          throw Error("candidates oracle: group ", i, " has two gold candidates, expected one at most");
        gold = p;
      }
      all_.gold.push_back(gold);
      gold_known_ = gold_known_ && gold != kUnknownOutput;
    }
  }

  std::span<const Index> gold_outputs(Index position) const override {
    return {&gold_[position], gold_[position] == 0 ? std::size_t{1} : std::size_t{0}};
  }

  const CovarianceOracle* covariance() const override { return this; }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    return infer_on(all_, at, residual, parallel);
  }

  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override {
    std::vector<Index> begin{0};
    Groups some;
    for (const Index i : instances) {
      some.gold.push_back(all_.gold[i] == kUnknownOutput ? kUnknownOutput
                                                         : begin.back() + all_.gold[i] - begin_[i]);
      begin.push_back(begin.back() + static_cast<Index>(length(i)));
    }
    some.begin = begin;
    some.chunk_begin = instance_chunks(begin);
    return infer_on(some, at, residual, parallel);
  }

  /// One addition of a cost and one comparison per candidate.
  double max_flops() const override { return 2.0 * static_cast<double>(positions()); }
  double cost_of(Index instance, Cost, std::span<const Index> outputs) const override {
    const auto chosen = std::ranges::count(outputs, Index{0});
    if (chosen != 1 || std::ranges::count(outputs, kNoOutput) + 1 != std::ssize(outputs))
      throw Error("instance ", instance, ": found ", chosen, " chosen candidates, expected one");
    return number_of(outputs) == number_of(gold_of(instance)) ? 0.0 : 1.0;
  }
  void scores_of(Index instance, const double* scores, std::span<const double>,
                 std::span<const Index> outputs, std::span<double> out) const override {
    const std::size_t gold = number_of(gold_of(instance)), n = outputs.size() / out.size();
    for (std::size_t a = 0; a < out.size(); ++a)
      out[a] = scores[number_of(outputs.subspan(a * n, n)) * padded(1)] - scores[gold * padded(1)];
  }

  std::span<const Index> outputs_on(Index output) const override {
    static constexpr Index kOn = 0;
    return {&kOn, output == kOn ? std::size_t{1} : std::size_t{0}};
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms,
                      const Parallel& parallel) const override {
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

  /// Per candidate: a subtraction of the largest score and an addition. The residual needs a product more.
  double inference_flops(std::size_t, bool residual) const override {
    return (residual ? 3.0 : 2.0) * static_cast<double>(positions());
  }
  /// A group of n candidates takes a sum of n exponentials, of 4 roundings each, and a logarithm. Its
  /// probabilities divide by that sum, and the residual of gold is minus the sum of the others.
  std::optional<InferenceRounding> sum_rounding(Index instance) const override {
    constexpr double kOfCandidate = 16.0;
    const auto n = static_cast<double>(length(instance));
    return InferenceRounding{.of_scores = kOfCandidate,
                             .of_positions = kOfCandidate,
                             .of_losses = 2.0,
                             .drift = 2.0 * n + kOfCandidate};
  }
  std::optional<InferenceRounding> max_rounding() const override { return rounding_of_choice(1); }
  void expectation(Index instance, const double* beliefs, double* rows, std::span<double>) const override {
    const std::size_t n = length(instance), width = padded(1);
    std::fill(rows, rows + n * width, 0.0);
    for (std::size_t y = 0; y < n; ++y) rows[y * width] = beliefs[y];
  }

  void covariances(const Scores& scores, std::size_t instance, const LocalFeatures& features,
                   HalfMatrix& out) const override {
    // Cov(a, b) = sum over candidates of p(y) a(y) b(y), minus the product of the means.
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

  /// Keeps the probabilities.
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override {
    if (kept == nullptr) kept = std::make_unique<Kept>();
    return infer_on(all_, at, &residual, parallel, static_cast<Kept*>(kept.get()));
  }

  void derivative(const Messages& at, const Scores& direction, Residual& out,
                  const Parallel& parallel) const override {
    // d p(y) = p(y) * (d(y) - E[d]).
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

  /// Both decodings return the best candidate of each group, or the first of several equal ones.
  void decode(const Scores& scores, Decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    const double* score = scores.column(0);
    parallel.for_each(all_.chunk_begin.size() - 1, [&](std::size_t chunk) {
      for (std::size_t i = all_.chunk_begin[chunk]; i < all_.chunk_begin[chunk + 1]; ++i) {
        const Index begin = all_.begin[i], end = all_.begin[i + 1];
        std::fill(outputs.begin() + begin, outputs.begin() + end, kNoOutput);
        outputs[static_cast<std::size_t>(std::max_element(score + begin, score + end) - score)] = 0;
      }
    });
  }

 private:
  /// Consecutive groups. The boundaries are borrowed.
  struct Groups {
    std::span<const Index> begin;
    std::vector<Index> gold;         ///< position of each group's gold candidate, or kUnknownOutput
    std::vector<Index> chunk_begin;  ///< groups cut into chunks of about equal positions
  };
  /// The weights exp(s - largest) of some consecutive groups, and their sums. The buffers live as long as the
  /// thread.
  struct Softmax {
    AlignedVector<double> weight;            ///< by position, starting at the first group
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
        work.gold[i] = gold == kUnknownOutput ? -kInfinity : weight[gold - origin];
      }
      std::fill(weight + n, weight + padded(n), -kInfinity);
      kernels_in_use().exponentiate(weight, padded(n));
      for (std::size_t i = 0; i < groups; ++i) {
        double sum = 0.0;
        for (std::size_t p = on.begin[first + i]; p < on.begin[first + i + 1]; ++p) sum += weight[p - origin];
        work.sum[i] = sum;
      }
      return work;
    }
  };
  struct Kept final : Messages {
    AlignedVector<double> probability;  ///< by position
  };
  /// If `kept` is not null, stores the probabilities there.
  double infer_on(const Groups& on, const ScorePoint& at, Residual* residual, const Parallel& parallel,
                  Kept* kept = nullptr) const {
    require_gold();
    if (kept != nullptr) kept->probability.resize(on.begin.back());
    return sum_chunks(parallel, on.chunk_begin.size() - 1, [&](std::size_t chunk) {
      const std::size_t first = on.chunk_begin[chunk], last = on.chunk_begin[chunk + 1],
                        origin = on.begin[first];
      const Softmax& softmax = Softmax::of(on, at, first, last);
      CompensatedSum loss;
      for (std::size_t i = first; i < last; ++i) {
        const double sum = softmax.sum[i - first];
        loss.add(std::log(sum) - softmax.gold[i - first]);
        if (residual == nullptr) continue;
        double* const r = residual->column(0);
        for (std::size_t p = on.begin[i]; p < on.begin[i + 1]; ++p) r[p] = softmax.weight[p - origin] / sum;
        if (kept != nullptr) std::copy(r + on.begin[i], r + on.begin[i + 1], &kept->probability[on.begin[i]]);
        // The probability of gold minus 1 is minus the sum of the others, which has no rounding of 1.
        r[on.gold[i]] = 0.0;
        r[on.gold[i]] = -std::accumulate(r + on.begin[i], r + on.begin[i + 1], 0.0);
      }
      return loss.value();
    });
  }

  std::size_t alternatives(Index instance) const override { return length(instance); }
  std::size_t number_of(std::span<const Index> structure) const override {
    return static_cast<std::size_t>(std::ranges::find(structure, Index{0}) - structure.begin());
  }
  void write(std::size_t candidate, std::span<Index> structure) const override {
    std::ranges::fill(structure, kNoOutput);
    structure[candidate] = 0;
  }

  void list_scores(const double* rows, std::size_t n, AlignedVector<double>& out) const override {
    out.resize(n);
    for (std::size_t y = 0; y < n; ++y) out[y] = rows[y * padded(1)];
  }

  Groups all_;
};
}  // namespace

OracleInfo candidates_info() {
  return oracle_info<CandidatesOracle>(
      "candidates",
      "re-ranking: one of the candidates of each group, by a softmax of w . features; one output",
      "Collins 2000; Andrew and Gao 2007, section 4");
}

}  // namespace proxbench
