#pragma once
/// The instances that carry one feature, with the scores and the residual at their positions only. A step of
/// blockwise coordinate descent infers these instances.

#include <vector>

#include "core/objective.h"

namespace proxbench::bcd {

/// The numbers in a task that is worth handing to a thread.
constexpr std::size_t kTaskNumbers = 1u << 15;

class Carriers {
 public:
  explicit Carriers(const Objective& objective);

  /// Selects the carriers of a feature. `scores` are those of all instances.
  void select(Index feature, const Scores& scores);
  /// Selects all instances, but no feature, for the extra weights.
  void select_all(const Scores& scores);

  /// Empties the direction: no columns if the oracle collapses outputs, else zeros.
  void clear_direction();
  /// direction += d * x_j for output k.
  void add_direction(Index k, double d);

  /// Returns the carriers' loss at the selected scores. The first one also computes the residual.
  double infer(Objective& objective);
  double infer(Objective& objective, double alpha) const;

  double x(std::size_t entry) const { return value.empty() ? 1.0 : value[entry]; }

  std::vector<Index> instances;
  std::vector<Index> position, local;  ///< of the feature's entries: in X, and among the carriers' positions
  std::vector<double> value;           ///< empty if all are 1
  Scores direction;
  Residual residual;

 private:
  void read_column(Index feature);
  void take_all(const Scores& scores);

  const Objective& objective_;
  std::vector<Index> instance_of_;  ///< of every position
  std::vector<Index> first_;        ///< where each carrier begins among their positions
  std::size_t positions_ = 0;
  Scores base_;
  const Scores* at_ = nullptr;
};

}  // namespace proxbench::bcd
