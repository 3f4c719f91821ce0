#include "solvers/prox_newton/newton_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/sum.h"
#include "core/hessian.h"
#include "core/kernels/kernel_table.h"
#include "solvers/prox_newton/entering.h"
#include "solvers/prox_newton/settings.h"
#include "solvers/shared/proximal/coordinate_descent.h"

namespace proxbench::prox_newton {

using namespace proximal;

namespace {

constexpr auto kNone = static_cast<std::uint32_t>(-1);
/// Relative differences up to this count as rounding. Each diagonal entry is raised by at least this share of
/// itself, and to at least this share of the mean. So the matrix is positive definite even if coordinates
/// always occur together. The gradient of a zero exceeds lambda only if it does so by more than this share.
constexpr double kWithinRounding = 1e-10;
/// About this many instances are sampled.
constexpr std::size_t kLooked = kTask;

/// Estimates the additions to H for oracles whose positions interact only by means (candidates), or whose
/// instances are single positions (trees, labels side by side). Each nonzero is paired with the nonzeros of
/// its position. Unless outputs stand side by side, the slots of an instance are also paired with each other.
/// Samples about kLooked instances, spread evenly.
double additions_of_positions(const Objective& objective, std::span<const Coord> index) {
  const DesignMatrix& x = objective.map().x();
  const std::span<const Index> begin = objective.oracle().begin();
  const bool covariances = !side_by_side(objective);
  std::vector<std::size_t> seen(index.size(),
                                objective.instances());  // the last instance that has the coordinate
  const std::size_t own = begin.size() - 1, step = std::max<std::size_t>(1, objective.instances() / kLooked),
                    before = count_before(objective.parallel(), own);
  double counts[] = {0.0, 0.0}, &additions = counts[0], &looked = counts[1];
  for (std::size_t i = (step - before % step) % step; i < own; i += step, ++looked) {
    double slots = 0.0;
    for (Index p = begin[i]; p < begin[i + 1]; ++p) {
      double on = 0.0;
      for (const Index j : x.row(p)) {
        const Coord end = (j + Coord{1}) * objective.outputs();
        auto at = std::ranges::lower_bound(index, Coord{j} * objective.outputs());
        for (; at != index.end() && *at < end; ++at, ++on)
          slots += std::exchange(seen[static_cast<std::size_t>(at - index.begin())], i) != i ? 1.0 : 0.0;
      }
      additions += on * on;
    }
    if (covariances) additions += 2.0 * slots * slots;
  }
  add_processes(objective.parallel(), counts);
  return additions * static_cast<double>(objective.instances()) / looked;
}

}  // namespace

double NewtonModel::work(const Objective& objective, std::span<const Coord> index) {
  const double n = static_cast<double>(index.size()), factor = factor_work(index.size()),
               outputs = static_cast<double>(objective.outputs()),
               positions = static_cast<double>(objective.map().x().whole_positions()),
               instances = static_cast<double>(objective.instances());
  const bool one_position = objective.oracle().extra_weights() == 0 && positions == instances;
  if (objective.outputs() == 1 || one_position) return additions_of_positions(objective, index) + factor;
  const double entries = objective.map().whole_entries_under(index);
  const double extra = static_cast<double>(index.size() - objective.map().count_unary(index)),
               slots = std::min(extra + entries / instances, n);  // coordinates that an instance has
  return slots * (positions * (outputs * outputs + extra) + entries + instances * slots) +
         kExponential * positions * outputs * outputs + factor;
}

double NewtonModel::pass_work(const Iterate& at, std::span<const Coord> index, bool exponentials) {
  const LinearMap& map = at.objective.map();
  const double cells =
      static_cast<double>(at.scores().columns) * static_cast<double>(map.x().whole_positions());
  return at.inference_flops() + 2.0 * map.whole_entries_under(index) +
         (exponentials ? kExponential * cells : 0.0);
}

bool NewtonModel::build(const Objective& objective, const Scores& scores, const WorkingSet& set,
                        const StopToken& stop) {
  size_ = set.size();
  const std::size_t stride = padded(size_);
  matrix_.resize(size_ * stride);
  if (!hessian(objective, scores, set.index, matrix_.data(), stride, stop)) return false;
  // hessian() takes each weight for that of one feature.
  for (std::size_t i = 0; i < size_; ++i) matrix_[i * stride + i] += set.mu[i] - objective.mu();
  double mean = 0.0;
  for (std::size_t i = 0; i < size_; ++i) mean += matrix_[i * stride + i] / static_cast<double>(size_);
  // With two labels side by side, a feature can move weight from one label to the other without changing the
  // loss or the l1 norm. The signs settle only if the matrix gives such a move a cost.
  const double raised = side_by_side(objective) ? kRidge : kWithinRounding;
  for (std::size_t i = 0; i < size_; ++i) {
    double& entry = matrix_[i * stride + i];
    entry = (1.0 + raised) * std::max(entry, kWithinRounding * mean);
    std::fill(matrix_.begin() + static_cast<std::ptrdiff_t>(i * stride + size_),
              matrix_.begin() + static_cast<std::ptrdiff_t>((i + 1) * stride), 0.0);
  }
  order_.clear();
  return true;
}

void NewtonModel::multiply(std::span<const double> x, const Parallel& parallel,
                           std::vector<double>& out) const {
  out.resize(size_);
  const Chunks chunks{size_, kTask};
  parallel.for_each(chunks.count(), [&](std::size_t c) {
    for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i)
      out[i] = kernels_in_use().dot(row(i), x.data(), size_);
  });
}

