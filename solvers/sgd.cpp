/// Stochastic gradient descent with cumulative l1 penalty (Tsuruoka, Tsujii, Ananiadou, "Stochastic gradient
/// descent training for L1-regularized log-linear models with cumulative penalty", ACL 2009). Minimises
///
///     F(w) = lambda*||w||_1 + (mu/2)*||w||^2 + sum_i l_i(w)
///
/// one instance at a time, in a new random order in each pass. With N instances, the k-th step (k = 0, 1,
/// ...), on instance i, is
///
///     eta_k = eta0 / (1 + k/N)                                               (Zhong et al. 2014, section 6)
///     u     = sum_{t <= k} eta_t * lambda/N      the penalty that each weight could have received so far
///     w_c  -= eta_k * (d l_i / d w_c + mu_c*w_c)  for the weights of the features that i carries
///     w_c   = max(0, w_c - (u + q_c)) where w_c > 0,  min(0, w_c + (u - q_c)) where w_c < 0  (section 3.2)
///     q_c  += the change that this made           the penalty that w_c has received so far
///
/// so a weight near 0 is charged the penalty of all steps so far, which averages out the noise of single
/// steps. F is a SUM of losses, so an instance's share of the penalty is lambda/N. The l2 term of a weight is
/// shared among the instances that carry its feature: mu_c = mu / (their number). The shares add up to mu
/// over a pass, and no other weight needs an update. The oracle's extra weights are on in every instance.
///
/// Lazy updates. Between two instances that carry its feature, only the penalty changes a weight, so it is
/// brought up to date when it is next needed. This equals charging every weight at every step, and charging a
/// weight early changes only rounding. Proof: let A_u be the map (w, q) -> (w', q') above, and u <= v. Always
/// |q| <= u. For w > 0, A_u gives w' = max(0, w - (u + q)).
/// - If w' > 0, then q' = -u, and A_v after A_u gives max(0, w' - (v - u)) = max(0, w - (v + q)), as A_v
///   does.
/// - If w' = 0, then w - (v + q) <= w - (u + q) <= 0, so A_v gives 0 as well, and q' = q - w both ways.
///
/// The case w < 0 is the mirror image, and if w = 0 then w and q do not change. So A_v A_u = A_v.
///
/// The loss of one instance is no estimate of F, so the solver cannot see how close it is. It stops at its
/// limits, or when a full gradient shows kkt <= the target. It computes one every kPassesBetweenChecks
/// passes, on the clock.
///
/// Each step depends on the previous one and takes less time than waking other threads, so steps run on one
/// thread (solvers/RESULTS.md, "Tried and not kept"). Full gradients run on all threads.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/instance_inference.h"
#include "core/kernels/kernel_sets.h"
#include "core/kernels/kernel_table.h"
#include "core/stateless.h"
#include "solvers/sgd_kernels.h"
#include "solvers/shared/instances/instance_features.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/solvers.h"

namespace proxbench {

PROXBENCH_KERNEL_SETS(SgdKernels, sgd_kernels)

namespace {

/// The weights w and the penalty q that each has received, in rows of `width` doubles: all w of a row, then
/// all its q. Memory traffic bounds a step. Rows without nonzero weights are therefore marked, and skipped if
/// only their weights matter.
class WeightTable {
 public:
  WeightTable(std::size_t rows, std::size_t width)
      : width_(width), values_(rows * 2 * width), empty_(rows, 1), gradient_(width) {}

  std::size_t width() const { return width_; }
  const double* w(std::size_t row) const { return values_.data() + row * 2 * width_; }
  /// Whether all weights of the row are 0.
  bool empty(std::size_t row) const { return empty_[row] != 0; }
  void set(std::size_t row, std::size_t k, double value) {
    values_[row * 2 * width_ + k] = value;
    empty_[row] = 0;
  }
  void clear() {
    std::ranges::fill(values_, 0.0);
    std::ranges::fill(empty_, 1);
  }

  void charge_row(std::size_t row, double u) {
    double *weight = values_.data() + row * 2 * width_, *received = weight + width_;
    sgd_kernels().charge(u, weight, received, width_);
  }

  /// w -= eta * (sum_i x_i * residual[position_i][0..width) + l2*w), then charges the penalty. A null x means
  /// all ones.
  void descend_row(std::size_t row, double eta, double l2, double u, const double* residual,
                   std::span<const Index> position, const double* x) {
    double *weight = values_.data() + row * 2 * width_, *received = weight + width_;
    std::ranges::fill(gradient_, 0.0);
    kernels_in_use().add_rows(residual, position.data(), x, position.size(), gradient_.data(), width_);
    empty_[row] = !sgd_kernels().step_and_charge(eta, l2, u, gradient_.data(), weight, received, width_);
  }

