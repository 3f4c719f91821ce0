#include "solvers/bcd/carriers.h"

#include <algorithm>
#include <numeric>

namespace proxbench::bcd {

Carriers::Carriers(const Objective& objective)
    : objective_(objective), instance_of_(objective.x().positions()) {
  const auto begin = objective.structure().begin();
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    std::fill(instance_of_.begin() + begin[i], instance_of_.begin() + begin[i + 1], static_cast<Index>(i));
  base_ = objective.make_scores();
  direction = objective.make_scores();
  residual = objective.make_residual();
}

void Carriers::select(Index feature, const Scores& scores) {
  read_column(feature);
  instances.clear();
  for (const Index p : position)
    if (instances.empty() || instances.back() != instance_of_[p]) instances.push_back(instance_of_[p]);
  if (instances.size() == objective_.instances()) {
    local = position;
    take_all(scores);
    return;
  }
  const auto begin = objective_.structure().begin();
  local.resize(position.size());
  std::vector<Index>& first = first_;
  first.assign(1, 0);
  for (const Index i : instances)
    first.push_back(first.back() + static_cast<Index>(objective_.structure().length(i)));
  for (std::size_t e = 0, i = 0; e < position.size(); ++e) {
    while (instance_of_[position[e]] != instances[i]) ++i;
    local[e] = first[i] + position[e] - begin[instances[i]];
  }
  positions_ = first.back();
  base_.stride = padded(positions_);
  base_.resize_columns(scores.columns);
  base_.column_of = scores.column_of;
  base_.extra = scores.extra;
  const Chunks chunks{scores.columns, std::max<std::size_t>(kTaskNumbers / (positions_ + 1), 1)};
  objective_.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    for (std::size_t c = chunks.begin(chunk); c < chunks.end(chunk); ++c)
      for (std::size_t i = 0; i < instances.size(); ++i)
        std::copy_n(scores.column(c) + begin[instances[i]], first[i + 1] - first[i],
                    base_.column(c) + first[i]);
  });
  at_ = &base_;
}

void Carriers::select_all(const Scores& scores) {
  position.clear();
  local.clear();
  value.clear();
  instances.resize(objective_.instances());
  std::iota(instances.begin(), instances.end(), Index{0});
  take_all(scores);
}

void Carriers::clear_direction() {
  direction.stride = padded(positions_);
  std::fill(direction.extra.begin(), direction.extra.end(), 0.0);
  if (direction.one_each()) {
    direction.values.assign(direction.stride * direction.columns, 0.0);
  } else {
    direction.column_of.assign(direction.column_of.size(), Scores::kNoColumn);
    direction.resize_columns(0);
  }
}

void Carriers::add_direction(Index k, double d) {
  double* column = direction.column(direction.one_each() ? k : direction.add_column(k));
  for (std::size_t e = 0; e < local.size(); ++e) column[local[e]] += d * x(e);
}

double Carriers::infer(Objective& objective) {
  residual.stride = padded(positions_);
  if (residual.one_each()) residual.resize_columns(objective.outputs());
  return objective.infer_some(instances, {*at_}, &residual);
}

double Carriers::infer(Objective& objective, double alpha) const {
  return objective.infer_some(instances, {*at_, &direction, alpha}, nullptr);
}

void Carriers::read_column(Index feature) {
  const DesignMatrix& x = objective_.x();
  position = x.column(feature);
  const auto values = x.column_values(feature);
  value.assign(values.begin(), values.end());
}

void Carriers::take_all(const Scores& scores) {
  positions_ = objective_.x().positions();
  at_ = &scores;
}

}  // namespace proxbench::bcd
