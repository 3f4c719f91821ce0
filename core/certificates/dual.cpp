#include "core/certificates/dual.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/sum.h"
#include "core/certificates/rounding.h"

namespace proxbench {

namespace {

/// Additions on the longest path through a sum over instances, which is compensated within a chunk, plus the
/// roundings of a term.
constexpr double kAdditionsOfInstances = 96.0;
/// Gradients are summed again, with compensation, if their rounding may exceed this share of the gap.
constexpr double kMostRounding = 0.1;

/// The entropy of (1 - t)*(all mass on gold) + t*p.
double mixture_entropy(const InstanceTerms& terms, double t) {
  if (t == 1.0) return terms.entropy;
  const double rest = -std::expm1(terms.log_gold);                                 // 1 - p(gold)
  const double gold = std::exp(terms.log_gold), log_gold = std::log1p(-t * rest);  // the mixture's
  double entropy = -(1.0 - t * rest) * log_gold;
  if (t > 0.0) entropy += t * (terms.entropy + gold * terms.log_gold) - t * rest * std::log(t);
  return entropy;
}

/// sum_j max(t*|g_j| - lambda, 0)^2, where g is the gradient of l.
double excess_squares(const Objective::Selection& selection, double t, double lambda, double mu) {
  if (t == 1.0 || lambda == 0.0) return t * t * selection.excess_squares;
  double sum = 0.0;
  for (std::size_t j = 0; j < selection.index.size(); ++j) {
    const double excess =
        std::max(t * std::abs(selection.gradient[j] - mu * selection.weight[j]) - lambda, 0.0);
    sum += excess * excess;
  }
  return sum;
}

/// The KL divergence of (1 - t)*(all mass on gold) + t*p from p.
double mixture_divergence(const InstanceTerms& terms, double t) {
  const double log_gold = std::min(terms.log_gold, 0.0), rest = -std::expm1(log_gold);  // 1 - p(gold)
  const double log_mixed = std::log1p(-t * rest);
  const double divergence =
      (1.0 - t * rest) * (log_mixed - log_gold) + (t > 0.0 ? t * rest * std::log(t) : 0.0);
  return std::max(divergence, 0.0);
}

/// Finds a t in [0, 1] that nearly maximises D, by golden-section search. D is concave and flat around its
/// maximum.
template <class Value>
double best_scale(const Value& value) {
  constexpr double kSection = 0.6180339887498949, kPrecision = 1e-5;
  double best = 1.0, at_best = value(1.0);
  double low = 0.0, high = 1.0, left = 1.0 - kSection, right = kSection;
  double at_left = value(left), at_right = value(right);
  while (high - low > kPrecision) {
    if (at_left > at_right) {
      high = right;
      right = std::exchange(left, high - kSection * (high - low));
      at_right = std::exchange(at_left, value(left));
    } else {
      low = left;
      left = std::exchange(right, low + kSection * (high - low));
      at_left = std::exchange(at_right, value(right));
    }
  }
  for (const auto& [t, at] : {std::pair(left, at_left), std::pair(right, at_right)})
    if (at > at_best) {
      best = t;
      at_best = at;
    }
  return best;
}

double absolute(double x) {
  return std::abs(x);
}

/// Computes the dual point that one w gives, and its lower bound on min F.
class Bound {
 public:
  /// `cost` is the total cost of the structures that the max oracle found, for a hinge loss. `divergence` is
  /// that of PointRounding.
  Bound(const Objective& objective, const SparseVector& w, const Scores& scores, const Residual& residual,
        double cost, const PointBound& at, std::span<const double> divergence)
      : objective_(objective),
        w_(w),
        scores_(scores),
        residual_(residual),
        at_(at),
        lambda_(objective.lambda()),
        mu_(objective.mu()),
        hinge_(objective.loss().hinge()),
        rounding_(objective, residual, divergence),
        cost_(cost) {
    for (std::size_t i = 0; i < at.selection.index.size(); ++i) {
      gradient_.push_back(at.selection.gradient[i] - mu_ * at.selection.weight[i]);
      error_.push_back(rounding_.at(at.selection.index[i]));
    }
    if (hinge_) return;
    terms_.resize(objective.oracle().instances());
    objective.oracle().sum()->instance_terms(scores, terms_, objective.parallel());
  }

  /// How far kkt may be from that of the exact gradient at w.
  double kkt_rounding() const {
    const double weight =
        w_.value.empty() ? 0.0 : std::abs(*std::ranges::max_element(w_.value, {}, absolute));
    return rounding_.from_gradient() + kUnitRoundoff * 4.0 * (at_.selection.kkt_max + lambda_ + mu_ * weight);
  }

  /// Sets the bound and its scale, unless the computed one is not finite.
  void find(PointBound& out) {
    if (rounding_matters()) sharpen();
    const double t = scale();
    const double value = hinge_ ? value_at(t) - hinge_rounding(t) : at_.objective - at_.rounding - gap(t);
    // All mass on the gold structures gives D = 0.
    if (!(value > 0.0) || !std::isfinite(value)) return;
    out.dual = value;
    out.scale = t;
  }

