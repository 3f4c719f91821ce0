/// Models of an oracle whose extra weights are not those of a chain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiments/data/model_weights.h"
#include "experiments/run/training.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// An oracle of independent positions, with one extra weight per label for the first position of an instance.
class Starts final : public Oracle, public SumOracle {
 public:
  explicit Starts(const Dataset& data) : Oracle(data), gold_(data.gold) {}
  std::span<const Index> gold_outputs(Index position) const override { return {&gold_[position], 1}; }
  std::size_t extra_weights() const override { return outputs_; }
  std::vector<double> gold_extra(const Parallel&) const override {
    std::vector<double> count(outputs_, 0.0);
    for (std::size_t i = 0; i < instances(); ++i) count[gold_[begin_[i]]] += 1.0;
    return count;
  }
  const SumOracle* sum() const override { return this; }

  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override {
    std::vector<Index> all(instances());
    std::iota(all.begin(), all.end(), Index{0});
    return infer_some(all, at, residual, parallel);
  }
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual,
                    const Parallel&) const override {
    double loss = 0.0;
    std::size_t row = 0;
    if (residual != nullptr) std::fill(residual->extra.begin(), residual->extra.end(), 0.0);
    for (const Index i : instances)
      for (Index p = begin_[i]; p < begin_[i + 1]; ++p, ++row) {
        const std::vector<double> log_p = log_probabilities(at, row, p == begin_[i]);
        loss -= log_p[gold_[p]];
        for (Index k = 0; residual != nullptr && k < outputs_; ++k) {
          const double r = std::exp(log_p[k]) - (k == gold_[p] ? 1.0 : 0.0);
          residual->column(k)[row] = r;
          if (p == begin_[i]) residual->extra[k] += r;
        }
      }
    return loss;
  }
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms, const Parallel&) const override {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms[i] = {0.0, 0.0};
      for (Index p = begin_[i]; p < begin_[i + 1]; ++p) {
        const std::vector<double> log_p = log_probabilities({scores}, p, p == begin_[i]);
        terms[i].log_gold += log_p[gold_[p]];
        for (const double x : log_p) terms[i].entropy -= std::exp(x) * x;
      }
    }
  }
  double inference_flops(std::size_t, bool) const override { return 0.0; }
  void decode(const Scores& scores, Decoding, std::span<Index> outputs, const Parallel&) const override {
    for (std::size_t i = 0; i < instances(); ++i)
      for (Index p = begin_[i]; p < begin_[i + 1]; ++p) {
        const std::vector<double> log_p = log_probabilities({scores}, p, p == begin_[i]);
        outputs[p] = static_cast<Index>(std::max_element(log_p.begin(), log_p.end()) - log_p.begin());
      }
  }

 private:
  std::vector<double> log_probabilities(const ScorePoint& at, std::size_t row, bool first) const {
    std::vector<double> s(outputs_);
    double z = 0.0;
    for (Index k = 0; k < outputs_; ++k) {
      s[k] = at.base.column(k)[row] + (first ? at.base.extra[k] : 0.0);
      if (at.direction != nullptr)
        s[k] += at.alpha * (at.direction->column(k)[row] + (first ? at.direction->extra[k] : 0.0));
      z += std::exp(s[k]);
    }
    for (double& x : s) x -= std::log(z);
    return s;
  }

  std::vector<Index> gold_;
};

OracleInfo starts() {
  return oracle_info<Starts>("starts", "", "",
                             {"start", {"label"}, [](std::size_t weight, const Dataset& data) {
                                return std::vector<std::string>{data.vocabulary->outputs[weight]};
                              }});
}

/// Sequences of two positions with three labels. The first label is A more often than its features suggest.
DataPair sequences(const std::string& oracle) {
  DataPair pair;
  pair.oracle = oracle;
  DesignMatrix::Builder builder;
  for (Index i = 0; i < 30; ++i) {
    for (Index t = 0; t < 2; ++t) {
      builder.add(t == 0 ? i % 2 : 1 + i % 2, 1.0);
      builder.end_position();
    }
    pair.train.gold.push_back(i % 5 == 0 ? 1 : 0);
    pair.train.gold.push_back(i % 3);
    pair.train.begin.push_back(2 * i + 2);
  }
  pair.train.x = std::move(builder).build(3);
  pair.train.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"f", "g", "h"}, {"A", "B", "C"}});
  pair.train.digest = digest_of(pair.train);
  return pair;
}

TEST(ExtraWeights, OfAnyOracleAreStoredInModels) {
  if (!oracle_registry().contains("starts")) add_oracle(starts());
  const LoadedData data(sequences("starts"), Parallel(1));
  RunParameters settings;
  settings.solver = "prox-gd";
  settings.penalty.lambda = 0.1;
  settings.tol = 1e-8;
  const RunOutcome outcome = train(data, settings);
  ASSERT_EQ(outcome.status, Status::kConverged);
  ASSERT_GE(outcome.w.index.back(), 9u) << "a start weight is on";

  const std::string text = model_of(data, "mine", Options(OptionTable{}), settings, outcome.w);
  EXPECT_THAT(text, HasSubstr("\n# oracle=starts\n"));
  EXPECT_THAT(text, HasSubstr("\nstart\tA\t"));
  const SparseVector w = model_weights(parse_model(text, "m.tsv"), data.train(), 3, data.extra_names(),
                                       UnknownFeatures::kReject);
  EXPECT_EQ(w.index, outcome.w.index);
  EXPECT_EQ(w.value, outcome.w.value);
}

TEST(ExtraWeights, WithoutNamesAreRefusedBeforeAnythingRuns) {
  OracleInfo nameless = starts();
  nameless.extra = {};
  try {
    make_oracle(nameless, sequences("starts").train);
    FAIL() << "was made";
  } catch (const OracleMismatch& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("oracle starts cannot serve these data: found 3 extra weights without "
                          "names for models"));
  }
}

TEST(Oracles, SayWhichDataTheyCannotServe) {
  try {
    const LoadedData data(sequences("tree"), Parallel(1));
    FAIL() << "was made";
  } catch (const OracleMismatch& error) {
    EXPECT_THAT(error.what(), HasSubstr("oracle tree cannot serve these data: tree oracle: instance 0 has 2 "
                                        "positions, expected 1"));
  }
  DataPair nested = sequences("chain");
  nested.train.hierarchy = std::make_shared<Hierarchy>(Hierarchy::flat(3));
  EXPECT_THROW(LoadedData(std::move(nested), Parallel(1)), OracleMismatch);
}

}  // namespace
}  // namespace proxbench
