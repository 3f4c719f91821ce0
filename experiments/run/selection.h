#pragma once
/// Model selection along a path: how good the model of each penalty is on instances that it was not trained
/// on, and the model of the one that is chosen, trained on all of them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/metrics/metrics.h"
#include "experiments/run/hooks.h"
#include "experiments/run/path.h"

namespace proxbench {

/// These instances (ascending), with the vocabulary and the hierarchy of all.
Dataset select_instances(const Dataset& data, std::span<const Index> instances);

/// A random partition of the instances, each part ascending, whose sizes differ by one at most; the same for
/// the same seed. Throws Error (kUsage) unless 2 <= folds <= instances.
std::vector<std::vector<Index>> draw_folds(std::size_t instances, std::int64_t folds, std::uint64_t seed);
/// That share of the instances, at random, rounded to an integer. Throws Error (kUsage) where that is none
/// or all of them.
std::vector<Index> draw_held_out(std::size_t instances, double share, std::uint64_t seed);

/// What is measured on the instances held out: a metric, or, where that is null, the loss that training
/// minimises by position (group of candidates): negative log-likelihood in nats, or hinge loss.
using SelectionMeasure = const MetricInfo*;

/// Instances that models are measured on.
class HeldOut {
 public:
  /// Instances with a gold output that training does not know have no loss: for it they are left out. Throws
  /// Error (kInput) where none is left, and Error (kUsage) where the metric does not apply to the data, or
  /// the oracle finds no hinge loss of one instance.
  HeldOut(Dataset data, const std::string& oracle, const Parallel& parallel, SelectionMeasure measure,
          const Loss& loss = {});

  std::size_t skipped() const { return skipped_; }
  std::size_t positions() const { return data_.positions(); }

  /// Of all positions, and the standard error of that ratio when instances are drawn independently (NaN for
  /// a single one, and for metrics other than accuracy). w in the coordinates of the data.
  struct Value {
    double value, standard_error;
    std::map<std::string, double> others;  ///< with a metric the others that apply, by name
  };
  Value measure(const SparseVector& w) const;

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

/// One of the three ways to hold out instances.
struct SelectionSettings {
  std::int64_t folds = 0;               ///< K-fold cross-validation over the training instances; 0: not
  std::optional<double> held_out = {};  ///< this share of the training instances; with neither, the test set
  SelectionMeasure measure = &trace_metric();
  /// Choose the largest penalty that is within one standard error of the best, in the place of the best.
  bool one_standard_error = false;
  /// Goes on with the factor of the path while the best is the last, by at most so many points.
  int more_points = 0;
  /// Those that share the instances of each training; the data given are whole on all of them.
  const Processes* processes = nullptr;
};

struct SelectionPoint {
  double lambda = 0.0, mu = 0.0;
  double mean = 0.0;  ///< of the measure over folds; of one set, its value
  /// Of the mean: over folds their standard deviation / sqrt(K); of one set, that of HeldOut::measure().
  double standard_error = 0.0;
  double nnz = 0.0;                           ///< mean over folds
  std::size_t splits = 1;                     ///< folds that are measured; all of them unless interrupted
  std::map<std::string, double> others = {};  ///< means over folds of HeldOut::Value::others
};

/// The point with the best mean (of equals that with the largest penalty), and the first within that one's
/// standard error of it. `points` in descending order of lambda or mu, at least one.
std::size_t best_point(const std::vector<SelectionPoint>& points, SelectionMeasure measure);
std::size_t one_standard_error_point(const std::vector<SelectionPoint>& points, SelectionMeasure measure);

struct ModelSelection {
  std::vector<SelectionPoint> points;
  std::size_t best = 0, one_standard_error = 0, chosen = 0;  ///< indices into points
  std::size_t held_out_instances = 0;                        ///< over all folds
  std::size_t skipped = 0;                                   ///< of these, without a likelihood
  /// Then the points are those that are known, and nothing is chosen.
  bool interrupted = false;
  std::filesystem::path
      kept_in;        ///< where they are kept for the same call to go on from; empty: none is known
  PathOutcome refit;  ///< on all training instances, down to the chosen penalty
};

/// Penalties as for train_path(), of whose settings `seed` also draws the instances; two or more for
/// `more_points`. Throws Error (kUsage) where the settings do not fit the data, and Error where a path ends
/// before its last point. An interrupted one keeps what it knows in a file of the working folder
/// (selection_state.h), where the same call goes on from it; the file goes once a model is chosen.
ModelSelection select_model(const LoadedData& data, const RunParameters& settings,
                            std::span<const Penalty> penalties, const SelectionSettings& selection,
                            const Hooks& hooks = {});

}  // namespace proxbench
