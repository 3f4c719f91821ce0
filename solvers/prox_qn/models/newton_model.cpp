#include "solvers/prox_qn/models/newton_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"
#include "solvers/prox_qn/models/inner_problem.h"

namespace proxbench {

namespace {

constexpr auto kNone = static_cast<std::uint32_t>(-1);
/// Share of itself that each diagonal entry is raised by, so that coordinates that always go together leave
/// the matrix positive definite; and share of their mean for an entry of next to nothing.
constexpr double kRidge = 1e-10, kLeastDiagonal = 1e-9;
/// Times that a solution is refined at most, while that brings what is left of its system down to this share.
constexpr int kMostRefinements = 4;
constexpr double kWorthRefining = 0.25;
/// Passes of coordinate descent where the active-set method fails.
constexpr int kDescents = 20;
/// A zero's gradient exceeds lambda where it does by this share, more than rounding.
constexpr double kExceeds = 1e-10;
/// Linear systems of one inner problem at most. After kPatience in a row without a new low of wrong signs
/// only the last wrong one is changed, so that sets do not follow each other in a circle (Kostreva 1978,
/// Judice and Pires 1994).
constexpr int kMostSystems = 60, kPatience = 3;
/// The factor is made anew where more of its rows than this share are held at zero.
constexpr double kMostHeld = 0.1;
/// What an exponential, an operation of the Hessian, one of these that adds a feature's covariances to its
/// row, the addition of an instance's covariance to H, and an operation of the factor take, relative to an
/// operation of inference: measured on a Xeon of 2023, on OCR, CoNLL-2000 and UD-EWT.
constexpr double kExponential = 60.0, kHessianWork = 1.0, kEntryWork = 2.2, kSumWork = 15.0,
                 kFactorWork = 0.2;
/// Rows of a task.
constexpr std::size_t kRows = 64;

}  // namespace

namespace {

/// Entries of X under the coordinates.
double entries_of(const Objective& objective, std::span<const Coord> index) {
  double entries = 0.0;
  for (const Coord c : index) entries += prox_qn::entries_of(objective, c);
  return entries;
}

/// Additions to H where there is one output (candidates): a nonzero meets those of its own position, and the
/// mean of an instance itself. From kLooked instances spread evenly.
double additions_of_one_output(const Objective& objective, std::span<const Coord> index) {
  constexpr std::size_t kLooked = 64;
  const DesignMatrix& x = objective.x();
  const std::span<const Index> begin = objective.structure().begin();
  std::vector<std::size_t> seen(index.size(),
                                objective.instances());  // the last instance that has the coordinate
  const std::size_t own = begin.size() - 1, step = std::max<std::size_t>(1, objective.instances() / kLooked),
                    before = count_before(objective.parallel(), own);
  double counts[] = {0.0, 0.0}, &additions = counts[0], &looked = counts[1];
  for (std::size_t i = (step - before % step) % step; i < own; i += step, ++looked) {
    double slots = 0.0;
    for (Index p = begin[i]; p < begin[i + 1]; ++p) {
      double on = 0.0;
      for (const Index j : x.row(p)) {  // with one output a feature is a coordinate
        const auto at = std::lower_bound(index.begin(), index.end(), Coord{j});
        if (at == index.end() || *at != j) continue;
        ++on;
        slots += std::exchange(seen[static_cast<std::size_t>(at - index.begin())], i) != i ? 1.0 : 0.0;
      }
      additions += on * on;
    }
    additions += 2.0 * slots * slots;
  }
  add_exact(objective.parallel(), counts);
  return additions * static_cast<double>(objective.instances()) / looked;
}

}  // namespace

double NewtonModel::work(const Objective& objective, std::span<const Coord> index) {
  const double n = static_cast<double>(index.size()), outputs = static_cast<double>(objective.outputs()),
               positions = static_cast<double>(objective.x().whole_positions());
  double build;
  if (objective.outputs() == 1) {
    build = kEntryWork * additions_of_one_output(objective, index);
  } else {
    const double entries = entries_of(objective, index);
    const auto unary = std::lower_bound(index.begin(), index.end(), objective.unary_weights());
    const double extra = static_cast<double>(index.end() - unary),
                 slots = std::min(extra + entries / static_cast<double>(objective.instances()), n);
    build = slots * (kHessianWork * positions * (outputs * outputs + extra) + kEntryWork * entries +
                     kSumWork * static_cast<double>(objective.instances()) * slots);
  }
  return kExponential * outputs * outputs * positions + build + kFactorWork * std::pow(n, 3.0) / 3.0;
}

double NewtonModel::pass_work(const Objective& objective, std::span<const Coord> index,
                              double inference_flops) {
  return inference_flops + 2.0 * kEntryWork * entries_of(objective, index);
}

bool NewtonModel::build(const Objective& objective, const Scores& scores, std::span<const Coord> index,
                        const StopToken& stop) {
  size_ = index.size();
  const std::size_t stride = padded(size_);
  matrix_.resize(size_ * stride);
  if (!objective.hessian(scores, index, matrix_.data(), stride, stop)) return false;
  double mean = 0.0;
  for (std::size_t i = 0; i < size_; ++i) mean += matrix_[i * stride + i] / static_cast<double>(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    double& entry = matrix_[i * stride + i];
    entry = (1.0 + kRidge) * std::max(entry, kLeastDiagonal * mean);
    std::fill(matrix_.begin() + static_cast<std::ptrdiff_t>(i * stride + size_),
              matrix_.begin() + static_cast<std::ptrdiff_t>((i + 1) * stride), 0.0);
  }
  order_.clear();
  return true;
}

void NewtonModel::keep_rows(std::span<const std::uint32_t>) {
  throw Error("rows were to leave the exact Hessian, expected the working set that it was made on");
}

void NewtonModel::stop() {
  matrix_ = {};
  cholesky_ = {};
  order_.clear();
  held_.clear();
  held_column_.clear();
}

void NewtonModel::multiply(std::span<const double> x, const Parallel& parallel,
                           std::vector<double>& out) const {
  out.resize(size_);
  const Chunks chunks{size_, kRows};
  parallel.for_each(chunks.count(), [&](std::size_t c) {
    for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i)
      out[i] = kernels_in_use().dot(row(i), x.data(), size_);
  });
}

