#pragma once
/// Data with its oracles, as all runs on the same data share it.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/monitor/evaluation_set.h"
#include "core/objective.h"
#include "experiments/results/fields.h"
#include "experiments/run/job.h"

namespace proxbench {

/// The oracle cannot serve these data.
class OracleMismatch : public Error {
 public:
  using Error::Error;
};

/// Throws OracleMismatch if the oracle throws an Error, or has extra weights that no model could store.
std::unique_ptr<Oracle> make_oracle(const OracleInfo& info, const Dataset& data);

/// The data with the oracles of the training set and of the test set, if there is one. All runs on the same
/// data share it.
class LoadedData {
 public:
  /// Throws Error (kInput) if there is nothing to train on, and OracleMismatch. If `parallel` has processes,
  /// each passes the same data, and this process keeps its share of the training set and the whole test set.
  LoadedData(DataPair data, const Parallel& parallel, Decoding decoding = Decoding::kStructure);
  /// Does the same for data that others use at the same time. They must not be those of several processes.
  LoadedData(std::shared_ptr<const DataPair> data, const Parallel& parallel,
             Decoding decoding = Decoding::kStructure);
  LoadedData(const LoadedData&) = delete;
  LoadedData& operator=(const LoadedData&) = delete;

  const Dataset& train() const { return data_->train; }
  const Dataset& test() const { return data_->test; }
  const Oracle& oracle() const { return *oracle_; }
  const std::string& oracle_name() const { return data_->oracle; }
  /// The names of the oracle's extra weights in model files.
  const ExtraWeightNames& extra_names() const { return *extra_names_; }
  const Parallel& parallel() const { return parallel_; }
  /// Null if there are no test instances.
  const EvaluationSet* test_set() const { return test_set_.get(); }
  Objective objective(const Penalty& penalty, const Loss& loss = {}) const {
    return {train().x, *oracle_, penalty, parallel_, loss};
  }

  /// The data with only the features that a minimiser needs (core/data/reduction.h). Coordinates of w are
  /// those of the kept features.
  struct Reduced {
    std::optional<Penalty> penalty;
    std::vector<Index> kept;
    bool all;                                 ///< nothing was dropped: use x and test_set of the data
    DesignMatrix x;                           ///< empty if `all`
    Dataset test;                             ///< the test set with the reduced X; empty if `all`
    std::unique_ptr<EvaluationSet> test_set;  ///< null if `all`, or without a test set
  };
  /// Drops features for this penalty, or none if there is no penalty. The result is valid until the next call
  /// with another penalty.
  const Reduced& reduced(const std::optional<Penalty>& penalty) const;
  /// The reduction must have been made for a lambda that is not larger, and for a mu that is not smaller.
  Objective objective(const Reduced& reduced, const Penalty& penalty, const Loss& loss = {}) const {
    return {reduced.all ? train().x : reduced.x, *oracle_, penalty, parallel_, loss};
  }
  const EvaluationSet* test_set(const Reduced& reduced) const {
    return reduced.all ? test_set_.get() : reduced.test_set.get();
  }

 private:
  std::shared_ptr<const DataPair> data_;
  Parallel parallel_;
  Decoding decoding_;
  const ExtraWeightNames* extra_names_;
  std::unique_ptr<Oracle> oracle_, test_oracle_;
  std::unique_ptr<EvaluationSet> test_set_;
  mutable std::unique_ptr<Reduced> reduced_;
};

/// Reads the data of a job. If there are launched processes, they share it.
LoadedData data_of(const RunParameters& job);

/// Returns every metric that applies to the data.
std::map<std::string, double> metrics_of(const Dataset& data, std::span<const Index> prediction);

}  // namespace proxbench
