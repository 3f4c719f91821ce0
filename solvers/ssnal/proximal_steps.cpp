#include "solvers/ssnal/proximal_steps.h"

#include <algorithm>
#include <cmath>

#include "core/data/typical_value.h"
#include "core/kernels/kernel_table.h"
#include "solvers/shared/simplex.h"

namespace proxbench::ssnal {

namespace {

/// Conjugate gradients end once the residual is this share of the gradient, or after so many products.
constexpr double kResidual = 0.2;
constexpr int kMostProducts = 1000;
/// phi is minimised, by at least one Newton step, until ||gradient||^2/(2*mu), its part of the gap, is this
/// share of the gap. sigma doubles if this took at most kFewSteps, and is halved if kMostSteps did not
/// suffice.
constexpr double kShareOfGap = 0.05;
constexpr int kFewSteps = 2, kMostSteps = 4;
/// sigma is at most kMostSigma: where sigma*z is huge, a + sigma*z has no digits left for a. If conjugate
/// gradients do not end, sigma is multiplied by kLessSigma.
constexpr double kMostSigma = 0x1p20, kLessSigma = 0.125;
/// The line search ends once the slope is this share of the first one, or after so many trials.
constexpr double kShareOfSlope = 0.1;
constexpr int kMostTrials = 12;

double dot(std::span<const double> a, std::span<const double> b) {
  return kernels_in_use().dot(a.data(), b.data(), a.size());
}

void add(double step, std::span<const double> x, std::span<double> y) {
  kernels_in_use().add_scaled(y.data(), step, x.data(), y.size());
}

/// mu over the mean squared norm of a position's features: the size of a step on one instance. At most 1.
double first_sigma(const Objective& objective) {
  const DesignMatrix& x = objective.map().x();
  const double unit = typical_value(x, objective.parallel()),
               squares = static_cast<double>(x.nonzeros()) * unit * unit;
  const double sigma = objective.mu() * static_cast<double>(x.positions()) / squares;
  return squares > 0.0 ? std::min(sigma, 1.0) : 1.0;
}

}  // namespace

ProximalSteps::ProximalSteps(const Objective& objective, MixtureStore& mixtures)
    : objective_(objective), rough_(objective), sigma_(first_sigma(objective)) {
  read(mixtures);
  Planes(objective, mixtures).features(weight_, features_);
  w_ = features_;
  for (double& x : w_) x /= -objective.mu();
  dual_ = dot(weight_, cost_) - 0.5 * objective.mu() * dot(w_, w_);
}

/// Sets cost_ and weight_.
void ProximalSteps::read(MixtureStore& mixtures) {
  cost_.clear();
  weight_.clear();
  for (Index i = 0; i < objective_.instances(); ++i)
    for (std::size_t a = 0; a < mixtures[i].atoms(); ++a) {
      cost_.push_back(mixtures[i].cost(a));
      weight_.push_back(mixtures[i].weight(a));
    }
}

bool ProximalSteps::step(MixtureStore& mixtures, double gap, const std::function<bool()>& stop) {
  const double mu = objective_.mu();
  const Planes planes(objective_, mixtures);
  read(mixtures);
  std::vector<double> z, along;
  planes.values(w_, z);
  add(1.0, cost_, z);
  int steps = 0;
  bool solved = true;
  double squared = gradient(planes, z);
  const auto more = [&] { return squared > 2.0 * mu * kShareOfGap * gap; };
  for (; squared > 0.0 && solved && steps < kMostSteps && (steps == 0 || more()); ++steps) {
    const Planes with_weight = active(planes);
    if (steps == 0 && rough_.has_blocks()) {
      const Planes::Spread spread = with_weight.spread(sigma_);
      rough_.build(spread.unary, spread.extra, planes.balanced());
    }
    solved = newton_direction(with_weight, stop);
    if (stop()) return false;
    const double gamma = search(planes, z, along);
    add(gamma, direction_, w_);
    add(gamma, along, z);
    squared = gradient(planes, z);
  }
  if (!std::isfinite(dot(gradient_, gradient_))) return false;
  if (!solved)
    sigma_ *= kLessSigma;
  else if (more())
    sigma_ *= 0.5;
  else if (steps <= kFewSteps)
    sigma_ = std::min(2.0 * sigma_, kMostSigma);
  move(planes.begin(), mixtures);
  return true;
}

/// Sets moved_ to b(w), and gradient_ to that of phi. Returns its squared norm.
double ProximalSteps::gradient(const Planes& planes, std::span<const double> z) {
  project(planes, z, moved_);
  planes.features(moved_, of_moved_);
  gradient_ = of_moved_;
  add(objective_.mu(), w_, gradient_);
  return dot(gradient_, gradient_);
}

void ProximalSteps::project(const Planes& planes, std::span<const double> z, std::vector<double>& out) const {
  out.resize(z.size());
  std::vector<double> sorted;
  const auto begin = planes.begin();
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    for (std::size_t y = begin[i]; y < begin[i + 1]; ++y) out[y] = weight_[y] + sigma_ * z[y];
    project_onto_simplex(std::span(out).subspan(begin[i], begin[i + 1] - begin[i]), sorted);
  }
}

