#pragma once
/// The instances that carry one feature, with the scores and the residual at their positions only. A step of
/// blockwise coordinate descent infers these instances.

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/objective.h"

namespace proxbench::bcd {

/// The numbers in a task that is worth handing to a thread.
constexpr std::size_t kTaskNumbers = 1u << 15;

class Carriers {
 public:
  explicit Carriers(Objective& objective)
      : objective_(objective), instance_of_(objective.map().x().positions()) {
    const auto begin = objective.oracle().begin();
    for (std::size_t i = 0; i + 1 < begin.size(); ++i)
      std::fill(instance_of_.begin() + begin[i], instance_of_.begin() + begin[i + 1], static_cast<Index>(i));
    base_ = objective.make_scores();
    direction = objective.make_scores();
    residual = objective.make_residual();
  }

  /// Selects the carriers of a feature. `scores` are those of all instances.
  void select(Index feature, const Scores& scores) {
    const DesignMatrix& x = objective_.map().x();
    position = x.column(feature);
    const auto values = x.column_values(feature);
    value.assign(values.begin(), values.end());
    instances.clear();
    for (const Index p : position)
      if (instances.empty() || instances.back() != instance_of_[p]) instances.push_back(instance_of_[p]);
    if (instances.size() == objective_.instances()) {
      local = position;
      take_all(scores);
      return;
    }
    const auto begin = objective_.oracle().begin();
    local.resize(position.size());
    first_.assign(1, 0);
    for (const Index i : instances)
      first_.push_back(first_.back() + static_cast<Index>(objective_.oracle().length(i)));
    for (std::size_t e = 0, i = 0; e < position.size(); ++e) {
      while (instance_of_[position[e]] != instances[i]) ++i;
      local[e] = first_[i] + position[e] - begin[instances[i]];
    }
    positions_ = first_.back();
    base_.stride = padded(positions_);
    base_.resize_columns(scores.columns);
    base_.column_of = scores.column_of;
    base_.extra = scores.extra;
    const Chunks chunks{scores.columns, std::max<std::size_t>(kTaskNumbers / (positions_ + 1), 1)};
    objective_.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t c = chunks.begin(chunk); c < chunks.end(chunk); ++c)
        for (std::size_t i = 0; i < instances.size(); ++i)
          std::copy_n(scores.column(c) + begin[instances[i]], first_[i + 1] - first_[i],
                      base_.column(c) + first_[i]);
    });
    at_ = &base_;
  }

  /// Selects all instances, but no feature, for the extra weights.
  void select_all(const Scores& scores) {
    position.clear();
    local.clear();
    value.clear();
    instances.resize(objective_.instances());
    std::iota(instances.begin(), instances.end(), Index{0});
    take_all(scores);
  }

  /// Empties the direction: no columns if the oracle collapses outputs, else zeros.
  void clear_direction() {
    direction.stride = padded(positions_);
    std::ranges::fill(direction.extra, 0.0);
    if (direction.one_each()) {
      direction.values.assign(direction.stride * direction.columns, 0.0);
    } else {
      direction.column_of.assign(direction.column_of.size(), Scores::kNoColumn);
      direction.resize_columns(0);
    }
  }

  /// direction += d * x_j for output k.
  void add_direction(Index k, double d) {
    double* column = direction.column(direction.one_each() ? k : direction.add_column(k));
    for (std::size_t e = 0; e < local.size(); ++e) column[local[e]] += d * x(e);
  }

  /// Returns the carriers' loss at the selected scores. The first one also computes the residual.
  double infer() {
    residual.stride = padded(positions_);
    if (residual.one_each()) residual.resize_columns(objective_.outputs());
    return objective_.infer_some(instances, {*at_}, &residual);
  }

  double infer(double alpha) const {
    return objective_.infer_some(instances, {*at_, &direction, alpha}, nullptr);
  }

  double x(std::size_t entry) const { return value.empty() ? 1.0 : value[entry]; }

  std::vector<Index> instances;
  std::vector<Index> position, local;  ///< of the feature's entries: in X, and among the carriers' positions
  std::vector<double> value;           ///< empty if all are 1
  Scores direction;
  Residual residual;

 private:
  void take_all(const Scores& scores) {
    positions_ = objective_.map().x().positions();
    at_ = &scores;
  }

  Objective& objective_;
  std::vector<Index> instance_of_;  ///< of every position
  std::vector<Index> first_;        ///< where each carrier begins among their positions
  std::size_t positions_ = 0;
  Scores base_;
  const Scores* at_ = nullptr;
};

}  // namespace proxbench::bcd