 private:
  std::size_t width_;
  AlignedVector<double> values_;
  std::vector<char> empty_;
  AlignedVector<double> gradient_;
};

/// The weights, and the step on one instance.
class Learner {
 public:
  explicit Learner(Objective& objective)
      : objective_(objective),
        instances_(static_cast<double>(objective.instances())),
        unary_(objective.map().features(), padded(objective.outputs())),
        extra_(1, padded(objective.map().extra_weights())),
        extra_gradient_(extra_.width(), 0.0) {}

  /// Finds the features of every instance, and for each feature the share of the l2 term per instance.
  void prepare() {
    features_.emplace(objective_.map().x(), objective_.oracle().begin());
    l2_.assign(objective_.mu() > 0.0 ? objective_.map().features() : 0, 0.0);
    if (l2_.empty()) return;
    for (Index i = 0; i < objective_.instances(); ++i)
      for (const Index j : features_->of(i).features) l2_[j] += 1.0;
    for (double& share : l2_) share = share > 0.0 ? objective_.mu() / share : 0.0;
  }

  /// Sets w = start, with no penalty received and no step taken.
  void reset(const SparseVector& start, double eta0) {
    unary_.clear();
    extra_.clear();
    eta0_ = eta0;
    steps_ = 0.0;
    penalty_ = 0.0;
    const Index outputs = objective_.outputs();
    for (std::size_t i = 0; i < start.nnz(); ++i) {
      const Coord c = start.index[i];
      if (c < objective_.unary_weights())
        unary_.set(c / outputs, c % outputs, start.value[i]);
      else
        extra_.set(0, c - objective_.unary_weights(), start.value[i]);
    }
  }

  /// Makes one step. Returns false, with nothing changed, if the loss of the instance is not finite at w.
  bool learn(Index instance) {
    if (!std::isfinite(infer(instance, true))) return false;
    const double eta = eta0_ / (1.0 + steps_ / instances_);
    steps_ += 1.0;
    objective_.counts().add_updates(1.0);
    penalty_ += eta * objective_.lambda() / instances_;
    const InstanceFeatures::View view = features_->of(instance);
    for (std::size_t f = 0; f < view.features.size(); ++f) {
      const Index j = view.features[f];
      unary_.descend_row(j, eta, l2_.empty() ? 0.0 : l2_[j], penalty_, residual_.data(), view.positions(f),
                         view.values(f));
    }
    const Index only = 0;
    extra_.descend_row(0, eta, objective_.mu() / instances_, penalty_, extra_gradient_.data(), {&only, 1},
                       nullptr);
    return true;
  }

  double loss(Index instance) { return infer(instance, false); }

  /// Returns w with every weight charged the penalty that it owes. The weights themselves do not change, so
  /// calls do not affect the run.
  SparseVector weights() const {
    SparseVector out;
    AlignedVector<double> charged;  // w of a row, then q
    auto add = [&](const WeightTable& table, std::size_t row, std::size_t count, Coord first) {
      if (table.empty(row)) return;
      const std::size_t width = table.width();
      charged.assign(table.w(row), table.w(row) + 2 * width);
      sgd_kernels().charge(penalty_, charged.data(), charged.data() + width, width);
      for (std::size_t k = 0; k < count; ++k)
        if (charged[k] != 0.0) out.push_back(first + k, charged[k]);
    };
    const Index outputs = objective_.outputs();
    for (Index j = 0; j < objective_.map().features(); ++j)
      add(unary_, j, outputs, static_cast<Coord>(j) * outputs);
    add(extra_, 0, objective_.map().extra_weights(), objective_.unary_weights());
    return out;
  }

 private:
  /// Returns the loss of an instance at w, after charging the weights of its features.
  double infer(Index instance, bool with_residual) {
    const std::size_t positions = objective_.oracle().length(instance);
    const InstanceFeatures::View view = features_->of(instance);
    const std::size_t width = unary_.width();
    rows_.assign(positions * width, 0.0);
    if (with_residual) residual_.resize(positions * width);
    for (std::size_t f = 0; f < view.features.size(); ++f) {
      const Index j = view.features[f];
      if (unary_.empty(j)) continue;
      unary_.charge_row(j, penalty_);
      view.add_to(rows_.data(), f, unary_.w(j), width);
    }
    extra_.charge_row(0, penalty_);
    const std::size_t extra = objective_.map().extra_weights();
    return infer_instance(objective_, instance, rows_.data(), {extra_.w(0), extra},
                          with_residual ? residual_.data() : nullptr,
                          std::span(extra_gradient_).first(extra));
  }

  Objective& objective_;
  double instances_;
  WeightTable unary_;  ///< one row per feature
  WeightTable extra_;  ///< one row
  std::vector<double> l2_;
  double eta0_ = 0.0, steps_ = 0.0, penalty_ = 0.0;
  std::optional<InstanceFeatures> features_;
  AlignedVector<double> rows_, residual_;  ///< positions x width
  AlignedVector<double> extra_gradient_;
};

/// The most values of eta0 that the calibration tries (CRFsuite's calibration.max_trials).
constexpr std::int64_t kMostTrials = 20;

struct Settings {
  double eta0;  ///< NaN if auto
  std::size_t sample, reports;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::eta0, "eta0", "auto",
              "first learning rate, eta_k = eta0/(1 + k/N) for a sum of losses, in units of "
              "1/value^2; auto: calibrated on a sample",
              above(0, 1e9)),
       option(&Settings::sample, "sample", "1000", "instances on which eta0 is calibrated", {1, 1e9}),
       option(&Settings::reports, reports_option())});
}

