/// Stochastic average gradient with non-uniform sampling (Schmidt, Babanezhad, Ahmed, Defazio, Clifton,
/// Sarkar, "Non-uniform stochastic average gradient method for training conditional random fields", AISTATS
/// 2015). Minimises F/n = (1/n) sum_i l_i(w) + (mu/(2n))*||w||^2. It keeps the latest gradient of each l_i as
/// marginals - gold. d is the sum of these gradients. A step on instance i:
///
///     d     += grad l_i(w) - (the gradient of i that is kept)
///     L_i    : doubled while l_i(w - g/L_i) > l_i(w) - ||g||^2/(2 L_i), g = grad l_i(w)
///     alpha  = (1/(L_max + mu/n) + 1/(L_mean + mu/n)) / 2
///     w      = (1 - alpha*mu/n)*w - (alpha/m)*d                      m: instances seen so far
///
/// Half of the draws are uniform, the other half proportional to L_i. The search for L_i starts at half the
/// mean of those seen, and on later visits at 0.9 times its last value. If a gradient is too small to search
/// by, L_i stays at least ||g||^2/(2 l_i(w)). Any L_i that passes the test is above that, since no loss is
/// below 0. L_i also stays at least mu/n, which the step sizes add to it anyway. Without these floors such
/// L_i would go to 0, and w would circle the optimum. With skipping (SAG-NUS* in Le Priol et al. 2018), after
/// xi visits in a row without a doubling the next 2^(xi-1) searches are skipped, but at most 8. L_i falls
/// only in a search, and must fall as the gradients do if the data are separable.
///
/// L_i is searched along one gradient only, so nothing proves that the steps are short enough. If instances
/// are few and differ much, w may circle the optimum instead of nearing it.
///
/// Lazy steps: w = scale * u, so the l2 term costs one product. d changes only at the features of the current
/// instance. Between two visits u_j therefore moves by -d_j times the sum of the steps since, and a row is
/// brought up to date when it is next read.

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/instance_inference.h"
#include "core/kernels/kernel_table.h"
#include "core/stateless.h"
#include "solvers/shared/instances/instance_rows.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/sum_tree.h"
#include "solvers/shared/instances/weight_rows.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// A gradient with a smaller squared norm is too small to search L_i by.
constexpr double kLeastSquares = 1e-8;
/// The start of the search for L_i: relative to its last value, or to the mean if the instance is new.
constexpr double kShrink = 0.9, kFirst = 0.5;
/// u is rescaled at this scale, before products of scales lose digits.
constexpr double kLeastScale = 1e-50;
/// At most 2^(this - 1) searches in a row are skipped.
constexpr int kMostGood = 4;

/// The estimates L_i of the losses' curvature, and when to search for them.
class Curvatures {
 public:
  /// `least`: the lower bound of every L_i.
  Curvatures(std::size_t n, double least)
      : least_(least), l_(n, 1.0), seen_(n, 0), good_(n, 0), skip_(n, 0), tree_(n, 1.0) {}

  double mean() const { return seen_sum_ / static_cast<double>(count_); }
  double largest() const { return *sorted_.rbegin(); }
  /// The number of instances seen.
  std::size_t count() const { return count_; }
  Index draw(Random& random) const {
    return random.uniform() < 0.5 ? static_cast<Index>(random.below(l_.size()))
                                  : static_cast<Index>(tree_.find(random.uniform() * tree_.total()));
  }
  /// The L_i at which the search starts.
  double first(Index i) const {
    return std::max(least_, seen_[i] ? kShrink * l_[i] : count_ > 0 ? kFirst * mean() : 1.0);
  }
  double last(Index i) const { return l_[i]; }
  bool seen(Index i) const { return seen_[i] != 0; }
  void set(Index i, double l) {
    if (seen_[i]) {
      sorted_.erase(sorted_.find(l_[i]));
      seen_sum_ -= l_[i];
    } else {
      ++count_;
    }
    seen_[i] = 1;
    l_[i] = l;
    seen_sum_ += l;
    sorted_.insert(l);
    tree_.set(i, l);
  }
  /// Whether this visit skips the search.
  bool skips(Index i) {
    if (skip_[i] == 0) return false;
    --skip_[i];
    return true;
  }
  void searched(Index i, bool doubled) {
    good_[i] = doubled ? 0 : std::min(good_[i] + 1, kMostGood);
    skip_[i] = good_[i] > 0 ? 1 << (good_[i] - 1) : 0;
  }

