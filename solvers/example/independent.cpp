/// An oracle that treats each position on its own, p(y|x) = prod_t exp(s_t(y_t)) / Z_t. This is a chain
/// without transitions: a comparison with a chain shows the value of transitions.
#include <core/plugin.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace proxbench;

class Independent final : public Oracle, public SumOracle {
 public:
  explicit Independent(const Dataset& data) : Oracle(data), gold_(data.gold), every_(data.positions()) {
    std::iota(every_.begin(), every_.end(), Index{0});
  }
  std::span<const Index> gold_outputs(Index position) const override { return {&gold_[position], 1}; }
  const SumOracle* sum() const override { return this; }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    return infer_on(every_, at, residual, parallel);
  }
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel& parallel) const override {
    std::vector<Index> positions;
    for (const Index i : instances)
      positions.insert(positions.end(), every_.begin() + begin_[i], every_.begin() + begin_[i + 1]);
    return infer_on(positions, at, residual, parallel);
  }
  double inference_flops(std::size_t, bool) const override {
    return 2.0 * outputs_ * static_cast<double>(positions());
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms, const Parallel&) const override {
    std::vector<double> p(outputs_);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms[i] = {0.0, 0.0};
      for (Index t = begin_[i]; t < begin_[i + 1]; ++t) {
        softmax({scores}, t, p);
        terms[i].log_gold += std::log(p[gold_[t]]);
        for (const double x : p) terms[i].entropy -= x > 0 ? x * std::log(x) : 0.0;
      }
    }
  }
  void decode(const Scores& scores, Decoding, std::span<Index> outputs, const Parallel&) const override {
    for (std::size_t t = 0; t < outputs.size(); ++t) {
      outputs[t] = 0;
      for (Index k = 1; k < outputs_; ++k)
        if (scores.column(k)[t] > scores.column(outputs[t])[t]) outputs[t] = k;
    }
  }

 private:
  /// Score t belongs to position of[t]. Chunks are added in order, so that results do not depend on threads.
  double infer_on(std::span<const Index> of, const ScorePoint& at, Residual* residual,
                  const Parallel& parallel) const {
    const Chunks chunks{of.size(), 256};
    std::vector<double> loss(chunks.count(), 0.0);
    parallel.for_each(chunks.count(), [&](std::size_t chunk) {
      std::vector<double> p(outputs_);
      for (std::size_t t = chunks.begin(chunk); t < chunks.end(chunk); ++t) {
        const Index gold = gold_[of[t]];
        if (gold == kUnknownOutput) throw Error("a position without a known label");
        loss[chunk] += softmax(at, t, p) - score(at, gold, t);
        for (Index k = 0; residual != nullptr && k < outputs_; ++k)
          residual->column(k)[t] = p[k] - (k == gold ? 1.0 : 0.0);
      }
    });
    return std::accumulate(loss.begin(), loss.end(), 0.0);
  }
  static double score(const ScorePoint& at, Index k, std::size_t t) {
    return at.base.column(k)[t] + (at.direction == nullptr ? 0.0 : at.alpha * at.direction->column(k)[t]);
  }
  /// Fills in the probabilities at t and returns log Z_t.
  double softmax(const ScorePoint& at, std::size_t t, std::vector<double>& p) const {
    for (Index k = 0; k < outputs_; ++k) p[k] = score(at, k, t);
    const double highest = *std::max_element(p.begin(), p.end());
    double z = 0.0;
    for (double& x : p) z += x = std::exp(x - highest);
    for (double& x : p) x /= z;
    return highest + std::log(z);
  }

  std::vector<Index> gold_, every_;
};

PROXBENCH_PLUGIN(plugin) {
  plugin.oracles.add(oracle_info<Independent>(
      "independent", "each position by itself: a chain without transitions",
      "Berger, Della Pietra, Della Pietra, A maximum entropy approach to NLP, 1996"));
}