/// The reciprocal of the mean over instances of sum_p (||x_p||^2 + 1), which is roughly the curvature of an
/// instance's loss.
double first_guess(const Objective& objective, std::span<const Index> sample) {
  const double unit = objective.map().typical_value() * objective.map().typical_value();
  double sum = 0.0;
  for (const Index i : sample)
    for (const Index p : objective.oracle().positions_of(i)) {
      sum += unit;
      objective.map().x().for_each_entry(p, [&](Index, double x) { sum += x * x; });
    }
  return static_cast<double>(sample.size()) / sum;
}

/// Calibrates eta0 as Bottou's sgd and CRFsuite do. It makes one pass over a sample from the starting point
/// with each eta of a geometric ladder. It picks the eta with the lowest objective on the sample, where each
/// instance bears its share of the penalty. The search starts at first_guess() and goes to the side where the
/// objective falls. Each trial is an iteration that leaves w unchanged. Returns false if the monitor stops
/// the run. A trial that is stopped midway does not count.
bool calibrate(const SolveProblem& problem, Learner& learner, std::span<const Index> sample, double& eta0) {
  Objective& objective = problem.objective;
  Monitor& monitor = problem.monitor;
  const double share = static_cast<double>(sample.size()) / static_cast<double>(objective.instances());
  bool go_on = true;
  auto value = [&](double eta, bool learn) {
    learner.reset(problem.start, eta);
    if (learn)
      for (std::size_t i = 0; i < sample.size() && !monitor.out_of_time(); ++i) learner.learn(sample[i]);
    const SparseVector w = learner.weights();
    double sum = share * (objective.penalty().l1(w.value) + objective.penalty().l2(w.value));
    for (std::size_t i = 0; i < sample.size() && !monitor.out_of_time(); ++i) sum += learner.loss(sample[i]);
    if (learn) go_on = !monitor.out_of_time() && monitor.step(problem.start, kNaN, objective.dimension());
    return std::isfinite(sum) ? sum : kInfinity;
  };

  constexpr double kStep = 2.0;
  eta0 = first_guess(objective, sample);
  double lowest = value(eta0, true);
  const double at_start = value(eta0, false);
  // If even the first eta moves w away from the optimum, only smaller ones are tried.
  const bool down = !(lowest < at_start);
  for (const double factor : {kStep, 1.0 / kStep}) {
    if (down && factor > 1.0) continue;
    const double first = eta0;
    for (double eta = eta0 * factor; go_on && monitor.iterations() < kMostTrials; eta *= factor) {
      const double reached = value(eta, true);
      if (!(reached < lowest) && lowest < at_start) break;
      eta0 = eta;
      lowest = reached;
    }
    if (eta0 != first) break;
  }
  return go_on && !monitor.out_of_time();
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  Monitor& monitor = problem.monitor;
  Learner learner(objective);
  std::vector<Index> order(objective.instances());
  std::iota(order.begin(), order.end(), Index{0});
  Random random(problem.seed);
  SolveResult result;

  if (!begin_passes(problem, result)) return result;
  learner.prepare();
  random.shuffle(std::span(order));
  double eta0 = settings.eta0;
  const auto sample = std::span<const Index>(order).first(std::min(settings.sample, order.size()));
  if (std::isnan(eta0) && !calibrate(problem, learner, sample, eta0)) {
    result.status = monitor.stop_status();
    return result;
  }
  result.notes["eta0"] = eta0;
  learner.reset(problem.start, eta0);

  Passes passes;
  passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
    bool learned = false;
    for (std::size_t i = from; i < to; ++i) {
      learned |= learner.learn(order[i]);
      if (monitor.out_of_time()) break;  // w is an iterate after every instance
    }
    return learned;
  };
  passes.weights = [&] { return learner.weights(); };
  passes.after = [&](std::int64_t) { random.shuffle(std::span(order)); };
  return run_passes(problem, settings.reports, passes, result);
}

}  // namespace

SolverInfo sgd_info() {
  return stateless(rows(), solve,
                   {
                       .name = "sgd",
                       .help = "stochastic gradient descent with cumulative l1 penalty",
                       .paper = "Tsuruoka, Tsujii, Ananiadou, Stochastic gradient descent training for "
                                "L1-regularized log-linear "
                                "models with cumulative penalty, ACL 2009",
                       .needs = {.capabilities = {Capability::kSum, Capability::kInstance}},
                       .exact = false,
                       .scale_free = true,
                       .bytes_per_weight = 150,
                   });
}

}  // namespace proxbench
