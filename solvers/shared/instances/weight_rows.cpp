#include "solvers/shared/instances/weight_rows.h"

#include <algorithm>

#include "core/kernels/kernel_table.h"

namespace proxbench {

void InstanceDirection::form(const InstanceFeatures::View& view, const double* source,
                             std::span<const double> extra_source, std::size_t width) {
  const KernelTable& kernels = kernels_in_use();
  features = view.features;
  rows.assign(features.size() * width, 0.0);
  for (std::size_t f = 0; f < features.size(); ++f) {
    const std::span<const Index> at = view.positions(f);
    kernels.add_rows(source, at.data(), view.values(f), at.size(), rows.data() + f * width, width);
  }
  extra.assign(padded(extra_source.size()), 0.0);
  for (std::size_t e = 0; e < extra_source.size(); ++e) extra[e] = extra_source[e];
}

double InstanceDirection::squared_norm() const {
  const KernelTable& kernels = kernels_in_use();
  return kernels.dot(rows.data(), rows.data(), rows.size()) +
         kernels.dot(extra.data(), extra.data(), extra.size());
}

WeightRows::WeightRows(const Objective& objective)
    : x_(&objective.map().x()),
      begin_(objective.oracle().begin()),
      outputs_(objective.outputs()),
      width_(padded(objective.outputs())),
      extras_(objective.map().extra_weights()),
      rows_(objective.map().features() * width_, 0.0),
      extra_(padded(extras_), 0.0) {}

void WeightRows::set(const SparseVector& w) {
  std::ranges::fill(rows_, 0.0);
  std::ranges::fill(extra_, 0.0);
  const Coord unary = static_cast<Coord>(x_->features()) * outputs_;
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const Coord c = w.index[i];
    (c < unary ? row(static_cast<Index>(c / outputs_))[c % outputs_] : extra_[c - unary]) = w.value[i];
  }
}

SparseVector WeightRows::nonzeros(double scale, const WeightRows& other, double other_scale) const {
  const auto for_each = [&](const auto& visit) {
    const auto at = [&](Coord c, double mine, double others) {
      const double value = other_scale == 0.0 ? scale * mine : scale * mine + other_scale * others;
      if (value != 0.0) visit(c, value);
    };
    for (Index j = 0; j < x_->features(); ++j)
      for (Index k = 0; k < outputs_; ++k)
        at(static_cast<Coord>(j) * outputs_ + k, row(j)[k], other.row(j)[k]);
    for (std::size_t e = 0; e < extras_; ++e)
      at(static_cast<Coord>(x_->features()) * outputs_ + e, extra_[e], other.extra_[e]);
  };
  // Counts first: vectors that grow would take up to three times the memory, and the kernel's time for it.
  std::size_t count = 0;
  for_each([&](Coord, double) { ++count; });
  SparseVector out;
  out.index.reserve(count);
  out.value.reserve(count);
  for_each([&](Coord c, double value) { out.push_back(c, value); });
  return out;
}

void WeightRows::scores(Index instance, double* rows) const {
  const KernelTable& kernels = kernels_in_use();
  std::fill(rows, rows + positions(instance) * width_, 0.0);
  std::vector<double> scratch;
  for (Index p = begin_[instance]; p < begin_[instance + std::size_t{1}]; ++p, rows += width_) {
    const auto features = x_->row(p);
    const auto values = x_->row_values(p, scratch);
    kernels.add_rows(rows_.data(), features.data(), values.empty() ? nullptr : values.data(), features.size(),
                     rows, width_);
  }
}

double WeightRows::squared_norm() const {
  return proxbench::squared_norm(rows_) + proxbench::squared_norm(extra_);
}

double WeightRows::dot(const InstanceDirection& direction) const {
  const KernelTable& kernels = kernels_in_use();
  double sum = kernels.dot(extra_.data(), direction.extra.data(), extra_.size());
  for (std::size_t f = 0; f < direction.features.size(); ++f)
    sum += kernels.dot(row(direction.features[f]), direction.rows.data() + f * width_, width_);
  return sum;
}

void WeightRows::add(double step, const InstanceDirection& direction) {
  const KernelTable& kernels = kernels_in_use();
  kernels.add_scaled(extra_.data(), step, direction.extra.data(), extra_.size());
  for (std::size_t f = 0; f < direction.features.size(); ++f)
    kernels.add_scaled(row(direction.features[f]), step, direction.rows.data() + f * width_, width_);
}

}  // namespace proxbench
