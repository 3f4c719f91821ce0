#include "solvers/shared/rough_hessian.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/sum.h"
#include "solvers/shared/dense.h"
#include "solvers/shared/symmetric_block.h"

namespace proxbench::dense {

namespace {

/// Building M may take the multiply-adds of at most this many passes (solvers/RESULTS.md, "Blocks of
/// L-BFGS").
constexpr double kMostPasses = 16.0;
constexpr double kSumsToOne = 1e-9;

}  // namespace

struct RoughHessian::Block {
  Eigen::LLT<Eigen::MatrixXd> factor;
};

RoughHessian::RoughHessian(const Objective& objective) : objective_(objective) {}
RoughHessian::~RoughHessian() = default;

bool RoughHessian::has_blocks() const {
  const Index features = objective_.map().features();
  if (objective_.map().collapses() || features > kMostFeatures) return false;
  const DesignMatrix& x = objective_.map().x();
  const auto positions = static_cast<double>(x.whole_positions()),
             nonzeros = static_cast<double>(x.whole_nonzeros()),
             outputs = static_cast<double>(objective_.outputs()), rows = static_cast<double>(features);
  // Products of the entries of the sampled positions, and a Cholesky factor of each block.
  const double in_row = nonzeros / std::max(positions, 1.0),
               building = outputs * (std::min(positions, most_samples(features)) * in_row * in_row +
                                     rows * rows * rows / 3.0);
  const double pass = 2.0 * nonzeros * outputs + 0.5 * objective_.inference_flops(objective_.outputs(), true);
  return building <= kMostPasses * pass;
}

void RoughHessian::build(const Residual& residual) {
  const std::size_t positions = objective_.map().x().positions(), labels = objective_.outputs();
  // First the marginals of each output, then m(1 - m).
  std::vector<std::vector<double>> spread(labels);
  for (std::size_t k = 0; k < labels; ++k)
    spread[k].assign(residual.column(k), residual.column(k) + positions);
  bool sums_to_one = true;
  for (std::size_t p = 0; p < positions; ++p) {
    for (const Index k : objective_.oracle().gold_outputs(static_cast<Index>(p))) spread[k][p] += 1.0;
    double total = 0.0;
    for (std::vector<double>& of_output : spread) {
      double& m = of_output[p];
      total += m;
      m = std::max(m * (1.0 - m), 0.0);
    }
    sums_to_one = sums_to_one && std::abs(total - 1.0) < kSumsToOne;
  }
  std::vector<double> extra = objective_.oracle().gold_extra(objective_.parallel());
  for (std::size_t e = 0; e < extra.size(); ++e) extra[e] = std::max(residual.extra[e] + extra[e], 0.0);
  build(spread, extra, whole_count(objective_.parallel(), sums_to_one ? 0 : 1) == 0);
}

void RoughHessian::build(const std::vector<std::vector<double>>& spread, std::span<const double> extra,
                         bool constant) {
  const std::size_t labels = spread.size();
  centred_ = constant && objective_.mu() > 0.0;
  std::vector<Index> features(objective_.map().features());
  std::iota(features.begin(), features.end(), Index{0});
  blocks_.resize(labels);
  inverse_.resize(objective_.dimension());
  const std::vector<SymmetricBlock> derivatives = second_derivatives(
      objective_.map().x(), objective_.parallel(), std::vector(labels, features),
      [&](std::size_t k) { return spread[k]; }, false);
  objective_.parallel().for_each(labels, [&](std::size_t k) {
    const auto n = static_cast<Eigen::Index>(features.size());
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
    derivatives[k].for_each_entry([&](std::size_t i, std::size_t j, double value) {
      matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = value;
    });
    matrix.diagonal().array() += objective_.mu();
    blocks_[k].factor.compute(matrix);
    for (const Index j : features)
      inverse_[j * labels + k] = 1.0 / (derivatives[k].diagonal(j) + objective_.mu());
  });
  for (std::size_t e = 0; e < extra.size(); ++e)
    inverse_[objective_.unary_weights() + e] = 1.0 / (extra[e] + objective_.mu());
}

std::vector<double> RoughHessian::centre(std::span<double> r) const {
  const std::size_t labels = objective_.outputs();
  std::vector<double> means(objective_.map().features());
  for_all(objective_.parallel(), means.size(), [&](std::size_t j) {
    const std::span<double> row = r.subspan(j * labels, labels);
    means[j] = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(labels);
    for (double& x : row) x -= means[j];
  });
  return means;
}

void RoughHessian::solve(std::span<double> r) const {
  if (!centred_) return solve_rough(r);
  const std::vector<double> means = centre(r);
  solve_rough(r);
  centre(r);
  const std::size_t labels = objective_.outputs();
  for_all(objective_.parallel(), means.size(), [&](std::size_t j) {
    for (double& x : r.subspan(j * labels, labels)) x += means[j] / objective_.mu();
  });
}

void RoughHessian::solve_rough(std::span<double> r) const {
  const std::size_t features = objective_.map().features(), labels = objective_.outputs();
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Rows> unary(r.data(), static_cast<Eigen::Index>(features), static_cast<Eigen::Index>(labels));
  const auto solved = [&](std::size_t k) { return blocks_[k].factor.info() == Eigen::Success; };
  for_all(objective_.parallel(), r.size(), [&](std::size_t i) {
    if (i >= features * labels || !solved(i % labels)) r[i] *= inverse_[i];
  });
  objective_.parallel().for_each(blocks_.size(), [&](std::size_t k) {
    const auto at = static_cast<Eigen::Index>(k);
    if (solved(k)) unary.col(at) = blocks_[k].factor.solve(unary.col(at)).eval();
  });
}

}  // namespace proxbench::dense