 private:
  double sum_over_instances(double (*of)(const InstanceTerms&, double), double t) const {
    const std::span<const Index> begin = objective_.map().instance_chunks();
    return sum_chunks(objective_.parallel(), begin.size() - 1, [&](std::size_t chunk) {
      CompensatedSum part;
      for (std::size_t i = begin[chunk]; i < begin[chunk + 1]; ++i) part.add(of(terms_[i], t));
      return part.value();
    });
  }

  /// D computed directly, not corrected for rounding.
  double value_at(double t) const {
    double sum = hinge_ ? t * cost_ : sum_over_instances(mixture_entropy, t);
    if (mu_ > 0.0) sum -= excess_squares(at_.selection, t, lambda_, mu_) / (2.0 * mu_);
    return sum;
  }

  /// Whether the gradient at the i-th coordinate of the selection may exceed lambda.
  bool may_exceed(std::size_t i) const { return std::abs(gradient_[i]) + error_[i] > lambda_; }

  /// With l1 only, the errors of gradients lower the bound by about (F + lambda*||w||_1)/lambda times the
  /// largest of them.
  bool rounding_matters() const {
    if (mu_ > 0.0 || hinge_ || !residual_.one_each()) return false;
    double largest = 0.0;
    for (std::size_t i = 0; i < error_.size(); ++i)
      if (may_exceed(i)) largest = std::max(largest, error_[i]);
    const double t = feasible_scale();
    return largest / lambda_ * (at_.objective + objective_.penalty().l1(w_.value)) > kMostRounding * gap(t);
  }

  /// Sums again, with compensation, the gradients that may exceed lambda.
  void sharpen() {
    std::vector<std::size_t> place, extra;
    std::vector<Coord> index;
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const Coord c = at_.selection.index[i];
      if (!may_exceed(i)) continue;
      if (c >= objective_.unary_weights()) {
        extra.push_back(i);
      } else {
        place.push_back(i);
        index.push_back(c);
      }
    }
    sharp_ = true;
    const std::vector<SharpGradient> unary =
        sharp_gradients(objective_.map(), residual_, index, rounding_.errors());
    for (std::size_t k = 0; k < place.size(); ++k) improve(place[k], unary[k]);
    if (extra.empty() || objective_.oracle().instance() == nullptr) return;
    const std::vector<SharpGradient> all =
        sharp_extra_gradients(objective_, scores_, rounding_.extra_drift());
    for (const std::size_t i : extra) improve(i, all[at_.selection.index[i] - objective_.unary_weights()]);
  }

  void improve(std::size_t i, const SharpGradient& sharp) {
    if (!(sharp.error < error_[i])) return;
    gradient_[i] = sharp.value;
    error_[i] = sharp.error;
  }

  double scale() const {
    if (mu_ == 0.0) return feasible_scale();
    if (hinge_ && lambda_ == 0.0) {  // D = t*cost - t^2*||g||^2/(2*mu)
      const double t = std::min(1.0, mu_ * cost_ / at_.selection.excess_squares);
      return std::isfinite(t) ? t : 0.0;
    }
    return best_scale([&](double t) { return value_at(t); });
  }

  /// Returns the largest t for which t*|g_j| <= lambda holds at every j, even if rounding made g_j too small.
  double feasible_scale() const {
    const Objective::Selection& selection = at_.selection;
    double largest =
        std::min(selection.complete_above, std::max(selection.gradient_max, lambda_)) + rounding_.largest();
    for (std::size_t i = 0; i < selection.index.size(); ++i)
      largest = std::max(largest, std::abs(gradient_[i]) + error_[i]);
    if (!(largest > lambda_)) return 1.0;
    return lambda_ / largest * (1.0 - 0x1p-52);
  }

  /// F - D(alpha) of the log loss, plus a bound on the rounding of all its parts.
  double gap(double t) const {
    double sum = t == 1.0 ? 0.0 : divergence(t);
    return sum + (lambda_ == 0.0 ? gap_of_squares(t) : gap_of_terms(t));
  }

  /// sum_i KL((1 - t)*gold + t*q_i || p_i), plus a bound on its rounding. p_i is the model at w, and q_i the
  /// distribution that the residual belongs to. The terms are computed as if both were the same, from a
  /// log_gold with the error of a loss. With p(gold) = q(gold) = q, a = 1 - t and b = t*q, the derivative of
  /// a term in log q is -a + b log(1 + a/b), between -a and 0. A change of log q_i - log p_i by d changes it
  /// by at most twice that times d. So the errors are at most three times those of the losses.
  double divergence(double t) const {
    const double sum = sum_over_instances(mixture_divergence, t);
    return sum + 3.0 * at_.rounding + kUnitRoundoff * kAdditionsOfInstances * (sum + at_.objective);
  }

