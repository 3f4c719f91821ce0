#pragma once
/// The instances that carry one feature, with scores and residual for their positions alone: what a step of
/// blockwise coordinate descent infers.

#include <vector>

#include "core/objective.h"

namespace proxbench::bcd {

/// Numbers of a task worth handing to a thread.
constexpr std::size_t kTaskNumbers = 1u << 15;

class Carriers {
 public:
  explicit Carriers(const Objective& objective);

  /// The carriers of a feature. `scores` are those of all instances.
  void select(Index feature, const Scores& scores);
  /// All instances, and no feature: for the extra weights.
  void select_all(const Scores& scores);

  /// An empty direction: no column where the oracle collapses outputs, else zeros.
  void clear_direction();
  /// direction += d * x_j for output k.
  void add_direction(Index k, double d);

  /// Their loss at the scores selected, with the residual.
  double infer(Objective& objective);
  double infer(Objective& objective, double alpha) const;

  double x(std::size_t entry) const { return value.empty() ? 1.0 : value[entry]; }

  std::vector<Index> instances;
  std::vector<Index> position, local;  ///< of the feature's entries: in X, and among the carriers
  std::vector<double> value;           ///< empty: all ones
  Scores direction;
  Residual residual;

 private:
  void read_column(Index feature);
  void take_all(const Scores& scores);

  const Objective& objective_;
  std::vector<Index> instance_of_;  ///< of every position
  std::vector<Index> first_;        ///< where each carrier begins among them
  std::size_t positions_ = 0;
  Scores base_;
  const Scores* at_ = nullptr;
};

}  // namespace proxbench::bcd
