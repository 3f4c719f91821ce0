#include "solvers/prox_qn/models/inner_problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernels/kernel_sets.h"
#include "core/kernels/kernel_table.h"
#include "solvers/prox_qn/models/descent_kernels.h"
#include "solvers/prox_qn/models/single_kernels.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(DescentKernels, descent_kernels, descent_kernels_for)

const DescentKernels& descent_kernels() {
  return descent_kernels_for(instruction_set());
}

namespace {

/// Rows of the face that one piece of a parallel loop takes.
constexpr std::size_t kGrain = 512;
/// Share of the face that a pass may have changed for conjugate gradients to follow.
constexpr double kSteady = 0.01;

}  // namespace

double predicted_change(std::span<const double> w, std::span<const double> g, std::span<const double> d,
                        double lambda) {
  // Near the optimum terms cancel to the last digits: where the sign of w stays, they are added before they
  // are multiplied by d.
  double change = 0.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const bool stays = w[j] * (w[j] + d[j]) > 0.0;
    change += stays ? d[j] * (g[j] + std::copysign(lambda, w[j]))
                    : d[j] * g[j] + lambda * (std::abs(w[j] + d[j]) - std::abs(w[j]));
  }
  return change;
}

struct InnerProblem::Model {
  const CompactLbfgs& lbfgs;
  BlockMetric* metric;
  std::span<const double> w, g;
  double lambda;
  const Parallel& parallel;
  const BlockRow* rows;  ///< of the metric, with the running product B0 d; null: B0 = I
  std::vector<double>& d;

  double at(std::size_t j) const { return w[j] + d[j]; }
  /// (g + B d)_j, from the running products.
  double gradient(std::size_t j, const double* d_hat) const {
    const double product = rows != nullptr ? *rows[j].product : d[j];
    return g[j] + lbfgs.gamma() * product - kernels_in_use().dot(lbfgs.q(j), d_hat, lbfgs.width());
  }
};

double InnerProblem::solve(const CompactLbfgs& lbfgs, BlockMetric* metric, std::span<const double> w,
                           std::span<const double> g, double lambda, const InnerLimits& limits,
                           Random& random, const Parallel& parallel, std::vector<double>& d) {
  const std::size_t n = w.size();
  const double gamma = lbfgs.gamma();
  d.assign(n, 0.0);
  d_hat_.assign(lbfgs.width(), 0.0);
  diagonal_.resize(n);
  for (std::size_t j = 0; j < n; ++j)
    diagonal_[j] = lbfgs.diagonal(j, metric != nullptr ? metric->diagonal(j) : 1.0);
  const Model model{lbfgs, metric, w, g, lambda, parallel, metric != nullptr ? metric->start() : nullptr, d};
  const DescentPass pass{.start = model.rows,
                         .q = n > 0 ? lbfgs.q(0) : nullptr,
                         .q_hat = n > 0 ? lbfgs.q_hat(0) : nullptr,
                         .stride = lbfgs.stride(),
                         .width = lbfgs.width(),
                         .gamma = gamma,
                         .lambda = lambda,
                         .w = w.data(),
                         .g = g.data(),
                         .diagonal = diagonal_.data(),
                         .d = d.data(),
                         .d_hat = d_hat_.data()};
  const bool separable = lbfgs.pairs() == 0 && metric == nullptr;  // one pass solves it
  std::uint64_t visits = 0;
  double first = -1.0;
  bool whole = true;
  while (visits < limits.visits && !limits.stop.requested()) {
    if (whole) {
      order_.resize(n);
      std::iota(order_.begin(), order_.end(), 0u);
    } else {
      order_.swap(active_);
    }
    random.shuffle(std::span(order_));
    active_.resize(order_.size());
    const DescentResult done = descent_kernels().descend(pass, order_.data(), order_.size(), active_.data());
    active_.resize(done.active);
    passes_ += 1.0;
    visits += order_.size();
    if (first < 0.0) first = done.moved;
    const bool settled = done.moved <= limits.tolerance * first;
    if ((settled && whole) || separable) break;
    if (limits.subspace && !settled &&
        (lambda == 0.0 || static_cast<double>(done.crossed) <= kSteady * static_cast<double>(done.active))) {
      visits += minimise_on_face(model, limits.visits - std::min(visits, limits.visits), limits.tolerance,
                                 limits.stop);
      whole = true;
    } else if (limits.tolerance > 0.0) {
      // Passes over all coordinates alternate with passes over those that are not zero.
      whole = settled || active_.empty();
    }
  }
  curvature_ = 0.0;
  for (std::size_t j = 0; limits.curvature && j < n; ++j)
    if (d[j] != 0.0) curvature_ += d[j] * (model.gradient(j, d_hat_.data()) - g[j]);
  return predicted_change(w, g, d, lambda);
}

