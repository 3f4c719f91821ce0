#include "solvers/shared/lbfgs_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace proxbench::dense {

LbfgsSteps::LbfgsSteps(Objective& objective, std::size_t memory, bool blocks)
    : objective_(objective),
      memory_(memory, objective.dimension(), objective.parallel()),
      rough_(objective),
      blocks_(blocks && rough_.has_blocks()),
      line_(objective) {}

bool LbfgsSteps::step(Monitor& monitor, Point& now, std::vector<double>& g) {
  if (blocks_) follow(now);
  bool moved = search(monitor, now, g);
  if (!moved && !memory_.empty() && !monitor.out_of_time()) {
    memory_.clear();
    moved = search(monitor, now, g);
  }
  if (!moved) return false;
  std::vector<double>&s = memory_.spare_s(), &y = memory_.spare_y();
  line_.move(now, s);
  if (std::ranges::all_of(s, [](double x) { return x == 0.0; })) return false;
  std::swap(g, y);
  objective_.gradient(now.residual, now.w, g);
  for_all(objective_.parallel(), g.size(), [&](std::size_t i) { y[i] = g[i] - y[i]; });
  if (blocks_) rescale(s, y);
  memory_.keep(0.0);
  return true;
}

/// Sets p = -H g and searches along it.
bool LbfgsSteps::search(Monitor& monitor, Point& now, const std::vector<double>& g) {
  const Parallel& parallel = objective_.parallel();
  std::vector<double>& p = memory_.spare_s();
  for_all(parallel, g.size(), [&](std::size_t i) { p[i] = -g[i]; });
  if (blocks_)
    memory_.apply(p, [&](std::span<double> r) { apply_start(r); });
  else
    memory_.apply(p);
  const bool guess = memory_.scale() == 0.0 && !blocks_;
  const double first =
      guess ? 1.0 / (objective_.map().typical_value() * std::sqrt(dot(parallel, g, g))) : 1.0;
  line_.open(now, g, p);
  if (!(line_.start().slope < 0.0)) return false;
  return strong_wolfe(line_.start(), first, {},
                      [&](double alpha) {
                        return monitor.out_of_time() ? LineValue{kNaN, kNaN} : line_.at(alpha);
                      })
      .accepted;
}

/// Builds M at `now` if the loss has fallen to half of its value at the last build.
void LbfgsSteps::follow(const Point& now) {
  if (!(now.loss <= 0.5 * built_at_)) return;
  rough_.build(now.residual);
  built_at_ = now.loss;
}

/// Sets gamma = y^T s / y^T M^-1 y from the newest pair.
void LbfgsSteps::rescale(std::span<const double> s, std::span<const double> y) {
  const Parallel& parallel = objective_.parallel();
  std::vector<double> solved(y.begin(), y.end());
  rough_.solve(solved);
  const double sy = sum_all(parallel, y.size(), [&](std::size_t i) { return s[i] * y[i]; });
  if (sy > 0.0) gamma_ = sy / dot(parallel, y, solved);
}

/// r := H_0 r.
void LbfgsSteps::apply_start(std::span<double> r) const {
  rough_.solve(r);
  for_all(objective_.parallel(), r.size(), [&](std::size_t i) { r[i] *= gamma_; });
}

}  // namespace proxbench::dense
