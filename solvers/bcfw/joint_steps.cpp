#include "solvers/bcfw/joint_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "solvers/shared/simplex.h"

namespace proxbench::bcfw {

namespace {

/// Conjugate gradients end once the residual is this share of the gradient, or after so many products.
constexpr double kResidual = 0.2;
constexpr int kMostProducts = 150;
/// phi is minimised until ||gradient||^2/(2*mu), its part of the gap, is this share of the gap. sigma doubles
/// if this took at most kFewSteps Newton steps, and is halved if kMostSteps did not suffice.
constexpr double kShareOfGap = 0.05;
constexpr int kFewSteps = 2, kMostSteps = 4;
/// The line search ends once the slope is this share of the first one, or after so many trials.
constexpr double kShareOfSlope = 0.1;
constexpr int kMostTrials = 12;
/// Joint steps pay if X has at least so many nonzeros for each weight.
constexpr double kNonzerosPerWeight = 8.0;
/// Sums over atoms are made in so many chunks.
constexpr std::size_t kChunks = 8;

double dot(std::span<const double> a, std::span<const double> b) {
  return kernels_in_use().dot(a.data(), b.data(), a.size());
}

void add(double step, std::span<const double> x, std::span<double> y) {
  kernels_in_use().add_scaled(y.data(), step, x.data(), y.size());
}

}  // namespace

Planes::Planes(const Objective& objective, MixtureStore& mixtures) : objective_(&objective) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const InstanceMaxOracle& oracle = *objective.oracle().instance_max();
  std::vector<Index> gold;
  std::vector<std::size_t> cell_of, on;
  std::vector<double> count(objective.map().extra_weights(), 0.0);
  for (Index i = 0; i < objective.instances(); ++i) {
    const Index first = objective.oracle().begin()[i];
    gold.resize(objective.oracle().length(i));
    oracle.gold_structure(i, gold);
    cell_of.assign(gold.size() * objective.outputs(), kNone);
    const auto add_parts = [&](std::size_t t, Index label, double value) {
      for (const Index k : oracle.outputs_on(label)) {
        std::size_t& cell = cell_of[t * objective.outputs() + k];
        if (cell == kNone) {
          cell = cells_.size();
          cells_.push_back({first + static_cast<Index>(t), k});
        }
        parts_.push_back({cell, value});
      }
    };
    const Atoms& atoms = mixtures[i];
    for (std::size_t a = 0; a < atoms.atoms(); ++a) {
      const std::span<const Index> y = atoms.structure(a);
      for (std::size_t t = 0; t < y.size(); ++t) {
        if (y[t] == gold[t]) continue;
        add_parts(t, y[t], 1.0);
        add_parts(t, gold[t], -1.0);
      }
      cell_begin_.push_back(parts_.size());
      for (const auto& [structure, value] :
           {std::pair(y, 1.0), std::pair(std::span<const Index>(gold), -1.0)}) {
        oracle.extra_on(structure, on);
        for (const std::size_t e : on) {
          count[e] += value;
          extras_.push_back({e, 0.0});
        }
      }
      // Each extra weight once, without those that cancel.
      const auto begin = extras_.begin() + static_cast<std::ptrdiff_t>(extra_begin_.back());
      for (auto at = begin; at != extras_.end(); ++at) at->value = std::exchange(count[at->of], 0.0);
      extras_.erase(std::remove_if(begin, extras_.end(), [](const Part& p) { return p.value == 0.0; }),
                    extras_.end());
      extra_begin_.push_back(extras_.size());
    }
    begin_.push_back(size());
    first_cell_.push_back(cells_.size());
  }
}

Planes::Planes(const Planes& all, const std::vector<bool>& wanted) : objective_(all.objective_) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> cell_of(all.cells_.size(), kNone);
  for (std::size_t i = 0; i + 1 < all.begin_.size(); ++i) {
    for (std::size_t y = all.begin_[i]; y < all.begin_[i + 1]; ++y) {
      if (!wanted[y]) continue;
      for (const Part& part : all.parts(y)) {
        std::size_t& cell = cell_of[part.of];
        if (cell == kNone) {
          cell = cells_.size();
          cells_.push_back(all.cells_[part.of]);
        }
        parts_.push_back({cell, part.value});
      }
      cell_begin_.push_back(parts_.size());
      extras_.insert(extras_.end(), all.extras(y).begin(), all.extras(y).end());
      extra_begin_.push_back(extras_.size());
    }
    begin_.push_back(size());
    first_cell_.push_back(cells_.size());
  }
}