/// Factors the rows and columns of H that have a sign.
bool NewtonModel::factor(const Parallel& parallel, const StopToken& stop) {
  order_.clear();
  place_.assign(size_, kNone);
  for (std::size_t j = 0; j < size_; ++j) {
    if (sign_[j] == 0) continue;
    place_[j] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(static_cast<std::uint32_t>(j));
  }
  return cholesky_.factor(
      order_.size(), size_, parallel,
      [&](std::size_t i, double* out) {
        for (std::size_t j = 0; j <= i; ++j) out[j] = row(order_[i])[order_[j]];
      },
      stop);
}

bool NewtonModel::append(std::size_t j) {
  std::vector<double> numbers(order_.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = row(j)[order_[i]];
  if (!cholesky_.append(numbers, row(j)[j])) return false;
  place_[j] = static_cast<std::uint32_t>(order_.size());
  order_.push_back(static_cast<std::uint32_t>(j));
  return true;
}

double NewtonModel::solve(std::span<const double> w, std::span<const double> g, double lambda,
                          std::int64_t most_rounds, const Parallel& parallel, std::vector<double>& d,
                          const StopToken& stop) {
  if (!settle_signs(w, g, lambda, most_rounds, parallel, d, stop))
    descend(w, g, lambda, most_rounds, d, stop);
  return predicted_change(w, g, d, lambda);
}

/// The active-set method. With lambda = 0 signs do not matter, and one system is enough. Returns false if it
/// did not find the solution. If a system has no fewer wrong signs than the best one so far, only the last
/// wrong sign is changed. So the sets do not cycle (Kostreva 1978, Judice and Pires 1994).
bool NewtonModel::settle_signs(std::span<const double> w, std::span<const double> g, double lambda,
                               std::int64_t most_rounds, const Parallel& parallel, std::vector<double>& d,
                               const StopToken& stop) {
  sign_.resize(size_);
  for (std::size_t j = 0; j < size_; ++j) {
    const double towards = w[j] != 0.0 ? w[j] : (std::abs(g[j]) > lambda ? -g[j] : 0.0);
    sign_[j] = static_cast<signed char>((towards > 0.0) - (towards < 0.0));
  }
  std::vector<double> product;
  AlignedVector<double> u;
  std::vector<std::size_t> wrong;
  std::size_t least = size_ + 1;
  for (std::int64_t system = 0; system < most_rounds; ++system) {
    if (!bring_up_to_date(parallel, stop)) return false;
    systems_ += 1.0;
    d.assign(size_, 0.0);
    product.assign(size_, 0.0);
    for (std::size_t j = 0; j < size_; ++j) {
      if (sign_[j] != 0 || w[j] == 0.0) continue;
      d[j] = -w[j];
      kernels_in_use().add_scaled(product.data(), d[j], row(j), size_);
    }
    // Iterative refinement, since the matrix is ill-conditioned: solves again for the residual of the system,
    // as long as that halves it.
    for (double left_before = kInfinity;;) {
      u.resize(order_.size());
      double left = 0.0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        const std::size_t j = order_[i];
        u[i] = -(g[j] + lambda * sign_[j] + product[j]);
        left = std::max(left, std::abs(u[i]));
      }
      if (!(left < 0.5 * left_before)) break;
      if (stop.requested()) return false;
      left_before = left;
      cholesky_.solve_lower(u);
      cholesky_.solve_upper(u);
      for (std::size_t i = 0; i < u.size(); ++i) d[order_[i]] += u[i];
      multiply(d, parallel, product);
    }

    wrong.clear();
    for (std::size_t j = 0; j < size_; ++j)
      if (sign_[j] != 0 ? lambda > 0.0 && !((w[j] + d[j]) * sign_[j] > 0.0)
                        : std::abs(g[j] + product[j]) > (1.0 + kWithinRounding) * lambda)
        wrong.push_back(j);
    if (wrong.empty()) return true;
    if (wrong.size() < least)
      least = wrong.size();
    else
      wrong.erase(wrong.begin(), wrong.end() - 1);
    for (const std::size_t j : wrong) {
      if (sign_[j] != 0)
        sign_[j] = 0;
      else
        sign_[j] = static_cast<signed char>(g[j] + product[j] < 0.0 ? 1 : -1);
    }
  }
  return false;
}

/// Updates the factor to the rows that have a sign. If all of its rows still have one, only appends the new
/// rows. Otherwise factors again.
bool NewtonModel::bring_up_to_date(const Parallel& parallel, const StopToken& stop) {
  bool fits = !order_.empty() && std::ranges::all_of(order_, [&](std::uint32_t j) { return sign_[j] != 0; });
  for (std::size_t j = 0; fits && j < size_; ++j) {
    if (sign_[j] == 0 || place_[j] != kNone) continue;
    if (stop.requested()) return false;
    fits = append(j);
  }
  return fits || factor(parallel, stop);
}

/// Coordinate descent from d = 0. It finds at least a step if the signs did not settle.
void NewtonModel::descend(std::span<const double> w, std::span<const double> g, double lambda,
                          std::int64_t most_passes, std::vector<double>& d, const StopToken& stop) const {
  d.assign(size_, 0.0);
  std::vector<double> product(size_, 0.0);
  for (std::int64_t pass = 0; pass < most_passes && !stop.requested(); ++pass)
    for (std::size_t j = 0; j < size_; ++j) {
      const double curvature = row(j)[j], at = w[j] + d[j];
      const double next = soft_threshold(at - (g[j] + product[j]) / curvature, lambda / curvature);
      if (next == at) continue;
      kernels_in_use().add_scaled(product.data(), next - at, row(j), size_);
      d[j] = next == 0.0 ? -w[j] : d[j] + (next - at);
    }
}

}  // namespace proxbench::prox_newton
