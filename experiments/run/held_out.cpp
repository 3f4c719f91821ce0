#include "experiments/run/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/data/sharing.h"
#include "core/monitor/evaluation_set.h"
#include "experiments/data/files.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

std::vector<Index> shuffled(std::size_t instances, std::uint64_t seed) {
  std::vector<Index> order = first_indices(instances);
  Random random(seed);
  random.shuffle(std::span(order));
  return order;
}

}  // namespace

Dataset select_instances(const Dataset& data, std::span<const Index> instances) {
  Dataset out;
  DesignMatrix::Builder builder;
  for (const Index i : instances) add_instance(out, data, i, &builder);
  out.description =
      fmt::format("{}, {} of {} instances", data.description, instances.size(), data.instances());
  set_rows(out, std::move(builder), data.vocabulary);
  return out;
}

std::vector<std::vector<Index>> draw_folds(std::size_t instances, std::int64_t folds, std::uint64_t seed) {
  if (folds < 2 || static_cast<std::size_t>(folds) > instances)
    throw Error::usage(fmt::format("folds: found {}, expected 2 <= folds <= {} instances", folds, instances));
  std::vector<std::vector<Index>> out(static_cast<std::size_t>(folds));
  std::size_t next = 0;
  for (const Index instance : shuffled(instances, seed)) out[next++ % out.size()].push_back(instance);
  for (std::vector<Index>& fold : out) std::ranges::sort(fold);
  return out;
}

std::vector<Index> draw_held_out(std::size_t instances, double share, std::uint64_t seed) {
  const double count = std::round(share * static_cast<double>(instances));
  if (!(count >= 1.0 && count < static_cast<double>(instances)))
    throw Error::usage(fmt::format(
        "share to hold out: found {}, which is {} of {} instances, expected some and not all of them", share,
        count, instances));
  std::vector<Index> out = shuffled(instances, seed);
  out.resize(static_cast<std::size_t>(count));
  std::sort(out.begin(), out.end());
  return out;
}

HeldOut::HeldOut(Dataset data, const std::string& oracle, const Parallel& parallel, SelectionMeasure measure,
                 const Loss& loss)
    : parallel_(parallel), measure_(measure), loss_(loss) {
  std::vector<Index> usable;
  for (Index i = 0; i < data.instances(); ++i) {
    const auto first = data.gold.begin() + data.begin[i], last = data.gold.begin() + data.begin[i + 1];
    if (measure != nullptr || std::find(first, last, kUnknownOutput) == last) usable.push_back(i);
  }
  skipped_ = data.instances() - usable.size();
  data_ = skipped_ > 0 ? select_instances(data, usable) : std::move(data);
  if (data_.positions() == 0)
    throw Error(fmt::format("none of the {} instances held out has a loss: all have outputs that do not "
                            "occur in training",
                            skipped_),
                ErrorKind::kInput);
  if (measure != nullptr && measure->applies && !measure->applies(data_))
    throw Error::usage(
        fmt::format("measure '{}' ({}) does not apply to these data", measure->name, measure->help));
  oracle_ = oracle_registry().find(oracle).make(data_);
  if (measure == nullptr && loss.hinge() && oracle_->instance_max() == nullptr)
    throw Error::usage(fmt::format(
        "measure 'loss' with a hinge loss: oracle '{}' finds no maximum of one instance, expected "
        "another measure",
        oracle));
}

namespace {

/// One instance without its X, for metrics.
Dataset gold_of(const Dataset& data, std::size_t instance) {
  Dataset out;
  add_instance(out, data, static_cast<Index>(instance));
  return out;
}

}  // namespace

std::vector<double> HeldOut::hinge_losses(const Scores& scores) const {
  const std::size_t width = padded(oracle_->outputs());
  std::vector<double> out(data_.instances());
  const Chunks chunks{out.size(), 16};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    AlignedVector<double> rows;
    std::vector<Index> best;
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const Index first = data_.begin[i];
      best.resize(data_.begin[i + 1] - first);
      rows.assign(best.size() * width, 0.0);
      for (Index k = 0; k < oracle_->outputs(); ++k)
        if (const double* const column = scores.find(k))
          for (std::size_t p = 0; p < best.size(); ++p) rows[p * width + k] = column[first + p];
      out[i] = oracle_->instance_max()
                   ->best_structure(static_cast<Index>(i), loss_.cost, rows.data(), scores.extra, best)
                   .loss;
    }
  });
  return out;
}

/// Returns the losses by instance.
std::vector<double> HeldOut::losses(const SparseVector& w) const {
  std::vector<double> out(data_.instances(), 0.0);
  const LinearMap map(data_.x, *oracle_, parallel_);
  Scores scores = map.make_scores();
  map.apply(w, scores);
  if (loss_.hinge()) return hinge_losses(scores);
  std::vector<InstanceTerms> terms(out.size());
  oracle_->sum()->instance_terms(scores, terms, parallel_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = -terms[i].log_gold;
  return out;
}

HeldOut::Value HeldOut::measure(const SparseVector& w) const {
  if (measure_ == nullptr) {
    const std::vector<double> sum = losses(w);
    const double value = std::accumulate(sum.begin(), sum.end(), 0.0) / static_cast<double>(data_.graded());
    return {value, error_of_ratio(sum, value), {}};
  }
  const std::vector<Index> outputs = EvaluationSet(data_, *oracle_, parallel_, {}).decode(w);
  Value out{measure_->measure(data_, outputs), kNaN, {}};
  for (const MetricInfo* metric : metrics_for(data_))
    if (metric != measure_) out.others[metric->name] = metric->measure(data_, outputs);
  if (measure_ != &trace_metric()) return out;
  std::vector<double> right;
  for (std::size_t i = 0; i < data_.instances(); ++i) {
    const Dataset one = gold_of(data_, i);
    right.push_back(
        measure_->measure(one, std::span(outputs).subspan(data_.begin[i] * data_.prediction_width(),
                                                          one.prediction_size())) *
        graded_of(i));
  }
  out.standard_error = error_of_ratio(right, out.value);
  return out;
}

/// The number of positions of an instance that have something to predict.
double HeldOut::graded_of(std::size_t instance) const {
  return static_cast<double>(gold_of(data_, instance).graded());
}

/// The linearised standard error of `value`, which is the sum of `part` over instances divided by the number
/// of graded positions.
double HeldOut::error_of_ratio(const std::vector<double>& part, double value) const {
  const auto n = static_cast<double>(part.size());
  double squares = 0.0;
  for (std::size_t i = 0; i < part.size(); ++i) squares += std::pow(part[i] - value * graded_of(i), 2);
  return std::sqrt(squares * n / (n - 1.0)) / static_cast<double>(data_.graded());
}

}  // namespace proxbench