void Planes::values(std::span<const double> v, std::vector<double>& out) const {
  const DesignMatrix& x = objective_->map().x();
  const std::size_t features = x.features();
  const std::span<const double> extra = v.subspan(features * objective_->outputs());
  out.resize(size());
  const Chunks chunks{begin_.size() - 1, (begin_.size() - 2) / kChunks + 1};
  objective_->parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    const std::size_t first = chunks.begin(chunk), last = chunks.end(chunk), origin = first_cell_[first];
    std::vector<double> score(first_cell_[last] - origin);
    for (std::size_t c = 0; c < score.size(); ++c) {
      const Cell& cell = cells_[origin + c];
      const double* const row = v.data() + cell.output * features;
      double sum = 0.0;
      if (x.binary())
        for (const Index j : x.row(cell.position)) sum += row[j];
      else
        x.for_each_entry(cell.position, [&](Index j, double value) { sum += value * row[j]; });
      score[c] = sum;
    }
    for (std::size_t y = begin_[first]; y < begin_[last]; ++y) {
      double sum = 0.0;
      for (const Part& part : parts(y)) sum += part.value * score[part.of - origin];
      for (const Part& part : extras(y)) sum += part.value * extra[part.of];
      out[y] = sum;
    }
  });
}

void Planes::features(std::span<const double> weight, std::vector<double>& out) const {
  const DesignMatrix& x = objective_->map().x();
  const std::size_t features = x.features();
  out.resize(objective_->dimension());
  const Chunks chunks{begin_.size() - 1, (begin_.size() - 2) / kChunks + 1};
  sum_chunks(
      objective_->parallel(), chunks.count(), out.size(), out.data(), [&](std::size_t chunk, double* part) {
        const std::size_t first = chunks.begin(chunk), last = chunks.end(chunk), origin = first_cell_[first];
        double* const extra = part + features * objective_->outputs();
        std::vector<double> of_cell(first_cell_[last] - origin, 0.0);
        for (std::size_t y = begin_[first]; y < begin_[last]; ++y) {
          if (weight[y] == 0.0) continue;
          for (const Part& one : parts(y)) of_cell[one.of - origin] += one.value * weight[y];
          for (const Part& one : extras(y)) extra[one.of] += one.value * weight[y];
        }
        for (std::size_t c = 0; c < of_cell.size(); ++c) {
          if (of_cell[c] == 0.0) continue;
          double* const row = part + cells_[origin + c].output * features;
          x.for_each_entry(cells_[origin + c].position,
                           [&](Index j, double value) { row[j] += of_cell[c] * value; });
        }
      });
}

bool JointSteps::pay(const Objective& objective) {
  return kNonzerosPerWeight * static_cast<double>(objective.dimension()) <=
         static_cast<double>(objective.map().x().nonzeros());
}

std::optional<double> JointSteps::step(MixtureStore& mixtures, double gap,
                                       const std::function<bool()>& stop) {
  const double mu = objective_.mu();
  const Planes planes(objective_, mixtures);
  cost_.clear();
  weight_.clear();
  for (Index i = 0; i < objective_.instances(); ++i)
    for (std::size_t a = 0; a < mixtures[i].atoms(); ++a) {
      cost_.push_back(mixtures[i].cost(a));
      weight_.push_back(mixtures[i].weight(a));
    }
  if (w_.empty()) {
    planes.features(weight_, w_);
    for (double& x : w_) x /= -mu;
  }
  std::vector<double> z, along;
  planes.values(w_, z);
  add(1.0, cost_, z);
  int steps = 0;
  for (double squared = gradient(planes, z); squared > 2.0 * mu * kShareOfGap * gap && steps < kMostSteps;
       ++steps) {
    if (stop()) return std::nullopt;
    newton_direction(planes);
    const double gamma = search(planes, z, along);
    add(gamma, direction_, w_);
    add(gamma, along, z);
    squared = gradient(planes, z);
  }
  if (!std::isfinite(dot(gradient_, gradient_))) {
    w_.clear();
    return std::nullopt;
  }
  if (steps <= kFewSteps) sigma_ *= 2.0;
  if (steps == kMostSteps) sigma_ *= 0.5;
  return move(planes, mixtures);
}

/// Sets moved_ to b(w), and gradient_ to that of phi. Returns its squared norm.
double JointSteps::gradient(const Planes& planes, std::span<const double> z) {
  project(planes, z, moved_);
  planes.features(moved_, gradient_);
  add(objective_.mu(), w_, gradient_);
  return dot(gradient_, gradient_);
}

void JointSteps::project(const Planes& planes, std::span<const double> z, std::vector<double>& out) const {
  out.resize(z.size());
  std::vector<double> sorted;
  const auto begin = planes.begin();
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    for (std::size_t y = begin[i]; y < begin[i + 1]; ++y) out[y] = weight_[y] + sigma_ * z[y];
    project_onto_simplex(std::span(out).subspan(begin[i], begin[i + 1] - begin[i]), sorted);
  }
}