/// On the rows that have a sign.
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

/// Brings held_ up to date with sign_, and its columns with the factor.
bool NewtonModel::hold_at_zero(const Parallel& parallel, const StopToken& stop) {
  std::vector<std::uint32_t> held;
  std::vector<AlignedVector<double>> column;
  for (std::uint32_t p = 0; p < order_.size(); ++p) {
    if (sign_[order_[p]] != 0) continue;
    held.push_back(p);
    const auto old = std::find(held_.begin(), held_.end(), p);
    column.emplace_back();
    if (old != held_.end()) column.back().swap(held_column_[static_cast<std::size_t>(old - held_.begin())]);
  }
  held_.swap(held);
  held_column_.swap(column);
  parallel.for_each(held_.size(), [&](std::size_t i) {
    if (stop.requested()) return;
    AlignedVector<double>& x = held_column_[i];
    const std::size_t known = x.size();
    if (known == order_.size()) return;
    x.resize(order_.size(), 0.0);
    if (known == 0) x[held_[i]] = 1.0;
    cholesky_.solve_lower(x, held_[i], std::max<std::size_t>(known, held_[i]));
  });
  if (stop.requested()) return false;
  return held_gram_.factor(
      held_.size(), held_.size(), parallel,
      [&](std::size_t i, double* out) {
        for (std::size_t j = 0; j <= i; ++j) out[j] = along_held(i, held_column_[j]);
      },
      stop);
}

/// (Y^T x)_i.
double NewtonModel::along_held(std::size_t i, std::span<const double> x) const {
  const std::size_t first = held_[i];
  return kernels_in_use().dot(held_column_[i].data() + first, x.data() + first, x.size() - first);
}

/// u, by order_, becomes the solution of H v = u on the rows that are not held at zero; 0 on the others. With
/// Y = L^-1 E, E the columns of I of rows held at zero: v = L^-T (I - Y (Y^T Y)^-1 Y^T) L^-1 u.
void NewtonModel::solve_free(std::span<double> u) const {
  cholesky_.solve_lower(u);
  std::vector<double> multiplier(held_.size());
  for (std::size_t i = 0; i < held_.size(); ++i) multiplier[i] = along_held(i, u);
  held_gram_.solve_lower(multiplier);
  held_gram_.solve_upper(multiplier);
  for (std::size_t i = 0; i < held_.size(); ++i)
    kernels_in_use().add_scaled(u.data(), -multiplier[i], held_column_[i].data(), u.size());
  cholesky_.solve_upper(u);
  for (const std::uint32_t p : held_) u[p] = 0.0;
}

double NewtonModel::solve(std::span<const double> w, std::span<const double> g, double lambda,
                          const Parallel& parallel, std::vector<double>& d, const StopToken& stop) {
  if (!settle_signs(w, g, lambda, parallel, d, stop)) descend(w, g, lambda, d, stop);
  return predicted_change(w, g, d, lambda);
}

