/// Online exponentiated gradient (Collins, Globerson, Koo, Carreras, Bartlett, "Exponentiated gradient
/// algorithms for conditional random fields and max-margin Markov networks", JMLR 2008). Maximises the same
/// dual as SDCA (solvers/sdca/sdca.cpp),
///
///     D(alpha) = sum_i H(alpha_i) - (mu/2)*||w(alpha)||^2,
///
/// where alpha_i = p(. | theta_i) is given by scores theta_i that each instance has of its own. A step on
/// instance i:
///
///     theta  = (1 - eta)*theta_i + eta * (scores of i at w)
///     w'     = w - (1/mu) * (E_theta[F_i] - E_{theta_i}[F_i])
///     accepted if D has risen; else eta is halved. Each trial costs one inference.
///
/// Each instance has its own eta. The first pass visits each instance once, in random order. From then on
/// instances are drawn uniformly.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/instance_inference.h"
#include "core/kernels/kernel_table.h"
#include "core/stateless.h"
#include "solvers/shared/instances/instance_rows.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/weight_rows.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// Collins et al. 2008, section 8: the first eta, and its factor after an accepted step.
constexpr double kFirstEta = 0.5, kEtaGrowth = 1.05;
/// The least score of gold labels in a first dual point that is chosen.
constexpr double kGoldScore = 10.0;
/// A smaller eta moves nothing beyond rounding, so the step is given up.
constexpr double kLeastEta = 1e-6;
/// The decrease of D that a step may owe to rounding, relative to the block's terms. An entropy is a
/// difference of sums of scores. If one label has all the mass, the error of the entropy is as large as that
/// of these sums. Without this allowance, no step of the instance would then be accepted.
constexpr double kRounding = 2e-15;

/// theta_i of all instances, which are the dual point.
struct InstanceScores final : InstanceRows, BeliefPoint {
  using InstanceRows::InstanceRows;
  void beliefs(const BeliefOracle& oracle, Index i, double* log_beliefs) const override {
    oracle.infer_beliefs(i, rows(i), extra(i), log_beliefs);
  }
};

class Ascent {
 public:
  explicit Ascent(Objective& objective)
      : objective_(objective),
        begin_(objective.oracle().begin()),
        w_(objective),
        theta_(std::make_shared<InstanceScores>(objective)),
        residual_(objective),
        entropy_(objective.instances()),
        eta_(objective.instances(), kFirstEta) {}

  std::shared_ptr<const DualPoint> dual_point() const { return theta_; }
  SparseVector weights() const { return w_.nonzeros(); }

  /// Sets theta_i to the scores at `start`. If start = 0, gives each gold label the score `gold_score` or, if
  /// that is NaN, one that makes D large. Then sets w = w(alpha). Costs up to two passes, which may stop
  /// early if the monitor is out of time. Returns false if a loss is not finite.
  ///
  /// With a gold score s, sum_i H and g(alpha) are about proportional to e^-s. So D = sum_i H - mu/2*||w||^2
  /// is largest about where mu*||w||^2 = sum_i H. With a smaller s, D is far below 0 if many instances share
  /// features.
  bool start(const SparseVector& start, double gold_score, Monitor& monitor) {
    features_.emplace(objective_.map().x(), begin_);
    w_.set(start);
    for (Index i = 0; i < objective_.instances(); ++i) scores(i, theta_->of(i));
    if (start.nnz() > 0) return infer_all(monitor);
    set_gold(std::isnan(gold_score) ? kGoldScore : gold_score);
    if (!infer_all(monitor)) return false;
    const double entropy = std::reduce(entropy_.begin(), entropy_.end()),
                 excess = objective_.mu() * w_.squared_norm() / entropy;
    if (!std::isnan(gold_score) || !(excess > 1.0) || monitor.out_of_time()) return true;
    set_gold(kGoldScore + std::log(excess));
    return infer_all(monitor);
  }

  /// Steps on instance i. Returns false, with nothing changed, if the loss is not finite at a trial.
  bool step(Index i) {
    const std::span<double> theta = theta_->of(i), residual = residual_.of(i);
    const double mu = objective_.mu();
    for (AlignedVector<double>* numbers : {&scores_, &trial_, &trial_residual_, &change_})
      numbers->resize(theta.size());
    scores(i, scores_);
    const auto size = [](std::span<const double> scores) {
      double largest = 0.0;
      for (const double s : scores) largest = std::max(largest, std::abs(s));
      return largest;
    };
    const std::size_t rows = w_.positions(i) * w_.width();
    const double terms = 1.0 + static_cast<double>(w_.positions(i)) *
                                   (std::max(size(theta.first(rows)), size({scores_.data(), rows})) +
                                    std::max(size(theta_->extra(i)), size(w_.extra())));
    for (double eta = eta_[i]; eta >= kLeastEta; eta *= 0.5) {
      for (std::size_t c = 0; c < theta.size(); ++c) trial_[c] = theta[c] + eta * (scores_[c] - theta[c]);
      const double entropy = infer(i, trial_, trial_residual_);
      if (!std::isfinite(entropy)) return false;
      change_ = trial_residual_;
      kernels_in_use().add_scaled(change_.data(), -1.0, residual.data(), change_.size());
      direction_.form(features_->of(i), change_.data(), theta_->extra_of(change_), w_.width());
      const double along = -w_.dot(direction_),
                   rise = entropy - entropy_[i] - along - 0.5 / mu * direction_.squared_norm();
      if (!(rise >= -kRounding * (terms + std::abs(along)))) continue;
      w_.add(-1.0 / mu, direction_);
      std::ranges::copy(trial_, theta.begin());
      std::ranges::copy(trial_residual_, residual.begin());
      entropy_[i] = entropy;
      eta_[i] = std::min(1.0, kEtaGrowth * eta);
      break;
    }
    objective_.counts().add_updates(1.0);
    return true;
  }

