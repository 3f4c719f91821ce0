/// The labels oracle: multi-label data. An instance is one position, and its structure is a set of labels: a
/// binary variable y_k for each label, and for each pair of labels a weight that counts if both are on,
///
///     score(y) = sum_k y_k * s_k + sum over k < l of v_kl * y_k * y_l.
///
/// Finding the best set is NP-hard, so there is no max oracle. Instead the oracle solves the linear
/// relaxation over the local polytope exactly (oracles/roof_dual.h). The value of the relaxation is at least
/// the value of the best set.
#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/oracle.h"
#include "oracles/checked_marginals.h"
#include "oracles/exact_oracle.h"
#include "oracles/oracles.h"
#include "oracles/roof_dual.h"

namespace proxbench {
namespace {

class LabelsOracle final : public Oracle, public MaxOracle, public FactorOracle {
 public:
  /// Takes label sets. Throws Error if there are none, or if an instance does not have exactly one position.
  explicit LabelsOracle(const Dataset& data)
      : Oracle(data), chunk_begin_(instance_chunks(data.begin)), on_(data.on) {
    if (data.on.empty() && data.positions() > 0)
      throw Error(
          "labels oracle: found one output a position, expected label sets (a multi-label format such as "
          "arff)");
    if (data.hierarchy != nullptr) throw Error("labels oracle: found a hierarchy, expected none");
    if (data.instances() != data.positions())
      throw Error("labels oracle: found ", data.positions(), " positions in ", data.instances(),
                  " instances, expected one each");
  }

  std::span<const Index> gold_outputs(Index position) const override { return on_.at(position); }
  /// The number of v_kl, which are stored row by row above the diagonal.
  std::size_t extra_weights() const override { return std::size_t{outputs_} * (outputs_ - 1) / 2; }
  std::vector<double> gold_extra(const Parallel& parallel) const override {
    std::vector<double> out(extra_weights(), 0.0);
    for (std::size_t p = 0; p < positions(); ++p) {
      const auto on = on_.at(p);
      for (std::size_t a = 0; a < on.size(); ++a)
        for (std::size_t b = a + 1; b < on.size(); ++b) out[label_pair(outputs_, on[a], on[b])] += 1.0;
    }
    add_processes(parallel, out);
    return out;
  }

  const MaxOracle* relaxation() const override { return this; }
  const FactorOracle* factors() const override { return this; }

  /// Maximises cost + score over relaxed structures x and z (both labels on). The cost is the number of wrong
  /// labels, or their share of K. For a relaxed structure it is linear, like the score.
  LossAndCost maximise(const ScorePoint& at, Cost cost, Residual* residual,
                       const Parallel& parallel) const override {
    const PairScores v(outputs_, at.extra());
    const std::size_t extras = extra_weights(), width = padded(outputs_);
    const double unit = cost == Cost::kHammingMean ? 1.0 / static_cast<double>(outputs_) : 1.0;
    // The expected extra weights, then loss and cost.
    std::vector<double> sums(extras + 2);
    sum_chunks(
        parallel, chunk_begin_.size() - 1, sums.size(), sums.data(), [&](std::size_t chunk, double* part) {
          const std::size_t first = chunk_begin_[chunk], n = chunk_begin_[chunk + 1] - first;
          AlignedVector<double> rows(n * width);
          make_rows(at, outputs_, first, n, rows.data());
          Relaxation best;
          std::vector<Index> on;
          CompensatedSum loss, all_costs;
          for (std::size_t p = first; p < first + n; ++p) {
            double* const u = rows.data() + (p - first) * width;
            const auto gold = on_.at(p);
            double wrong = static_cast<double>(gold.size());  // sums of halves, exact
            for (std::size_t a = 0; a < gold.size(); ++a) {
              loss.add(-u[gold[a]]);
              for (std::size_t b = a + 1; b < gold.size(); ++b) loss.add(-v(gold[a], gold[b]));
            }
            const auto add_cost = [&](double sign) {
              for (std::size_t k = 0; k < outputs_; ++k) u[k] += sign * unit;
              for (const Index k : gold) u[k] -= sign * 2.0 * unit;
            };
            add_cost(1.0);
            best.solve(u, v, false);
            add_cost(-1.0);
            on.clear();
            for (Index k = 0; k < outputs_; ++k) {
              if (residual != nullptr) residual->column(k)[p] = best.x[k];
              if (best.x[k] == 0.0) continue;
              on.push_back(k);
              loss.add(u[k] * best.x[k]);
              wrong += best.x[k] * (std::ranges::binary_search(gold, k) ? -1.0 : 1.0);
            }
            if (residual != nullptr)
              for (const Index k : gold) residual->column(k)[p] -= 1.0;
            for (std::size_t a = 0; a < on.size(); ++a)
              for (std::size_t b = a + 1; b < on.size(); ++b) {
                const double weight = v(on[a], on[b]), z = pair_value(weight, best.x[on[a]], best.x[on[b]]);
                loss.add(weight * z);
                part[label_pair(outputs_, on[a], on[b])] += z;
              }
            loss.add(unit * wrong);
            all_costs.add(unit * wrong);
          }
          part[extras] = loss.value();
          part[extras + 1] = all_costs.value();
        });
    if (residual != nullptr) {
      const std::vector<double> gold = gold_extra(parallel);
      for (std::size_t e = 0; e < extras; ++e) residual->extra[e] = sums[e] - gold[e];
    }
    return {sums[extras], sums[extras + 1]};
  }

