#include "solvers/shared/rough_hessian.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernels/kernel_table.h"
#include "solvers/shared/dense.h"

namespace proxbench::dense {

namespace {

/// At most so many features are in blocks, and so many numbers in all blocks.
constexpr std::size_t kMostFeatures = 512;
constexpr double kMostNumbers = 2e7;
/// Blocks are sums over about so many positions.
constexpr std::size_t kPositions = 16384;
constexpr double kSumsToOne = 1e-9;

}  // namespace

RoughHessian::RoughHessian(const Objective& objective) : objective_(objective) {
  if (objective.map().collapses()) return;
  const DesignMatrix& x = objective.x();
  const double width = static_cast<double>(padded(objective.outputs()));
  const std::size_t most = std::min<std::size_t>(
      {kMostFeatures, x.features(), static_cast<std::size_t>(std::sqrt(2.0 * kMostNumbers / width))});
  std::vector<std::size_t> count(x.features(), 0);
  for (Index p = 0; p < x.positions(); ++p)
    for (const Index j : x.row(p)) ++count[j];
  std::vector<Index> order(x.features());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return count[a] > count[b]; });
  frequent_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most));
  std::sort(frequent_.begin(), frequent_.end());
  stride_ = std::max<std::size_t>(1, x.positions() / kPositions);

  std::vector<std::int32_t> slot_of(x.features(), -1);
  for (std::size_t s = 0; s < frequent_.size(); ++s) slot_of[frequent_[s]] = static_cast<std::int32_t>(s);
  begin_.assign(1, 0);
  for (Index p = 0; p < x.positions(); ++p) {
    const auto row = x.row(p);
    const auto values = x.row_values(p);
    for (std::size_t e = 0; e < row.size() && p % stride_ == 0; ++e) {
      if (slot_of[row[e]] < 0) continue;
      slot_.push_back(static_cast<std::uint16_t>(slot_of[row[e]]));
      if (!values.empty()) value_.push_back(values[e]);
    }
    begin_.push_back(slot_.size());
  }
}

void RoughHessian::build(const Objective& objective, const Residual& residual) {
  inverse_.resize(objective.dimension());
  objective.rough_diagonal(residual, inverse_);
  for_range(objective.parallel(), inverse_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) inverse_[i] = 1.0 / inverse_[i];
  });
  if (!frequent_.empty()) build_blocks(objective, residual);
}

void RoughHessian::build_blocks(const Objective& objective, const Residual& residual) {
  const KernelTable& kernels = kernels_in_use();
  const std::size_t n = frequent_.size(), labels = objective.outputs(), width = padded(labels);
  const std::size_t positions = begin_.size() - 1, looked_at = (positions + stride_ - 1) / stride_;
  const double weight = static_cast<double>(positions) / static_cast<double>(looked_at);
  // weight * m(1 - m), a row for each position that is looked at.
  centred_ = objective.mu() > 0.0;
  AlignedVector<double> variance(looked_at * width, 0.0);
  for (std::size_t k = 0; k < labels; ++k)
    for (std::size_t i = 0; i < looked_at; ++i) variance[i * width + k] = residual.column(k)[i * stride_];
  std::vector<std::vector<std::pair<std::size_t, double>>> on(n);  // by feature: positions looked at, values
  for (std::size_t i = 0; i < looked_at; ++i) {
    const std::size_t p = i * stride_;
    for (const Index k : objective.structure().gold_outputs(static_cast<Index>(p)))
      variance[i * width + k] += 1.0;
    double total = 0.0;
    for (std::size_t k = 0; k < labels; ++k) total += variance[i * width + k];
    centred_ = centred_ && std::abs(total - 1.0) < kSumsToOne;
    for (std::size_t k = 0; k < labels; ++k) {
      double& m = variance[i * width + k];
      m = weight * std::max(m * (1.0 - m), 0.0);
    }
    for (std::size_t e = begin_[p]; e < begin_[p + 1]; ++e)
      on[slot_[e]].emplace_back(i, value_.empty() ? 1.0 : value_[e]);
  }
  // Row a of the lower triangles of all blocks: entry (a, b) has `width` numbers, one an output.
  AlignedVector<double> triangle(n * (n + 1) / 2 * width, 0.0);
  objective.parallel().for_each(n, [&](std::size_t a) {
    double* const row = triangle.data() + a * (a + 1) / 2 * width;
    for (const auto& [i, x] : on[a])
      for (std::size_t e = begin_[i * stride_]; e < begin_[i * stride_ + 1]; ++e)
        if (slot_[e] <= a)
          kernels.add_scaled(row + slot_[e] * width, value_.empty() ? x : x * value_[e],
                             variance.data() + i * width, width);
  });
  block_.resize(labels);
  objective.parallel().for_each(labels, [&](std::size_t k) {
    Eigen::MatrixXd matrix(n, n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b <= a; ++b)
        matrix(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
            triangle[(a * (a + 1) / 2 + b) * width + k];
      matrix(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(a)) += objective.mu();
    }
    block_[k].compute(matrix.selfadjointView<Eigen::Lower>());
  });
}

std::vector<double> RoughHessian::centre(std::span<double> r) const {
  const std::size_t labels = objective_.outputs();
  std::vector<double> means(objective_.features());
  for_range(objective_.parallel(), means.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const std::span<double> row = r.subspan(j * labels, labels);
      means[j] = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(labels);
      for (double& x : row) x -= means[j];
    }
  });
  return means;
}

void RoughHessian::solve(std::span<double> r) const {
  if (!centred_) return solve_rough(r);
  const std::vector<double> means = centre(r);
  solve_rough(r);
  centre(r);
  const std::size_t labels = objective_.outputs();
  for_range(objective_.parallel(), means.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j)
      for (double& x : r.subspan(j * labels, labels)) x += means[j] / objective_.mu();
  });
}

void RoughHessian::solve_rough(std::span<double> r) const {
  const std::size_t n = frequent_.size(), labels = objective_.outputs();
  Eigen::MatrixXd some(n, n == 0 ? 0 : labels);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t k = 0; k < labels; ++k)
      some(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(k)) = r[frequent_[a] * labels + k];
  for_range(objective_.parallel(), r.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) r[i] *= inverse_[i];
  });
  if (n == 0) return;
  objective_.parallel().for_each(labels, [&](std::size_t k) {
    const auto at = static_cast<Eigen::Index>(k);
    if (block_[k].info() != Eigen::Success) return;  // the diagonal, then
    const Eigen::VectorXd solved = block_[k].solve(some.col(at));
    for (std::size_t a = 0; a < n; ++a) r[frequent_[a] * labels + k] = solved[static_cast<Eigen::Index>(a)];
  });
}

}  // namespace proxbench::dense
