#include "solvers/prox_newton/face_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/quasi_newton/lbfgs.h"
#include "solvers/prox_newton/diagonals.h"
#include "solvers/prox_newton/entering.h"
#include "solvers/prox_newton/newton_model.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/proximal/coordinate_descent.h"

namespace proxbench::prox_newton {

namespace {

/// The first curvature is measured over this relative change of the smooth part. The quadratic term then has
/// eight correct digits or more.
constexpr double kShortStep = 1e-3;
/// The fewest and the most pairs to keep, and the largest share of a pass over the data that walks over them
/// may take, by counts of operations. Walks read from memory, so in seconds the share is larger.
constexpr std::size_t kFewestPairs = 100, kMostPairs = 400;
constexpr double kShareOfPairs = 0.025;

}  // namespace

void FaceModel::follow(const proximal::Iterate& at) {
  if (memory_) memory_->take_rows(at.set.from);
  diagonal_.clear();
}

void FaceModel::start_epoch(proximal::Iterate& at) {
  follow(at);
  const std::vector<double> counts = counts_diagonal(at.objective, at.set.index);
  // At w = 0, marginals are the same everywhere in most structures, so the Hessian tells no more than counts.
  // Where full gradients are costly, its diagonal costs more than it saves.
  const bool at_zero = std::ranges::all_of(at.set.w, [](double w) { return w == 0.0; });
  diagonal_ = at_zero || full_gradients_are_costly(at.objective)
                  ? counts
                  : hessian_diagonal(at.objective, at.residual(), at.set.index);
  const double mu = at.objective.mu(), ridge = ridge_of(diagonal_) + mu, of_counts = ridge_of(counts) + mu;
  for (std::size_t j = 0; j < diagonal_.size(); ++j)
    diagonal_[j] = std::sqrt(std::sqrt(diagonal_[j] + ridge) * std::sqrt(counts[j] + of_counts));
  if (memory_) return;

  memory_.emplace(kMostPairs, at.set.size(), at.parallel());
  // Without a measured gamma the first line search would pay for a wrong guess with many inferences.
  gamma_ = 1.0;
  const double slope = step(at);
  const double curvature = at.stop.requested() ? 0.0 : curvature_along_direction(at);
  if (!(curvature > 0.0 && std::isfinite(curvature))) return;
  gamma_ = curvature;
  if (!at_zero) return;
  at.scale_direction(1.0 / curvature);  // from w = 0, this is the step with the new gamma
  first_slope_ = slope / curvature;
}

/// Returns d^T H d / d^T D d of the smooth part along at.d, from an inference close to w. The result is not
/// finite, or <= 0, if rounding hides the curvature.
double FaceModel::curvature_along_direction(proximal::Iterate& at) const {
  double slope = 0.0, norm = 0.0, wd = 0.0, dd = 0.0;  // the l2 penalty of w + a*d grows by a*wd + a^2/2*dd
  for (std::size_t j = 0; j < at.set.size(); ++j) {
    slope += at.set.g[j] * at.d[j];
    norm += at.d[j] * at.d[j] * diagonal_[j];
    wd += at.set.mu[j] * at.set.w[j] * at.d[j];
    dd += at.set.mu[j] * at.d[j] * at.d[j];
  }
  const double alpha = kShortStep * (at.loss() + at.set.l2(at.set.w)) / std::abs(slope);
  at.map_direction();
  const double change = at.loss_along(alpha, false) - at.loss() + alpha * (wd + 0.5 * alpha * dd);
  return 2.0 * (change - alpha * slope) / (alpha * alpha * norm);
}

void FaceModel::keep_rows(std::span<const std::uint32_t> kept) {
  if (!memory_) return;
  memory_->take_rows(kept);
  if (diagonal_.empty()) return;
  for (std::size_t i = 0; i < kept.size(); ++i) diagonal_[i] = diagonal_[kept[i]];
  diagonal_.resize(kept.size());
}

double FaceModel::step(proximal::Iterate& at) {
  if (first_slope_) return *std::exchange(first_slope_, std::nullopt);
  const std::vector<double>& w = at.set.w;
  std::vector<double>& p = at.d;
  v_.resize(w.size());
  for (std::size_t j = 0; j < w.size(); ++j)
    v_[j] = -minimum_norm_subgradient(w[j], at.set.g[j], at.lambda());
  double slope = 0.0;
  for (const bool drop_all : {false, true}) {
    p = v_;
    memory_->apply(p, [&](std::span<double> r) {
      dense::for_all(at.parallel(), r.size(), [&](std::size_t j) { r[j] /= gamma_ * diagonal_[j]; });
    });
    for (std::size_t j = 0; j < w.size(); ++j) {
      if ((drop_all || w[j] == 0.0) && !(p[j] * v_[j] > 0.0)) p[j] = 0.0;
      if (w[j] != 0.0 && !((w[j] + p[j]) * w[j] > 0.0)) p[j] = -w[j];
    }
    slope = proximal::predicted_change(w, at.set.g, p, at.lambda());
    if (slope < 0.0) break;
  }
  return slope;
}

void FaceModel::learn(const proximal::Step& step, const proximal::Iterate& at) {
  const auto sum = [&](const auto& term) { return dense::sum_all(at.parallel(), step.d.size(), term); };
  const double curvature = sum([&](std::size_t j) { return step.d[j] * step.change[j]; }),
               length = sum([&](std::size_t j) { return step.d[j] * step.d[j] * diagonal_[j]; }),
               change = sum([&](std::size_t j) { return step.change[j] * step.change[j] / diagonal_[j]; });
  if (!(curvature > CompactLbfgs::kCurvatureFloor * std::sqrt(length * change))) return;
  memory_->update(step.d, step.change);
  const double pair = 4.0 * static_cast<double>(step.d.size()),
               paid = kShareOfPairs * NewtonModel::pass_work(at, at.set.index, true) / pair;
  memory_->keep_newest(paid < kMostPairs ? std::max(static_cast<std::size_t>(paid), kFewestPairs)
                                         : kMostPairs);
  gamma_ = change / curvature;
}

}  // namespace proxbench::prox_newton