  double max_flops() const override {
    return 2.0 * static_cast<double>(positions()) * static_cast<double>(outputs_ + extra_weights());
  }
  /// The relaxation has K*(K+1)/2 terms, each of at most all scores together. solve_relaxation() may be below
  /// the maximum by 2^-49 = 16 units for each. Its coefficients, and the sums that decide a label without it,
  /// add up to K numbers for each of the K labels. The losses add up these terms with compensation, and the
  /// marginals are halves.
  std::optional<InferenceRounding> max_rounding() const override {
    const auto labels = static_cast<double>(outputs_);
    return InferenceRounding{.of_scores = 8.0 * labels * (labels + 1.0) + 4.0 * labels * labels + 16.0,
                             .of_positions = 4.0 * labels + 16.0,
                             .of_losses = 2.0};
  }
  bool binary_outputs() const override { return true; }
  std::unique_ptr<MarginalAdder> marginal_adder(const FactorMarginals& given, Cost cost,
                                                const ExpectedFeatures& expected) const override {
    return label_marginals(*this, given, cost, expected);
  }
  /// Starts from the relaxed solution, whose values are 0, 1/2 or 1. Labels at 1/2 are decided in ascending
  /// order: a label is on if this raises the score, given the labels decided before. Both decodings are the
  /// same. outputs.size() == positions() * outputs().
  void decode(const Scores& scores, Decoding, std::span<Index> outputs,
              const Parallel& parallel) const override {
    const PairScores v(outputs_, scores.extra);
    parallel.for_each(chunk_begin_.size() - 1, [&](std::size_t chunk) {
      Relaxation best;
      std::vector<double> unary(outputs_);
      for (std::size_t p = chunk_begin_[chunk]; p < chunk_begin_[chunk + 1]; ++p) {
        for (Index k = 0; k < outputs_; ++k) unary[k] = scores.column(k)[p];
        best.solve(unary.data(), v, true);
        for (Index k = 0; k < outputs_; ++k) outputs[p * outputs_ + k] = best.x[k] == 1.0 ? 1 : 0;
      }
    });
  }

