#include "solvers/shared/instances/instance_features.h"

#include "core/kernels/kernel_table.h"

namespace proxbench {

InstanceFeatures::InstanceFeatures(const DesignMatrix& x, std::span<const Index> begin)
    : begin_{0}, bound_{0} {
  constexpr Index kNone = static_cast<Index>(-1);
  std::vector<Index> slot(x.features(), kNone);
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    const std::size_t first = begin_.back();
    for (Index p = begin[i]; p < begin[i + 1]; ++p)
      for (const Index j : x.row(p)) {
        if (slot[j] == kNone) {
          slot[j] = static_cast<Index>(features_.size() - first);
          features_.push_back(j);
          bound_.push_back(0);
        }
        ++bound_[first + slot[j] + 1];
      }
    for (std::size_t f = first; f < features_.size(); ++f) bound_[f + 1] += bound_[f];
    next.assign(bound_.begin() + static_cast<std::ptrdiff_t>(first), bound_.end() - 1);
    position_.resize(bound_.back());
    if (!x.binary()) value_.resize(bound_.back());
    for (Index p = begin[i]; p < begin[i + 1]; ++p) {
      x.for_each_entry(p, [&](Index j, double value) {
        const std::size_t at = next[slot[j]]++;
        position_[at] = p - begin[i];
        if (!value_.empty()) value_[at] = value;
      });
    }
    for (std::size_t f = first; f < features_.size(); ++f) slot[features_[f]] = kNone;
    begin_.push_back(features_.size());
  }
}

InstanceFeatures::View InstanceFeatures::of(Index instance) const {
  View view;
  view.features = {features_.data() + begin_[instance], features_.data() + begin_[instance + std::size_t{1}]};
  view.all_ = this;
  view.bound_ = bound_.data() + begin_[instance];
  return view;
}

}  // namespace proxbench