/// The rows of Psi that the Hessian needs: if an instance has several atoms with b > 0, these atoms.
Planes ProximalSteps::active(const Planes& planes) const {
  std::vector<bool> wanted(planes.size(), false);
  for (std::size_t i = 0; i + 1 < planes.begin().size(); ++i) {
    const std::size_t first = planes.begin()[i], last = planes.begin()[i + 1];
    const auto support =
        std::count_if(moved_.begin() + static_cast<std::ptrdiff_t>(first),
                      moved_.begin() + static_cast<std::ptrdiff_t>(last), [](double x) { return x > 0.0; });
    for (std::size_t y = first; y < last; ++y) wanted[y] = support > 1 && moved_[y] > 0.0;
  }
  return {planes, wanted};
}

/// Solves Hessian * direction = -gradient by conjugate gradients. Returns whether they ended.
bool ProximalSteps::newton_direction(const Planes& active, const std::function<bool()>& stop) {
  const double mu = objective_.mu();
  std::vector<double> residual(gradient_), solved, values, product;
  for (double& x : residual) x = -x;
  direction_.assign(residual.size(), 0.0);
  precondition(residual, solved);
  std::vector<double> p = solved;
  double slope = dot(residual, solved);
  const double target = kResidual * kResidual * dot(residual, residual);
  int k = 0;
  for (; k < kMostProducts && dot(residual, residual) > target && !stop(); ++k) {
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
    const double step = slope / dot(p, product);
    add(step, p, direction_);
    add(-step, product, residual);
    precondition(residual, solved);
    const double next = dot(residual, solved), beta = next / slope;
    for (std::size_t j = 0; j < p.size(); ++j) p[j] = solved[j] + beta * p[j];
    slope = next;
  }
  return k < kMostProducts;
}

/// Sets out = M^-1 r. M is rough_ if that has blocks, else mu*I. A vector of weights has a run of numbers for
/// each output here, but for each feature in rough_.
void ProximalSteps::precondition(std::span<const double> r, std::vector<double>& out) const {
  if (!rough_.has_blocks()) {
    out.assign(r.begin(), r.end());
    for (double& x : out) x /= objective_.mu();
    return;
  }
  const std::size_t features = objective_.map().features(), outputs = objective_.outputs();
  std::vector<double> by_feature(r.begin(), r.end());
  for (std::size_t k = 0; k < outputs; ++k)
    for (std::size_t j = 0; j < features; ++j) by_feature[j * outputs + k] = r[k * features + j];
  rough_.solve(by_feature);
  out = by_feature;
  for (std::size_t k = 0; k < outputs; ++k)
    for (std::size_t j = 0; j < features; ++j) out[k * features + j] = by_feature[j * outputs + k];
}

/// Returns a step along direction_ at which the slope of phi is small. Sets `along` to Psi * direction_.
double ProximalSteps::search(const Planes& planes, std::span<const double> z, std::vector<double>& along) {
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

/// Moves the weights of the atoms towards b(w), as far as D rises. Sets dual_.
void ProximalSteps::move(std::span<const std::size_t> begin, MixtureStore& mixtures) {
  const double mu = objective_.mu();
  std::vector<double> change(moved_), of_change(of_moved_);
  add(-1.0, weight_, change);
  add(-1.0, features_, of_change);
  const double slope = dot(change, cost_) - dot(of_change, features_) / mu,
               curvature = dot(of_change, of_change) / mu,
               gamma = slope > 0.0 ? std::min(slope / curvature, 1.0) : 0.0;
  for (Index i = 0; i < objective_.instances(); ++i)
    mixtures[i].move(std::span(change).subspan(begin[i], mixtures[i].atoms()), gamma);
  add(gamma, change, weight_);
  add(gamma, of_change, features_);
  dual_ = dot(weight_, cost_) - 0.5 * dot(features_, features_) / mu;
}

}  // namespace proxbench::ssnal