 private:
  /// The pair weights as a full matrix, and the largest gain and loss that they can bring to each label.
  struct PairScores {
    PairScores(std::size_t count, const std::vector<double>& extra)
        : labels(count), weight(count * count, 0.0), gain(count, 0.0), loss(count, 0.0) {
      for (std::size_t a = 0, e = 0; a < labels; ++a)
        for (std::size_t b = a + 1; b < labels; ++b, ++e) {
          const double v = extra[e];
          weight[a * labels + b] = weight[b * labels + a] = v;
          for (const std::size_t k : {a, b}) (v > 0.0 ? gain : loss)[k] += v;
        }
    }
    double operator()(std::size_t a, std::size_t b) const { return weight[a * labels + b]; }

    std::size_t labels;
    std::vector<double> weight, gain, loss;
  };
  /// Finds the best relaxed structure x of one position. First it decides labels by bounds on their scores.
  /// gain[k] bounds the score of label k from above, loss[k] from below, whatever the undecided labels are.
  /// Label k is off if gain[k] <= 0, and on if loss[k] >= 0. A maximum flow decides the remaining labels.
  struct Relaxation {
    std::vector<double> x, gain, loss;
    std::vector<Index> queue, open;
    PairwiseProblem core;
    std::vector<double> core_x;

    void solve(const double* unary, const PairScores& v, bool integral) {
      constexpr double kOpen = 0.5;
      x.assign(v.labels, kOpen);
      gain.resize(v.labels);
      loss.resize(v.labels);
      queue.clear();
      for (std::size_t k = 0; k < v.labels; ++k) {
        gain[k] = unary[k] + v.gain[k];
        loss[k] = unary[k] + v.loss[k];
        queue.push_back(static_cast<Index>(k));
      }
      for (std::size_t q = 0; q < queue.size(); ++q) {
        const Index k = queue[q];
        if (x[k] != kOpen || (gain[k] > 0.0 && loss[k] < 0.0)) continue;
        const bool off = gain[k] <= 0.0;
        x[k] = off ? 0.0 : 1.0;
        for (std::size_t l = 0; l < v.labels; ++l) {
          const double weight = v(k, l);
          if (weight == 0.0 || x[l] != kOpen) continue;
          const bool bound_gain = (weight > 0.0) == off;
          double& bound = bound_gain ? gain[l] : loss[l];
          bound += off ? -weight : weight;
          if (bound_gain ? bound <= 0.0 : bound >= 0.0) queue.push_back(static_cast<Index>(l));
        }
      }
      open.clear();
      for (std::size_t k = 0; k < v.labels; ++k)
        if (x[k] == kOpen) open.push_back(static_cast<Index>(k));
      if (open.empty()) return;
      core.unary.clear();
      core.pairs.clear();
      for (std::size_t i = 0; i < open.size(); ++i) {
        double own = unary[open[i]];
        for (std::size_t l = 0; l < v.labels; ++l)
          if (x[l] == 1.0) own += v(open[i], l);
        core.unary.push_back(own);
        for (std::size_t j = i + 1; j < open.size(); ++j)
          if (const double weight = v(open[i], open[j]); weight != 0.0)
            core.pairs.push_back({static_cast<Index>(i), static_cast<Index>(j), weight});
      }
      solve_relaxation(core, core_x);
      if (integral) round_halves(core, core_x);
      for (std::size_t i = 0; i < open.size(); ++i) x[open[i]] = core_x[i];
    }
  };

  std::vector<Index> chunk_begin_;  ///< of instances, which are positions (core/base/sum.h)
  LabelSets on_;
};
}  // namespace

OracleInfo labels_info() {
  const auto pair = [](std::size_t weight, const Dataset& data) -> std::vector<std::string> {
    const std::vector<std::string>& labels = data.vocabulary->outputs;
    std::size_t left = 0, row = labels.size() - 1;
    for (; weight >= row; --row, ++left) weight -= row;
    return {labels[left], labels[left + 1 + weight]};
  };
  return oracle_info<LabelsOracle>(
      "labels",
      "sets of labels, with a weight for each pair: the linear relaxation, exactly; K*(K-1)/2 pair weights",
      "Yen et al. 2016, appendix 7.2; Boros and Hammer 2002", {"both", {"label", "label"}, pair});
}

}  // namespace proxbench