/// Solves Hessian * direction = -gradient by conjugate gradients. Only instances with several atoms in b(w)
/// take part in the Hessian.
void JointSteps::newton_direction(const Planes& planes) {
  const double mu = objective_.mu();
  std::vector<bool> wanted(planes.size(), false);
  for (std::size_t i = 0; i + 1 < planes.begin().size(); ++i) {
    const std::size_t first = planes.begin()[i], last = planes.begin()[i + 1];
    const auto support =
        std::count_if(moved_.begin() + static_cast<std::ptrdiff_t>(first),
                      moved_.begin() + static_cast<std::ptrdiff_t>(last), [](double x) { return x > 0.0; });
    for (std::size_t y = first; y < last; ++y) wanted[y] = support > 1 && moved_[y] > 0.0;
  }
  const Planes active(planes, wanted);
  std::vector<double> residual(gradient_.size()), values, product;
  for (std::size_t j = 0; j < residual.size(); ++j) residual[j] = -gradient_[j];
  direction_.assign(residual.size(), 0.0);
  std::vector<double> p = residual;
  double squared = dot(residual, residual);
  const double target = kResidual * kResidual * squared;
  for (int k = 0; k < kMostProducts && squared > target; ++k) {
    active.values(p, values);
    for (std::size_t i = 0; i + 1 < active.begin().size(); ++i) {
      const std::size_t first = active.begin()[i], last = active.begin()[i + 1];
      double mean = 0.0;
      for (std::size_t y = first; y < last; ++y) mean += values[y];
      mean /= static_cast<double>(last - first);
      for (std::size_t y = first; y < last; ++y) values[y] = sigma_ * (values[y] - mean);
    }
    active.features(values, product);
    add(mu, p, product);
    const double step = squared / dot(p, product);
    add(step, p, direction_);
    add(-step, product, residual);
    const double next = dot(residual, residual), beta = next / squared;
    for (std::size_t j = 0; j < p.size(); ++j) p[j] = residual[j] + beta * p[j];
    squared = next;
  }
}

/// Returns a step along direction_ at which the slope of phi is small. Sets `along` to Psi * direction_.
double JointSteps::search(const Planes& planes, std::span<const double> z, std::vector<double>& along) {
  planes.values(direction_, along);
  const double mu = objective_.mu(), linear = mu * dot(w_, direction_),
               square = mu * dot(direction_, direction_);
  std::vector<double> trial(z.size()), b;
  const auto slope = [&](double gamma) {
    std::copy(z.begin(), z.end(), trial.begin());
    add(gamma, along, trial);
    project(planes, trial, b);
    return linear + gamma * square + dot(b, along);
  };
  const double first = dot(gradient_, direction_);
  double low = 0.0, at_low = first, high = kInfinity, at_high = 0.0, gamma = 1.0;
  for (int k = 0; k < kMostTrials; ++k) {
    const double now = slope(gamma);
    if (std::abs(now) <= kShareOfSlope * std::abs(first)) break;
    (now < 0.0 ? low : high) = gamma;
    (now < 0.0 ? at_low : at_high) = now;
    if (high == kInfinity) {
      gamma *= 2.0;
      continue;
    }
    const double margin = 0.1 * (high - low);
    gamma = std::clamp(low - at_low * (high - low) / (at_high - at_low), low + margin, high - margin);
  }
  return gamma;
}

/// Moves the weights towards b(w), by the exact line search on D, and returns D.
double JointSteps::move(const Planes& planes, MixtureStore& mixtures) {
  const double mu = objective_.mu();
  std::vector<double> change(moved_), features, of_change;
  add(-1.0, weight_, change);
  planes.features(weight_, features);
  planes.features(change, of_change);
  const double slope = dot(change, cost_) - dot(of_change, features) / mu,
               curvature = dot(of_change, of_change) / mu,
               gamma = slope > 0.0 ? std::min(slope / curvature, 1.0) : 0.0;
  for (Index i = 0; i < objective_.instances(); ++i)
    mixtures[i].move(std::span(change).subspan(planes.begin()[i], mixtures[i].atoms()), gamma);
  add(gamma, change, weight_);
  add(gamma, of_change, features);
  dual_w_ = features;
  for (double& x : dual_w_) x /= -mu;
  return dot(weight_, cost_) - 0.5 * mu * dot(dual_w_, dual_w_);
}

void JointSteps::write(std::span<const double> from, WeightRows& out) const {
  const Index features = objective_.map().features();
  for (Index j = 0; j < features; ++j)
    for (std::size_t k = 0; k < objective_.outputs(); ++k) out.row(j)[k] = from[k * features + j];
  const std::span<const double> extra = from.subspan(std::size_t{features} * objective_.outputs());
  std::ranges::copy(extra, out.extra_row());
}

}  // namespace proxbench::bcfw
