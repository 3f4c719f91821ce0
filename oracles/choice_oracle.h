#pragma once
/// Oracles whose structures can be listed: each instance has one of several alternatives, by a softmax of
/// their scores.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernels/kernel_table.h"
#include "oracles/exact_oracle.h"

namespace proxbench {

/// Computes beliefs, loss-augmented maxima and the n best from a list of all alternatives' scores. Each
/// alternative except the gold one costs 1.
class ChoiceOracle : public ExactOracle {
 public:
  /// One belief per alternative, all with sign +.
  Size belief_size(Index instance) const override { return {padded(alternatives(instance)), 0}; }
  double infer_beliefs(Index instance, const double* scores, std::span<const double>,
                       double* log_beliefs) const override {
    require_gold();
    static thread_local AlignedVector<double> score, weight;
    const std::size_t n = alternatives(instance);
    list_scores(scores, n, score);
    const double largest = *std::max_element(score.data(), score.data() + n);
    weight.assign(padded(n), -kInfinity);
    for (std::size_t a = 0; a < n; ++a) weight[a] = score[a] - largest;
    kernels_in_use().exponentiate(weight.data(), weight.size());
    // The largest score is subtracted first, since log Z would have the rounding of large scores.
    const double log_sum = std::log(std::accumulate(weight.data(), weight.data() + n, 0.0));
    for (std::size_t a = 0; a < n; ++a) log_beliefs[a] = std::min(score[a] - largest - log_sum, 0.0);
    std::fill(log_beliefs + n, log_beliefs + padded(n), 0.0);
    return log_sum + (largest - score[number_of(gold_of(instance))]);
  }

  void gold_beliefs(Index instance, double score, double* log_beliefs) const override {
    require_gold();
    const std::size_t n = alternatives(instance);
    // Z relative to the gold alternative: 1 + (n - 1) * exp(-score).
    const double log_partition = std::log1p((static_cast<double>(n) - 1.0) * std::exp(-score));
    std::fill(log_beliefs, log_beliefs + n, -score - log_partition);
    std::fill(log_beliefs + n, log_beliefs + padded(n), 0.0);
    log_beliefs[number_of(gold_of(instance))] = -log_partition;
  }

  void structure_beliefs(Index instance, std::span<const Index> outputs, double* beliefs) const override {
    const std::size_t n = alternatives(instance);
    std::fill(beliefs, beliefs + n, 0.0);
    std::fill(beliefs + n, beliefs + padded(n), 1.0);
    beliefs[number_of(outputs)] = 1.0;
  }

  void make_consistent(Index instance, double* beliefs) const override {
    const std::span<double> p(beliefs, alternatives(instance));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= sum;
  }

  double inconsistency(Index instance, const double* beliefs) const override {
    const std::span<const double> p(beliefs, alternatives(instance));
    const double off = std::abs(std::accumulate(p.begin(), p.end(), 0.0) - 1.0);
    return std::max(off, -*std::ranges::min_element(p));
  }

  /// Of equal alternatives, returns the first.
  LossAndCost best_structure(Index instance, Cost cost, const double* scores, std::span<const double> extra,
                             std::span<Index> outputs) const override {
    require_gold();
    static thread_local AlignedVector<double> score;
    const std::size_t n = alternatives(instance), gold = number_of(gold_of(instance));
    list_scores(scores, n, score);
    const auto augmented = [&](std::size_t a) { return score[a] + (a == gold ? 0.0 : 1.0); };
    std::size_t best = 0;
    for (std::size_t a = 1; a < n; ++a)
      if (augmented(a) > augmented(best)) best = a;
    write(best, outputs);
    return value_of(instance, cost, scores, extra, outputs);
  }

  /// Lists alternatives by descending score. Alternatives of equal score keep their order.
  void nbest(const Scores& scores, Index instance, std::size_t n, List& out) const override {
    static thread_local AlignedVector<double> rows, score;
    static thread_local std::vector<std::size_t> order;
    const std::size_t size = alternatives(instance), positions = length(instance);
    rows.resize(positions * padded(outputs_));
    make_rows({scores}, outputs_, begin_[instance], positions, rows.data());
    list_scores(rows.data(), size, score);
    order.resize(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(n, size));
    std::partial_sort(order.begin(), end, order.end(), [](std::size_t a, std::size_t b) {
      return score[a] > score[b] || (score[a] == score[b] && a < b);
    });
    order.erase(end, order.end());
    out.outputs.resize(order.size() * positions);
    out.score.clear();
    for (std::size_t r = 0; r < order.size(); ++r) {
      write(order[r], std::span(out.outputs).subspan(r * positions, positions));
      out.score.push_back(score[order[r]]);
    }
  }

 protected:
  using ExactOracle::ExactOracle;
  /// MaxOracle::max_rounding() if the score of an alternative adds up `path` numbers: such sums find the best
  /// alternative, and its loss sums 2 * `path` numbers.
  static InferenceRounding rounding_of_choice(std::size_t path) {
    return {.of_scores = 8.0 * static_cast<double>(path) + 16.0, .of_positions = 16.0, .of_losses = 2.0};
  }
  virtual std::size_t alternatives(Index instance) const = 0;
  /// The number of the alternative that equals `structure`.
  virtual std::size_t number_of(std::span<const Index> structure) const = 0;
  virtual void write(std::size_t alternative, std::span<Index> structure) const = 0;
  /// Sets out[a] to the score of alternative a < n. `rows` are laid out as in InstanceOracle.
  virtual void list_scores(const double* rows, std::size_t n, AlignedVector<double>& out) const = 0;
};

}  // namespace proxbench