 private:
  double least_;
  std::vector<double> l_;
  std::vector<char> seen_;
  std::vector<int> good_;
  std::vector<int> skip_;
  SumTree tree_;
  std::multiset<double> sorted_;
  double seen_sum_ = 0.0;
  std::size_t count_ = 0;
};

class Descent {
 public:
  Descent(Objective& objective, bool skipping)
      : objective_(objective),
        skipping_(skipping),
        u_(objective),
        d_(objective),
        kept_(objective),
        moved_(objective.map().features(), 0.0),
        curvatures_(objective.instances(), objective.mu() / static_cast<double>(objective.instances())) {}

  void start(const SparseVector& w) {
    features_.emplace(objective_.map().x(), objective_.oracle().begin());
    u_.set(w);
  }

  SparseVector weights() const {
    WeightRows w = u_;
    for (Index j = 0; j < objective_.map().features(); ++j) bring_up(w, j);
    bring_up_extra(w);
    SparseVector out = w.nonzeros();
    for (double& value : out.value) value *= scale_;
    return out;
  }

  /// Makes one step. Returns false if the loss is not finite at w.
  bool step(Random& random) {
    const Index i = curvatures_.draw(random);
    const InstanceFeatures::View features = features_->of(i);
    for (const Index j : features.features) {
      bring_up(u_, j);
      moved_[j] = steps_;
    }
    bring_up_extra(u_);
    moved_extra_ = steps_;

    rows_.resize(kept_.of(i).size());
    residual_.resize(rows_.size());
    u_.scores(i, rows_.data());
    std::ranges::copy(u_.extra(), kept_.extra_of(rows_).begin());
    for (double& s : rows_) s *= scale_;
    const double loss = infer_instance(objective_, i, rows_.data(), kept_.extra_of(rows_), residual_.data(),
                                       kept_.extra_of(residual_));
    if (!std::isfinite(loss)) return false;

    if (!search(i, features, loss)) return false;
    objective_.counts().add_updates(1.0);
    replace(i, features);
    const double share = objective_.mu() / static_cast<double>(objective_.instances());
    const double alpha = 0.5 * (1.0 / (curvatures_.largest() + share) + 1.0 / (curvatures_.mean() + share));
    scale_ *= 1.0 - alpha * share;
    steps_ += alpha / (static_cast<double>(curvatures_.count()) * scale_);
    if (scale_ < kLeastScale) rescale();
    return true;
  }

 private:
  void bring_up(WeightRows& w, Index j) const {
    if (moved_[j] != steps_) kernels_in_use().add_scaled(w.row(j), moved_[j] - steps_, d_.row(j), w.width());
  }
  void bring_up_extra(WeightRows& w) const {
    kernels_in_use().add_scaled(w.extra_row(), moved_extra_ - steps_, d_.extra().data(), d_.extra().size());
  }