  /// With l2 only: sum_j (t*g_j + mu*w_j)^2 / (2*mu), computed from the gradient g_j + mu*w_j of F and from
  /// w.
  double gap_of_squares(double t) const {
    const Objective::Selection& selection = at_.selection;
    // Each of these three sums has at most d terms.
    const double rounding = kUnitRoundoff * (static_cast<double>(objective_.dimension()) + 64.0),
                 rest = 1.0 - t;
    const double squares = t * t * selection.kkt_squares * (1.0 + rounding) +
                           2.0 * t * rest * mu_ * (selection.along + rounding * selection.along_sizes) +
                           rest * rest * mu_ * 2.0 * objective_.penalty().l2(w_.value) * (1.0 + rounding);
    const double off = std::sqrt(std::max(squares, 0.0)) + t * rounding_.norm();
    return off * off / (2.0 * mu_);
  }

  /// The gap with an l1 penalty, as a sum of terms over coordinates. Terms outside the selection are 0.
  double gap_of_terms(double t) const {
    const Objective::Selection& selection = at_.selection;
    std::vector<double> v;  // w - w(alpha), the derivative of the gap in g
    double sum = 0.0, sizes = 0.0, errors = 0.0;
    for (std::size_t i = 0; i < selection.index.size(); ++i) {
      const double w = selection.weight[i], g = t * gradient_[i], over = std::max(std::abs(g) - lambda_, 0.0);
      const double size = lambda_ * std::abs(w) + 0.5 * mu_ * w * w;
      if (over > 0.0 && mu_ > 0.0 && w * g <= 0.0) {
        const double off = mu_ * std::abs(w) - over;
        sum += off * off / (2.0 * mu_);
      } else {
        sum += size + g * w + (mu_ > 0.0 ? over * over / (2.0 * mu_) : 0.0);
      }
      sizes += size + std::abs(g * w);
      v.push_back(mu_ > 0.0 ? w + std::copysign(over, g) / mu_ : w);
      errors += std::abs(v.back()) * error_[i];
      if (mu_ > 0.0) sizes += over / mu_ * std::abs(g);  // the rounding of |g| - lambda
    }
    const auto terms = static_cast<double>(selection.index.size());
    sum = std::max(sum, 0.0) * (1.0 + kUnitRoundoff * terms) + kUnitRoundoff * 8.0 * sizes;
    // The norms over outputs bound the errors of plain sums only.
    sum += t * (sharp_ ? errors : std::min(errors, rounding_.weighted(selection.index, v)));
    if (mu_ > 0.0) sum += t * t * rounding_.norm() * rounding_.norm() / (2.0 * mu_);
    return sum;
  }

  /// A bound on the rounding of value_at(t), for a hinge loss.
  double hinge_rounding(double t) const {
    const double norm = t * rounding_.norm();
    double sum = at_.rounding + kUnitRoundoff * kAdditionsOfInstances * t * cost_;
    if (mu_ > 0.0) {
      const double squares = excess_squares(at_.selection, t, lambda_, mu_), excess = std::sqrt(squares);
      sum += (2.0 * excess + norm) * norm / (2.0 * mu_);
      // Each number under the square has the rounding of t*|g| - lambda. There are at most d of them.
      double sizes = 0.0;
      for (std::size_t i = 0; i < gradient_.size(); ++i) {
        const double size = t * (std::abs(gradient_[i]) + mu_ * std::abs(at_.selection.weight[i]));
        sizes += size * size;
      }
      sum += kUnitRoundoff * (static_cast<double>(objective_.dimension()) + 64.0) * squares / (2.0 * mu_) +
             kUnitRoundoff * 4.0 * std::sqrt(sizes) * excess / mu_;
    }
    return sum;
  }

  const Objective& objective_;
  const SparseVector& w_;
  const Scores& scores_;
  const Residual& residual_;
  const PointBound& at_;
  double lambda_, mu_;
  bool hinge_;
  GradientRounding rounding_;
  double cost_;
  bool sharp_ = false;  ///< whether sharpen() was called
  std::vector<InstanceTerms> terms_;
  /// The gradient of l at the coordinates of the selection, and bounds on its errors.
  std::vector<double> gradient_, error_;
};

}  // namespace

PointBound bound_at(Objective& objective, const SparseVector& w, const Scores& scores, Residual& residual) {
  PointBound out;
  LossAndCost sums{};
  const bool hinge = objective.loss().hinge();
  if (hinge)
    sums = objective.max()->maximise({scores}, objective.loss().cost, &residual, objective.parallel());
  else
    sums.loss = objective.infer({scores}, &residual);
  out.loss = sums.loss;
  out.objective = objective.value(out.loss, w.value);
  const PointRounding rounding = point_rounding(objective, w, out.loss, &scores, hinge ? nullptr : &residual);
  out.rounding = rounding.objective;
  const double lambda = objective.lambda();
  const double threshold = lambda == 0.0          ? kInfinity
                           : objective.mu() > 0.0 ? lambda
                                                  : lambda * (1.0 - 0x1p-20);
  objective.select_gradient(residual, w, threshold, out.selection);
  Bound bound(objective, w, scores, residual, sums.cost, out, rounding.divergence);
  out.kkt_rounding = hinge ? 0.0 : bound.kkt_rounding();
  bound.find(out);
  out.l1 = l1_norm(w.value);
  out.kkt = kkt_of(objective, out.selection);
  out.nnz = w.nnz();
  return out;
}

}  // namespace proxbench
