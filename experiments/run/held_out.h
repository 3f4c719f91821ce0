#pragma once
/// Held-out instances: parts of a training set, and measures of models on them.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"
#include "experiments/base/json_values.h"
#include "experiments/metrics/metrics.h"

namespace proxbench {

/// Returns these instances (ascending) with the vocabulary and the hierarchy of the whole data set.
Dataset select_instances(const Dataset& data, std::span<const Index> instances);

/// Draws a random partition of the instances. Each part is ascending, and sizes differ by at most one. The
/// same seed gives the same partition. Throws Error (kUsage) unless 2 <= folds <= instances.
std::vector<std::vector<Index>> draw_folds(std::size_t instances, std::int64_t folds, std::uint64_t seed);
/// Draws this share of the instances, rounded to an integer, at random. Throws Error (kUsage) if that is no
/// instance or all of them.
std::vector<Index> draw_held_out(std::size_t instances, double share, std::uint64_t seed);

/// The measure on held-out instances: a metric, or the training loss if this is null. The loss is the mean
/// per position (or group of candidates): negative log-likelihood in nats, or hinge loss.
using SelectionMeasure = const MetricInfo*;

/// The instances on which models are measured.
class HeldOut {
 public:
  /// If the measure is the loss, leaves out instances with a gold output that training does not know: they
  /// have no loss. Throws Error (kInput) if no instance is left. Throws Error (kUsage) if the metric does not
  /// apply to the data, or if the oracle cannot compute the hinge loss of one instance.
  HeldOut(Dataset data, const std::string& oracle, const Parallel& parallel, SelectionMeasure measure,
          const Loss& loss = {});

  std::size_t skipped() const { return skipped_; }
  std::size_t positions() const { return data_.positions(); }

  /// The measure over all positions, and its standard error as a ratio over independently drawn instances.
  /// The error is NaN for a single instance, and for metrics other than accuracy.
  struct Value {
    double value, standard_error;
    std::map<std::string, double> others;  ///< if the measure is a metric: the other metrics by name

    static const Schema<Value>& schema() {
      static const Schema<Value> rows({row(&Value::value, "value"),
                                       row(&Value::standard_error, "standard_error"),
                                       row(&Value::others, "others")});
      return rows;
    }
  };
  Value measure(const SparseVector& w) const;  ///< w is in the coordinates of the data

 private:
  std::vector<double> losses(const SparseVector& w) const;
  std::vector<double> hinge_losses(const Scores& scores) const;
  double graded_of(std::size_t instance) const;
  double error_of_ratio(const std::vector<double>& part, double value) const;

  Dataset data_;
  std::unique_ptr<Oracle> oracle_;
  Parallel parallel_;
  SelectionMeasure measure_;
  Loss loss_;
  std::size_t skipped_ = 0;
};

}  // namespace proxbench
