#pragma once
/// Model selection along paths. It measures the model of each penalty on held-out instances, chooses a
/// penalty, and trains its model on all instances.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/paths.h"
#include "experiments/run/held_out.h"
#include "experiments/run/job.h"
#include "experiments/run/path.h"

namespace proxbench {

/// One of the three ways to hold out instances.
struct SelectionSettings {
  std::int64_t folds = 0;               ///< K-fold cross-validation over the training instances; 0: none
  std::optional<double> held_out = {};  ///< this share of the training instances; with neither, the test set
  SelectionMeasure measure = &trace_metric();
  /// Choose the largest penalty within one standard error of the best one on its path, instead of the best.
  bool one_standard_error = false;
  /// While the last penalty is the best, extend the path by its factor, by at most this many points.
  int more_points = 0;
  /// The processes that share the instances of each training; each of them has the whole data.
  const Processes* processes = nullptr;
};

struct SelectionPoint {
  double lambda = 0.0, mu = 0.0;
  double mean = 0.0;  ///< of the measure over folds; for a single set its value
  /// Standard error of the mean: standard deviation over folds / sqrt(K), or HeldOut::Value::standard_error
  /// for a single set.
  double standard_error = 0.0;
  double nnz = 0.0;                           ///< mean over folds
  std::size_t splits = 1;                     ///< folds measured so far; all unless interrupted
  std::size_t unsolved = 0;                   ///< folds whose model is is_unsolved()
  std::map<std::string, double> others = {};  ///< means over folds of HeldOut::Value::others
};

/// Whether a model is far from the optimum of its penalty: the solver did not reach its target, and kkt is
/// above ten times its target, or not known.
bool is_unsolved(const PathPoint& point);

/// Finds the point with the best mean (if equal, the first one), or the first point within that point's
/// standard error of it. There is at least one point.
std::size_t best_point(const std::vector<SelectionPoint>& points, SelectionMeasure measure);
std::size_t one_standard_error_point(const std::vector<SelectionPoint>& points, SelectionMeasure measure);

struct ModelSelection {
  std::vector<SelectionPoint> points;  ///< path by path
  std::size_t begin = 0, end = 0;      ///< the path of the best point, as a range of `points`
  std::size_t best = 0, one_standard_error = 0, chosen = 0;  ///< indices into points
  std::size_t held_out_instances = 0;                        ///< over all folds
  std::size_t skipped = 0;                                   ///< those of them that have no loss
  /// If true, `points` holds the points known so far, and nothing is chosen.
  bool interrupted = false;
  fs::path kept_in;  ///< the file from which the same call continues; empty: no point is known
  RunOutcome refit;  ///< on all training instances, along the path of the best point down to the chosen one
};

/// The penalties to choose from: one or several paths, each as train_path() takes it.
using PenaltyPaths = std::vector<std::vector<Penalty>>;

/// A path has at least two penalties with `more_points`. The rule of one standard error takes a point of the
/// path of the best one. The seed of `settings` also draws
/// the instances. Throws Error (kUsage) if the settings do not fit the data, and Error if a path ends before
/// its last point. If interrupted, it stores its results in a file of the working folder,
/// and the same call continues from there. It removes the file once a model is chosen.
ModelSelection select_model(const LoadedData& data, const RunParameters& settings, const PenaltyPaths& paths,
                            const SelectionSettings& selection, const Progress& progress = {});

}  // namespace proxbench
