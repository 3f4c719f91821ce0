#include "solvers/prox_qn/models/blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace proxbench::prox_qn {

namespace {

/// Relative decrease of F since the blocks were made: up to the first they also serve the next working set;
/// above the second they are made anew at once.
constexpr double kFresh = 1e-4, kStale = 0.2;
/// The factor grows by alpha^-1/2 with a step that had to be cut, up to this, and halves with one that had
/// not.
constexpr double kLargestDamping = 1e3;
/// A pair goes to another working set where y^T s / s^T B0 s lies between these: beyond, what has changed
/// about it is most of it.
constexpr double kLeastCarried = 0.01, kMostCarried = 20.0;

}  // namespace

void Blocks::carry_in(CarriedPairs&& carried, WorkingSet& set) {
  history_ = std::move(carried.history);
  lbfgs_ = std::move(carried.lbfgs);
  damping_ = carried.damping;
  inner_.set_trusted(carried.trusted);
  set.index = std::move(carried.index);
  set.w = std::move(carried.w);
  set.chosen = true;
}

CarriedPairs Blocks::carry_out(WorkingSet& set) {
  return {.history = std::move(history_),
          .lbfgs = std::move(lbfgs_),
          .index = std::move(set.index),
          .w = std::move(set.w),
          .damping = damping_,
          .trusted = inner_.trusted()};
}

void Blocks::start(const Iterate& at) {
  make_blocks(at);
  forget_pairs(at);
}

void Blocks::start_again(const Iterate& at) {
  const bool fresh = built_at_ - at.value <= kFresh * at.value;
  if (fresh)
    metric_.take_rows(at.objective, at.residual(), at.set.index, at.set.from);
  else if (!make_blocks(at))
    return;
  if (history_.size() > 0)
    carry_pairs(at);
  else if (fresh)
    lbfgs_.take_rows(at.set.from);
  else
    forget_pairs(at);
}

bool Blocks::stale(double value) const {
  return built_at_ - value > kStale * value;
}

void Blocks::adapt_damping(double alpha) {
  if (alpha < 1.0)
    damping_ = std::min(damping_ / std::sqrt(alpha), kLargestDamping);
  else
    damping_ = std::max(0.5 * damping_, 1.0);
}

void Blocks::learn(const Step& step, const Iterate& at) {
  inner_.judge(step);
  metric_.multiply(step.d, product_);
  if (lbfgs_.update(step.d, step.change, product_) && history_capacity_ > 0)
    history_.push(history_capacity_, at.set.index, step.d, step.before, step.after, at.parallel());
  if (lbfgs_.gamma() != damping_) lbfgs_.set_gamma(damping_);
}

void Blocks::keep_rows(std::span<const std::uint32_t> kept) {
  lbfgs_.keep_rows(kept);
  metric_.keep_rows(kept);
}

void Blocks::stop() {
  history_.clear();
  lbfgs_ = CompactLbfgs(settings_.memory, GammaRule::kNone);
}

bool Blocks::make_blocks(const Iterate& at) {
  built_at_ = at.value;
  return metric_.build(at.objective, at.residual(), at.set.index, at.stop);
}

void Blocks::forget_pairs(const Iterate& at) {
  history_.clear();
  lbfgs_.reset(at.set.size(), damping_);
}

/// The pairs in the history on the working set at hand, for the blocks at hand. Only where they come with all
/// their rows: without, they do more harm than good (pair_history.h).
void Blocks::carry_pairs(const Iterate& at) {
  const std::vector<Coord>& index = at.set.index;
  const std::vector<std::uint32_t>& from = at.set.from;
  const std::size_t n = index.size(), pairs = history_.size(), older = lbfgs_.pairs() - pairs;
  std::vector<Coord> fresh;
  std::vector<std::size_t> fresh_row;
  for (std::size_t j = 0; j < n; ++j) {
    if (from[j] != CompactLbfgs::kNew) continue;
    fresh.push_back(index[j]);
    fresh_row.push_back(j);
  }
  const std::vector<std::vector<double>> changes = history_.gradient_changes(at.objective, fresh);
  std::vector<std::vector<double>> s(pairs), y(pairs);
  for (std::size_t i = 0; i < pairs; ++i) s[i] = history_.step(i, index);
  std::vector<std::vector<double>> b = metric_.multiply(s, at.parallel());
  std::vector<std::size_t> carried;
  for (std::size_t i = 0; i < pairs; ++i) {
    y[i].resize(n);
    for (std::size_t j = 0; j < n; ++j)
      if (from[j] != CompactLbfgs::kNew) y[i][j] = lbfgs_.y(older + i, from[j]);
    for (std::size_t f = 0; f < fresh.size(); ++f)
      y[i][fresh_row[f]] = changes[i][f] + at.objective.mu() * s[i][fresh_row[f]];
    double sy = 0.0, sb = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      sy += s[i][j] * y[i][j];
      sb += s[i][j] * b[i][j];
    }
    if (!(sy > kLeastCarried * sb && sy < kMostCarried * sb)) continue;
    if (carried.size() < i) {
      s[carried.size()].swap(s[i]);
      y[carried.size()].swap(y[i]);
      b[carried.size()].swap(b[i]);
    }
    carried.push_back(i);
  }
  s.resize(carried.size());
  history_.keep(carried);
  lbfgs_.set_gamma(damping_);
  lbfgs_.assign(n, s, y, b, at.parallel());
}

}  // namespace proxbench::prox_qn