  /// Finds L_i from the current gradient. A trial is an inference on scores that are linear in 1/L_i. Returns
  /// false if the loss is not finite at a trial.
  bool search(Index i, const InstanceFeatures::View& features, double loss) {
    if (skipping_ && curvatures_.skips(i)) {
      curvatures_.set(i, curvatures_.last(i));
      return true;
    }
    double l = curvatures_.first(i);
    const std::size_t width = u_.width();
    gradient_.form(features, residual_.data(), kept_.extra_of(residual_), width);
    const double squares = gradient_.squared_norm();
    bool doubled = false;
    if (squares > kLeastSquares) {
      along_.assign(rows_.size(), 0.0);
      for (std::size_t f = 0; f < features.features.size(); ++f)
        features.add_to(along_.data(), f, gradient_.rows.data() + f * width, width);
      std::ranges::copy(kept_.extra_of(residual_), kept_.extra_of(along_).begin());
      while (true) {
        trial_ = rows_;
        kernels_in_use().add_scaled(trial_.data(), -1.0 / l, along_.data(), trial_.size());
        const double there =
            infer_instance(objective_, i, trial_.data(), kept_.extra_of(trial_), nullptr, {});
        if (!std::isfinite(there)) return false;
        if (!(there > loss - squares / (2.0 * l))) break;
        l *= 2.0;
        doubled = true;
      }
    } else if (loss > 0.0) {
      l = std::max(l, squares / (2.0 * loss));
    }
    curvatures_.searched(i, doubled);
    curvatures_.set(i, l);
    return true;
  }

  /// Replaces the kept gradient by the current one, and updates d.
  void replace(Index i, const InstanceFeatures::View& features) {
    double* kept = kept_.rows(i);
    for (double& value : residual_) value -= std::exchange(*kept++, value);
    gradient_.form(features, residual_.data(), kept_.extra_of(residual_), u_.width());
    d_.add(1.0, gradient_);
  }

  /// Sets scale to 1 without changing w.
  void rescale() {
    u_.set(weights());
    std::ranges::fill(moved_, 0.0);
    moved_extra_ = steps_ = 0.0;
    scale_ = 1.0;
  }

  Objective& objective_;
  bool skipping_;
  std::optional<InstanceFeatures> features_;
  WeightRows u_, d_;
  InstanceRows kept_;  ///< marginals minus gold of each instance at its last visit
  double scale_ = 1.0;
  double steps_ = 0.0;         ///< sum of alpha/(m*scale)
  std::vector<double> moved_;  ///< for each row of u, the steps_ up to which it has followed d
  double moved_extra_ = 0.0;
  Curvatures curvatures_;
  InstanceDirection gradient_;
  AlignedVector<double> rows_, residual_, along_, trial_;
};

struct Settings {
  bool skipping;
  double memory_limit;
  std::size_t reports;
};

Schema<Settings> rows() {
  return Schema<Settings>({option(&Settings::skipping, "skipping", "true",
                                  "leave out the search for L_i after visits that did not change it "
                                  "(SAG-NUS* of Le Priol et al. 2018)",
                                  {}, "false"),
                           option(&Settings::memory_limit, memory_limit_option()),
                           option(&Settings::reports, reports_option())});
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Monitor& monitor = problem.monitor;
  const double bytes = InstanceRows::bytes(problem.objective);
  require_memory(bytes, settings.memory_limit,
                 "the marginals of " + std::to_string(problem.objective.instances()) + " instances");
  Descent descent(problem.objective, settings.skipping);
  Random random(problem.seed);
  SolveResult result;
  result.notes["marginal_bytes"] = bytes;

  if (!begin_passes(problem, result)) return result;
  descent.start(problem.start);
  Passes passes;
  passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
    return visit_in_batches(monitor, from, to, 1, [&](std::size_t) { return descent.step(random); });
  };
  passes.weights = [&] { return descent.weights(); };
  return run_passes(problem, settings.reports, passes, result);
}

}  // namespace

SolverInfo sag_nus_info() {
  return stateless(
      rows(), solve,
      {
          .name = "sag-nus",
          .help = "stochastic average gradient with non-uniform sampling; not scale-free: L_i begins at 1, "
                  "and gradients with ||g||^2 < 1e-8 are not searched by",
          .paper = "Schmidt, Babanezhad, Ahmed, Defazio, Clifton, Sarkar, Non-uniform stochastic average "
                   "gradient method for training conditional random fields, AISTATS 2015",
          .needs = {.capabilities = {Capability::kSum, Capability::kInstance}, .l2 = true, .smooth = true},
          .exact = false,
          .keeps_instances = true,
      });
}

}  // namespace proxbench
