#pragma once
/// One run of one solver on loaded data, and the summary of it.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/parallel.h"
#include "core/data/dataset.h"
#include "core/monitor.h"
#include "core/objective.h"
#include "core/solver.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// What the caller wants to hear of while a run is going on.
struct RunHooks {
  std::function<void(const Sample&)> on_sample;  ///< off the clock
  const std::atomic<bool>* interrupt = nullptr;  ///< set to stop at the next iteration
  bool with_test = true;                         ///< samples measure the test set
};

struct RunOutcome : RunFigures {
  RunParameters parameters;  ///< as they were: all options, the threads and back end of the data
  SparseVector w;
  std::vector<Sample> trace;

  nlohmann::ordered_json summary() const { return summary_json(parameters, *this); }
};

/// The oracle cannot serve the data, whatever is done with them.
class OracleMismatch : public Error {
 public:
  using Error::Error;
};

/// Throws OracleMismatch where the oracle throws an Error, or has extra weights that no model could hold.
std::unique_ptr<Oracle> make_oracle(const OracleInfo& info, const Dataset& data);

/// The oracle of the data, and of the test set where there is one; what all runs on the same data share.
class LoadedData {
 public:
  /// Throws Error (kInput) where there is nothing to train on, and OracleMismatch. Where `parallel` has
  /// processes, each of them brings the same data, and this one keeps its part of the training set; the test
  /// set stays whole.
  LoadedData(DataPair data, const Parallel& parallel, Decoding decoding = Decoding::kStructure);
  LoadedData(const LoadedData&) = delete;
  LoadedData& operator=(const LoadedData&) = delete;

  const Dataset& train() const { return data_.train; }
  const Dataset& test() const { return data_.test; }
  const Oracle& oracle() const { return *oracle_; }
  const std::string& oracle_name() const { return data_.oracle; }
  /// What model files call the oracle's extra weights.
  const ExtraWeightNames& extra_names() const { return *extra_names_; }
  const Parallel& parallel() const { return parallel_; }
  /// Null where there are no test instances.
  const TestSet* test_set() const { return test_set_.get(); }
  Objective objective(double lambda, double mu, const Loss& loss = {}) const {
    return {data_.train.x, *oracle_, {lambda, mu}, parallel_, loss};
  }

  /// The data without the features that can never enter at this lambda. Coordinates are those of the features
  /// kept.
  struct Reduced {
    double lambda;
    std::vector<Index> kept;
    bool all;                           ///< nothing was dropped: x and test_set are those of the data
    DesignMatrix x;                     ///< empty where `all`
    Dataset test;                       ///< all but X is that of the test set; empty where `all`
    std::unique_ptr<TestSet> test_set;  ///< null where `all`, or without a test set
  };
  /// A lambda at which no feature is dropped.
  static constexpr double kAllFeatures = -1.0;
  /// Kept until another lambda is asked for.
  const Reduced& reduced(double lambda) const;
  /// For a lambda no smaller than that of the reduction.
  Objective objective(const Reduced& reduced, double lambda, double mu, const Loss& loss = {}) const {
    return {reduced.all ? data_.train.x : reduced.x, *oracle_, {lambda, mu}, parallel_, loss};
  }
  const TestSet* test_set(const Reduced& reduced) const {
    return reduced.all ? test_set_.get() : reduced.test_set.get();
  }

 private:
  void share();

  DataPair data_;
  Parallel parallel_;
  Decoding decoding_;
  const ExtraWeightNames* extra_names_;
  std::unique_ptr<Oracle> oracle_, test_oracle_;
  std::unique_ptr<TestSet> test_set_;
  mutable std::unique_ptr<Reduced> reduced_;
};

/// Throws Error (kUsage) with unmet_needs() and the solvers that fit where this one cannot run on the data
/// with these options, this penalty and this loss.
void require_needs(const LoadedData& data, const SolverInfo& solver, const Penalty& penalty,
                   const Loss& loss);

/// Why the solver cannot start from this model file; empty: it can, or there is none.
std::string unmet_start(const SolverInfo& solver, const std::string& start);

/// The weights of settings.start, zero where it is empty. Throws Error where the file is no model, or of
/// another format, oracle, features or labels.
SparseVector start_of(const LoadedData& data, const RunParameters& settings);

/// Runs the solver from start_of() and certifies where it ended. A run whose F is not finite there has
/// diverged, whatever the solver says; of one that diverged there is neither kkt nor bound. Throws Error
/// where the solver is unknown or fails, where it has a start of its own beside settings.start, where it
/// needs what is not there (require_needs()), or where a loss that it gave is not that at its iterate
/// (core/monitor.h).
RunOutcome train(const LoadedData& data, const RunParameters& settings, const RunHooks& hooks = {});
/// The same from `start`, whatever settings.start is.
RunOutcome train_from(const LoadedData& data, const RunParameters& settings, SparseVector start,
                      const RunHooks& hooks = {});

/// That the solver of a run handed no loss to its samples (Monitor::step()), and what follows; empty: it did.
std::string missing_loss_text(const RunOutcome& outcome);

/// What train(), train_path() and `certify` say alike: the facts of the data, its threads and back end, and
/// the most memory that this process has held so far.
void set_facts(const LoadedData& data, RunOutcome& outcome);
/// Adds a solve to what the outcome counts, which begin_counting() sets to 0. Of several solves, each note is
/// that of the last one to have it.
void begin_counting(RunFigures& figures);
void count_solve(const Monitor& monitor, const Objective& seen, const SolveResult& result,
                 RunFigures& figures);
/// What a sample says of the test set.
void set_test_figures(const Sample& measured, RunFigures& figures);

/// What train() and train_path() make of settings.
MonitorOptions monitor_options(const RunParameters& settings);
/// Inference and full gradients at w for that many wall seconds; returns those that passed.
double warm_up(Objective& objective, const SparseVector& w, double seconds,
               const std::atomic<bool>* interrupt);

/// Of the entries of X the share whose feature has a weight.
double share_with_weight(const Dataset& data, const SparseVector& w);
/// Key of a model's header for that share of its training data.
inline constexpr const char* kKnownShare = "known_share";
/// The text of the model w. Its header stores the data format, its options and the penalties, so that
/// `predict` and `certify` need no flags for them.
std::string model_of(const LoadedData& data, const std::string& format, const Options& data_options,
                     const RunParameters& settings, const SparseVector& w);

/// Every metric that applies to the data.
std::map<std::string, double> metrics_of(const Dataset& data, std::span<const Index> prediction);

/// All cores where `threads` is 0.
int resolved_threads(int threads);

}  // namespace proxbench
