#include "solvers/shared/lbfgs_memory.h"

#include "core/quasi_newton/lbfgs.h"
#include "solvers/shared/dense.h"

namespace proxbench::dense {

LbfgsMemory::LbfgsMemory(std::size_t capacity, std::size_t d, const Parallel& parallel)
    : parallel_(parallel), s_(capacity + 1), y_(capacity + 1), rho_(capacity + 1), alpha_(capacity + 1) {
  make_spare(d);
}

void LbfgsMemory::make_spare(std::size_t d) {
  s_[slot(size_)].resize(d);
  y_[slot(size_)].resize(d);
}

void LbfgsMemory::update(std::span<const double> s, std::span<const double> y) {
  s_[slot(size_)].assign(s.begin(), s.end());
  y_[slot(size_)].assign(y.begin(), y.end());
  keep(0.0);
}

void LbfgsMemory::take_rows(std::span<const std::uint32_t> from) {
  // If rows only leave, each moves towards the front.
  bool in_place = true;
  for (std::size_t j = 0; j < from.size(); ++j)
    in_place = in_place && from[j] != CompactLbfgs::kNew && from[j] >= j;
  parallel_.for_each(size_, [&](std::size_t i) {
    for (std::vector<double>* of : {&s_[slot(i)], &y_[slot(i)]}) {
      std::vector<double> moved;
      if (!in_place) moved.resize(from.size());
      double* const to = in_place ? of->data() : moved.data();
      for (std::size_t j = 0; j < from.size(); ++j)
        to[j] = from[j] == CompactLbfgs::kNew ? 0.0 : (*of)[from[j]];
      if (in_place)
        of->resize(from.size());
      else
        of->swap(moved);
    }
  });
  make_spare(from.size());
}

void LbfgsMemory::keep(double omega) {
  const std::size_t at = slot(size_);
  const double sy = dot(parallel_, s_[at], y_[at]), yy = dot(parallel_, y_[at], y_[at]);
  if (!(sy > 0.0) || sy < omega * yy) return;
  rho_[at] = 1.0 / sy;
  scale_ = sy / yy;
  if (++size_ == rho_.size()) keep_newest(size_ - 1);
  make_spare(s_[at].size());
}

void LbfgsMemory::keep_newest(std::size_t pairs) {
  if (size_ <= pairs) return;
  oldest_ = slot(size_ - pairs);
  size_ = pairs;
}

void LbfgsMemory::apply(std::span<double> r, const std::function<void(std::span<double>)>& start) {
  double s_dot_r = empty() ? 0.0 : dot(parallel_, s_[slot(size_ - 1)], r);
  for (std::size_t i = size_; i-- > 0;) {
    const std::size_t at = slot(i);
    alpha_[at] = rho_[at] * s_dot_r;
    // Each step also forms the next product. The last one is with the pair that the second loop starts with.
    const std::vector<double>& next = i > 0 ? s_[slot(i - 1)] : y_[at];
    s_dot_r = add_then_dot(parallel_, -alpha_[at], y_[at], r, next);
  }
  double y_dot_r = scale_ * s_dot_r;
  if (start) {
    start(r);
    if (!empty()) y_dot_r = dot(parallel_, y_[slot(0)], r);
  } else if (scale_ != 0.0) {
    for_all(parallel_, r.size(), [&](std::size_t i) { r[i] *= scale_; });
  }
  for (std::size_t i = 0; i < size_; ++i) {
    const std::size_t at = slot(i);
    const double step = alpha_[at] - rho_[at] * y_dot_r;
    const std::vector<double>& next = i + 1 < size_ ? y_[slot(i + 1)] : y_[at];
    y_dot_r = add_then_dot(parallel_, step, s_[at], r, next);
  }
}

}  // namespace proxbench::dense