/// The active-set method; with lambda = 0 signs do not matter, and one system is enough. Returns false where
/// it did not find the solution.
bool NewtonModel::settle_signs(std::span<const double> w, std::span<const double> g, double lambda,
                               const Parallel& parallel, std::vector<double>& d, const StopToken& stop) {
  sign_.resize(size_);
  for (std::size_t j = 0; j < size_; ++j) {
    const double towards = w[j] != 0.0 ? w[j] : (std::abs(g[j]) > lambda ? -g[j] : 0.0);
    sign_[j] = static_cast<signed char>((towards > 0.0) - (towards < 0.0));
  }
  held_.clear();
  held_column_.clear();
  std::vector<double> product;
  AlignedVector<double> u;
  std::vector<std::size_t> wrong;
  std::size_t least = size_ + 1;
  int patience = kPatience;
  for (int system = 0; system < kMostSystems; ++system) {
    if (!bring_up_to_date(parallel, stop)) return false;
    systems_ += 1.0;
    d.assign(size_, 0.0);
    product.assign(size_, 0.0);
    for (std::size_t j = 0; j < size_; ++j) {
      if (sign_[j] != 0 || w[j] == 0.0) continue;
      d[j] = -w[j];
      kernels_in_use().add_scaled(product.data(), d[j], row(j), size_);
    }
    // What a solution leaves of its system, because the matrix is ill-conditioned, is solved for again.
    double left_before = std::numeric_limits<double>::infinity();
    for (int refinement = 0; refinement <= kMostRefinements; ++refinement) {
      u.assign(order_.size(), 0.0);
      double left = 0.0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        const std::size_t j = order_[i];
        if (sign_[j] == 0) continue;
        u[i] = -(g[j] + lambda * sign_[j] + product[j]);
        left = std::max(left, std::abs(u[i]));
      }
      if (!(left < kWorthRefining * left_before)) break;
      if (stop.requested()) return false;
      left_before = left;
      solve_free(u);
      for (std::size_t i = 0; i < u.size(); ++i) d[order_[i]] += u[i];
      multiply(d, parallel, product);
    }

    wrong.clear();
    for (std::size_t j = 0; j < size_; ++j)
      if (sign_[j] != 0 ? lambda > 0.0 && !((w[j] + d[j]) * sign_[j] > 0.0)
                        : std::abs(g[j] + product[j]) > (1.0 + kExceeds) * lambda)
        wrong.push_back(j);
    if (wrong.empty()) return true;
    if (wrong.size() < least) {
      least = wrong.size();
      patience = kPatience;
    } else if (patience > 0) {
      --patience;
    } else {
      wrong.erase(wrong.begin(), wrong.end() - 1);
    }
    for (const std::size_t j : wrong) {
      if (sign_[j] != 0)
        sign_[j] = 0;
      else
        sign_[j] = static_cast<signed char>(g[j] + product[j] < 0.0 ? 1 : -1);
    }
  }
  return false;
}

/// The factor for all rows that have a sign, and what holds the others of it at zero.
bool NewtonModel::bring_up_to_date(const Parallel& parallel, const StopToken& stop) {
  const auto held = static_cast<double>(
      std::count_if(order_.begin(), order_.end(), [&](std::uint32_t j) { return sign_[j] == 0; }));
  bool fits = !order_.empty() && held <= kMostHeld * static_cast<double>(order_.size());
  for (std::size_t j = 0; fits && j < size_; ++j) {
    if (sign_[j] == 0 || place_[j] != kNone) continue;
    if (stop.requested()) return false;
    fits = append(j);
  }
  if (!fits) {
    held_.clear();
    held_column_.clear();
    if (!factor(parallel, stop)) return false;
  }
  return hold_at_zero(parallel, stop);
}

/// Coordinate descent from d = 0: a step at least, where the signs did not settle.
void NewtonModel::descend(std::span<const double> w, std::span<const double> g, double lambda,
                          std::vector<double>& d, const StopToken& stop) const {
  d.assign(size_, 0.0);
  std::vector<double> product(size_, 0.0);
  for (int pass = 0; pass < kDescents && !stop.requested(); ++pass)
    for (std::size_t j = 0; j < size_; ++j) {
      const double curvature = row(j)[j], at = w[j] + d[j];
      const double next = soft_threshold(at - (g[j] + product[j]) / curvature, lambda / curvature);
      if (next == at) continue;
      kernels_in_use().add_scaled(product.data(), next - at, row(j), size_);
      d[j] = next == 0.0 ? -w[j] : d[j] + (next - at);
    }
}

}  // namespace proxbench