/// out = B x on the face, in single precision but for sums over chunks.
void InnerProblem::multiply_on_face(const Model& model, std::span<const double> x, std::vector<double>& out) {
  const SingleKernels& kernels = single_kernels();
  const std::size_t n = face_.size(), width = model.lbfgs.width(), stride = padded_single(width);
  out.resize(n);
  if (model.metric != nullptr)
    subset_.multiply(x, out, model.parallel);
  else
    std::copy(x.begin(), x.end(), out.begin());
  const Chunks chunks{n, kGrain};
  x_.resize(n);
  rows_product_.resize(n);
  partial_.assign(chunks.count() * stride, 0.0f);
  const double numbers = static_cast<double>(n * stride);
  for_each_of(model.parallel, numbers, chunks.count(), [&](std::size_t c) {
    const std::size_t first = chunks.begin(c), rows = chunks.end(c) - first;
    for (std::size_t i = first; i < chunks.end(c); ++i) x_[i] = static_cast<float>(x[i]);
    kernels.combine_rows(q_.data() + first * stride, stride, rows, x_.data() + first,
                         partial_.data() + c * stride);
  });
  AlignedVector<double> sum(width, 0.0), weights(width, 0.0);
  for (std::size_t c = 0; c < chunks.count(); ++c)
    for (std::size_t i = 0; i < width; ++i)
      sum[i] += scale_[i] * static_cast<double>(partial_[c * stride + i]);
  kernels_in_use().rows_times_matrix(sum.data(), width, 1, model.lbfgs.middle(), width, weights.data());
  weights_.assign(stride, 0.0f);
  for (std::size_t i = 0; i < width; ++i) weights_[i] = static_cast<float>(scale_[i] * weights[i]);
  const double gamma = model.lbfgs.gamma();
  for_each_of(model.parallel, numbers, chunks.count(), [&](std::size_t c) {
    const std::size_t first = chunks.begin(c);
    kernels.rows_times(q_.data() + first * stride, stride, chunks.end(c) - first, weights_.data(),
                       rows_product_.data() + first);
    for (std::size_t i = first; i < chunks.end(c); ++i)
      out[i] = gamma * out[i] - static_cast<double>(rows_product_[i]);
  });
}

/// out = P r on the face: the blocks' inverses where there are some, the diagonal's elsewhere.
void InnerProblem::precondition(const Model& model, std::vector<double>& out) {
  out.resize(face_.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = residual_[i] / diagonal_[face_[i]];
  if (model.metric != nullptr)
    subset_.precondition(residual_, 1.0 / model.lbfgs.gamma(), out, model.parallel);
}

/// Conjugate gradients, then the step along their result. Returns how many coordinates were visited, `most`
/// at most but for the first iteration.
std::uint64_t InnerProblem::minimise_on_face(const Model& model, std::uint64_t most, double tolerance,
                                             const StopToken& stop) {
  const bool smooth = model.lambda == 0.0;  // no kink at 0: all coordinates are one face
  face_.clear();
  for (std::size_t j = 0; j < model.w.size(); ++j)
    if ((smooth || model.at(j) != 0.0) && diagonal_[j] > 0.0) face_.push_back(static_cast<std::uint32_t>(j));
  if (face_.empty()) return 0;
  take_face(model);
  std::uint64_t visits = conjugate_gradients(model, most, tolerance, stop);
  if (const auto first = smooth ? std::nullopt : first_to_cross(model)) {
    hold_signs(model, *first);
    visits += face_.size();
  }
  take_step(model);
  return visits;
}

/// The model on the face: B in single precision, and what is left of the gradient there.
void InnerProblem::take_face(const Model& model) {
  const std::size_t n = face_.size(), width = model.lbfgs.width(), stride = padded_single(width);
  if (model.metric != nullptr) {
    subset_.take(*model.metric, face_, model.parallel);
    subset_.invert(*model.metric, model.parallel);
  }
  q_.assign(n * stride, 0.0f);
  // Columns shrink by many orders of magnitude as the solver converges: they are scaled to fit.
  scale_.assign(width, 0.0);
  for (const std::uint32_t j : face_)
    for (std::size_t k = 0; k < width; ++k) scale_[k] = std::max(scale_[k], std::abs(model.lbfgs.q(j)[k]));
  std::vector<double> fit(width);
  for (std::size_t k = 0; k < width; ++k) fit[k] = scale_[k] > 0.0 ? 1.0 / scale_[k] : 0.0;
  residual_.resize(n);
  const Chunks chunks{n, kGrain};
  model.parallel.for_each(chunks.count(), [&](std::size_t c) {
    for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) {
      const std::size_t j = face_[i];
      for (std::size_t k = 0; k < width; ++k)
        q_[i * stride + k] = static_cast<float>(model.lbfgs.q(j)[k] * fit[k]);
      residual_[i] = -(model.gradient(j, d_hat_.data()) + std::copysign(model.lambda, model.at(j)));
    }
  });
}