 private:
  void set_gold(double score) {
    for (Index i = 0; i < objective_.instances(); ++i)
      for (std::size_t t = 0; t < w_.positions(i); ++t) {
        const auto on = objective_.oracle().gold_outputs(begin_[i] + static_cast<Index>(t));
        if (!on.empty()) theta_->rows(i)[t * w_.width() + on.back()] = score;
      }
  }
  /// Finds the entropies and residuals at all theta_i, and w = w(alpha). Returns false if a loss is not
  /// finite.
  bool infer_all(Monitor& monitor) {
    w_.set({});
    for (Index i = 0; i < objective_.instances() && !monitor.out_of_time(); ++i) {
      entropy_[i] = infer(i, theta_->of(i), residual_.of(i));
      if (!std::isfinite(entropy_[i])) return false;
      direction_.form(features_->of(i), residual_.rows(i), residual_.extra(i), w_.width());
      w_.add(-1.0 / objective_.mu(), direction_);
    }
    return true;
  }
  /// Writes the scores of i at w into a vector laid out like theta_i.
  void scores(Index i, std::span<double> out) const {
    w_.scores(i, out.data());
    std::ranges::copy(w_.extra(), theta_->extra_of(out).begin());
  }
  /// Finds the residual of p(. | theta), and returns its entropy: the loss is A - theta(gold), and H = A -
  /// E[theta].
  double infer(Index i, std::span<double> at, std::span<double> residual) {
    const std::span<double> extra = theta_->extra_of(at), residual_extra = theta_->extra_of(residual);
    const double loss = infer_instance(objective_, i, at.data(), extra, residual.data(), residual_extra);
    double expected = kernels_in_use().dot(extra.data(), residual_extra.data(), extra.size());
    for (std::size_t t = 0; t < w_.positions(i); ++t)
      expected += kernels_in_use().dot(at.data() + t * w_.width(), residual.data() + t * w_.width(),
                                       objective_.outputs());
    return loss - expected;
  }

  Objective& objective_;
  std::span<const Index> begin_;
  std::optional<InstanceFeatures> features_;
  WeightRows w_;
  std::shared_ptr<InstanceScores> theta_;
  InstanceRows residual_;  ///< marginals minus gold, at theta_i
  std::vector<double> entropy_, eta_;
  InstanceDirection direction_;
  AlignedVector<double> scores_, trial_, trial_residual_, change_;
};

struct Settings {
  double gold_score, memory_limit;
  std::size_t reports;
};

Schema<Settings> rows() {
  return Schema<Settings>({option(&Settings::gold_score, "gold_score", "auto",
                                  "first dual point, where training starts at w = 0: marginals of a "
                                  "model that gives this score to each gold label; auto: 10, or more if "
                                  "that makes the dual objective larger",
                                  above(0, 100)),
                           option(&Settings::memory_limit, memory_limit_option()),
                           option(&Settings::reports, reports_option())});
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  Monitor& monitor = problem.monitor;
  const double bytes = 2.0 * InstanceRows::bytes(objective);
  require_memory(bytes, settings.memory_limit,
                 "the scores and marginals of " + std::to_string(objective.instances()) + " instances");
  Ascent ascent(objective);
  Random random(problem.seed);
  std::vector<Index> order(objective.instances());
  std::iota(order.begin(), order.end(), Index{0});
  SolveResult result;
  result.notes["score_bytes"] = bytes;

  if (!begin_passes(problem, result)) return result;
  random.shuffle(std::span(order));
  const bool valid = ascent.start(problem.start, settings.gold_score, monitor);
  if (!valid || monitor.out_of_time()) {
    result.status = valid ? monitor.stop_status() : Status::kDiverged;
    return result;
  }
  monitor.watch(ascent.dual_point());
  Passes passes;
  passes.visit = [&](std::int64_t pass, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && !monitor.out_of_time(); ++i)
      if (!ascent.step(pass == 1 ? order[i] : static_cast<Index>(random.below(order.size())))) return false;
    return true;
  };
  passes.weights = [&] { return ascent.weights(); };
  return run_passes(problem, settings.reports, passes, result);
}

}  // namespace

SolverInfo oeg_info() {
  return stateless(
      rows(), solve,
      {
          .name = "oeg",
          .help = "online exponentiated gradient on the dual",
          .paper = "Collins, Globerson, Koo, Carreras, Bartlett, Exponentiated gradient algorithms for "
                   "conditional random fields and max-margin Markov networks, JMLR 2008",
          .needs = {.capabilities = {Capability::kSum, Capability::kInstance, Capability::kBeliefs},
                    .l2 = true,
                    .smooth = true},
          .exact = false,
          .scale_free = true,
          .keeps_instances = true,
      });
}

}  // namespace proxbench