/// From step_ = 0 on, with what it leaves in residual_, and B step_ in step_product_.
std::uint64_t InnerProblem::conjugate_gradients(const Model& model, std::uint64_t most, double tolerance,
                                                const StopToken& stop) {
  const std::size_t n = face_.size();
  direction_.resize(n);
  step_.assign(n, 0.0);
  step_product_.assign(n, 0.0);
  precondition(model, direction_);
  double norm = 0.0;  // r^T P r
  for (std::size_t i = 0; i < n; ++i) norm += residual_[i] * direction_[i];
  const double enough = tolerance * tolerance * norm;
  std::uint64_t visits = 0;
  while (visits == 0 || (norm > enough && visits + n <= most)) {
    if (stop.requested()) return visits;
    multiply_on_face(model, direction_, product_);
    visits += n;
    passes_ += 1.0;
    double curvature = 0.0;
    for (std::size_t i = 0; i < n; ++i) curvature += direction_[i] * product_[i];
    if (!(curvature > 0.0)) break;  // rounding: B is positive definite
    const double alpha = norm / curvature;
    double next = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      step_[i] += alpha * direction_[i];
      step_product_[i] += alpha * product_[i];
      residual_[i] -= alpha * product_[i];
    }
    precondition(model, preconditioned_);
    for (std::size_t i = 0; i < n; ++i) next += residual_[i] * preconditioned_[i];
    const double beta = next / norm;
    norm = next;
    for (std::size_t i = 0; i < n; ++i) direction_[i] = preconditioned_[i] + beta * direction_[i];
  }
  return visits;
}

/// The place in the face of the coordinate that comes to zero first along the step, or nothing.
std::optional<InnerProblem::Crossing> InnerProblem::first_to_cross(const Model& model) const {
  std::optional<Crossing> first;
  for (std::size_t i = 0; i < face_.size(); ++i) {
    const double at = model.at(face_[i]);
    if (!((at + step_[i]) * at <= 0.0)) continue;
    const double zero = -at / step_[i];
    if (!first || zero < first->at) first = {i, zero};
  }
  return first;
}

/// Where signs would change: either all coordinates whose sign would become zero, or the step ends where the
/// first of them does, whichever brings the model down more. One product.
void InnerProblem::hold_signs(const Model& model, const Crossing& first) {
  // The model along the step is r^T(step)*t - 1/2 curvature*t^2 below where it was.
  double linear = 0.0, quadratic = 0.0, projected = 0.0;
  direction_ = step_;
  for (std::size_t i = 0; i < face_.size(); ++i) {
    const double at = model.at(face_[i]), slope = residual_[i] + step_product_[i];
    if ((at + step_[i]) * at <= 0.0) direction_[i] = -at;
    linear += step_[i] * slope;
    quadratic += step_[i] * step_product_[i];
    projected += direction_[i] * slope;
  }
  multiply_on_face(model, direction_, product_);
  for (std::size_t i = 0; i < face_.size(); ++i) projected -= 0.5 * direction_[i] * product_[i];
  if (projected >= first.at * (linear - 0.5 * first.at * quadratic)) {
    step_ = direction_;
    return;
  }
  for (double& step : step_) step *= first.at;
  step_[first.place] = -model.at(face_[first.place]);
}

/// d and the running products after the step.
void InnerProblem::take_step(const Model& model) {
  const bool smooth = model.lambda == 0.0;
  for (std::size_t i = 0; i < face_.size(); ++i) {
    const std::size_t j = face_[i];
    const double at = model.at(j);
    const bool zero = !smooth && (at + step_[i]) * at <= 0.0;
    const double z = zero ? -at : step_[i];
    model.d[j] = zero ? -model.w[j] : model.d[j] + z;
    if (model.rows != nullptr) descent_kernels().add_block_row(model.rows[j], z);
    kernels_in_use().add_scaled(d_hat_.data(), z, model.lbfgs.q_hat(j), model.lbfgs.width());
  }
}

}  // namespace proxbench
