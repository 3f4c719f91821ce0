/// Proximal quasi-Newton with aggressive shrinking (Zhong, Yen, Dhillon, Ravikumar 2014, Algorithms 1 and 2).
///
/// Each iteration minimises the quadratic model
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1
/// over a working set A by randomised coordinate descent (section 2.2), B the compact L-BFGS matrix of the
/// smooth part (section 2.1), then backtracks on w + alpha*d until Armijo's rule holds. Within an epoch A
/// only shrinks (section 2.3); at its end all coordinates come back, the memory is cleared and the epoch's
/// tolerance falls. Scores are linear in w: the line search maps d once, and each trial costs one inference.
///
/// Defaults differ from the paper's where that was measured to pay. `memory = 10, max_inner = 10, epoch_tol =
/// 1e-4, gamma0 = 1, scaling = short` are the choices of the paper and its authors' program.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/kernel_table.h"
#include "core/lbfgs.h"
#include "core/line_search.h"
#include "core/random.h"
#include "solvers/common_options.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

struct Settings {
  std::size_t memory;
  std::int64_t max_inner;
  EpochSettings epochs;
  double gamma0;  ///< NaN: auto
  Scaling scaling;
  std::int64_t max_stagnant;
  ArmijoOptions line_search;
};

class ProxQn final : public Solver {
 public:
  explicit ProxQn(const Settings& settings)
      : settings_(settings), lbfgs_(settings.memory, settings.scaling) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& objective = problem.objective;
    lambda_ = objective.lambda();
    random_ = Random(problem.seed);
    Scores scores = objective.make_scores(), direction_scores = objective.make_scores();
    Residual residual = objective.make_residual();
    SolveResult result;
    result.w = problem.start;
    selected_ = false;

    problem.monitor.start(problem.start);
    objective.scores(problem.start, scores);
    double loss = objective.infer({scores}, &residual);
    double value = loss + objective.l1(problem.start.value) + objective.l2(problem.start.value);
    result.w = problem.start;
    // w's nonzeros are gathered where a sample wants them, off the clock.
    const auto ends = [&](std::int64_t iteration) {
      result.iterations = iteration;
      return !problem.monitor.step(
          iteration, [&] { return collect(result.w); }, index_.size(), loss);
    };

    double epoch_target = 0.0, first_measure = 0.0, largest = 0.0;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double lowest = value, lowest_at_restart = kInfinity, lowest_kkt = kInfinity,
           lowest_kkt_at_restart = kInfinity;
    std::int64_t stagnant = 0;
    bool epoch_starts = true, progressed = true;
    for (std::int64_t iteration = 1;; ++iteration) {
      if (!std::isfinite(value)) return finish(result, Status::kDiverged);

      double measure = 0.0;  // l1 norm of the minimum-norm subgradient over A
      if (!epoch_starts) {
        const double slack =
            settings_.epochs.shrinking ? largest / static_cast<double>(objective.instances()) : kInfinity;
        largest = shrink(slack, measure);
        if (largest < lowest_kkt) {
          lowest_kkt = largest;
          stagnant = 0;
        }
        epoch_starts = (settings_.epochs.shrinking && measure <= epoch_target) ||
                       largest <= problem.kkt_target() || !progressed;
      }
      if (epoch_starts) {
        collect(result.w);
        objective.select_gradient(residual, result.w,
                                  settings_.epochs.shrinking ? settings_.epochs.margin * lambda_ : -1.0,
                                  selection_);
        if (!std::isfinite(selection_.kkt_max)) return finish(result, Status::kDiverged);
        if (selection_.kkt_max <= problem.kkt_target()) return finish(result, Status::kConverged);
        if (!progressed) {
          // Neither F nor kkt came down since the memory was cleared for the same reason: rounding is all
          // that is left.
          if (!(lowest < lowest_at_restart) && !(lowest_kkt < lowest_kkt_at_restart))
            return finish(result, Status::kStalled);
          lowest_at_restart = lowest;
          lowest_kkt_at_restart = lowest_kkt;
        }
        result.notes["epochs"] += 1;
        index_.swap(selection_.index);
        w_.swap(selection_.weight);
        g_.swap(selection_.gradient);
        selected_ = true;
        largest = selection_.kkt_max;
        measure = selection_.kkt_l1;
        if (first_measure == 0.0) {
          first_measure = measure;
          epoch_target = settings_.epochs.tol * first_measure;
        } else {
          epoch_target *= settings_.epochs.factor;
        }
        lbfgs_.reset(index_.size(),
                     iteration == 1 ? first_gamma(objective, scores, direction_scores) : lbfgs_.gamma());
        epoch_starts = false;
      }

      const double slope = descend(objective);
      objective.scores(index_, d_, direction_scores);
      // With curvature known the first trial is mostly taken, so its residual comes with it. Without, gamma
      // is a guess that may be off by many halvings: then forward messages alone.
      const bool guess = lbfgs_.pairs() == 0;
      double trial_loss = 0.0;
      const ArmijoResult step = slope < 0.0 ? armijo(value, slope, 1.0, settings_.line_search,
                                                     [&](double alpha) {
                                                       trial_loss =
                                                           objective.infer({scores, &direction_scores, alpha},
                                                                           guess ? nullptr : &residual);
                                                       return trial_loss + penalty(objective, alpha);
                                                     })
                                            : ArmijoResult{};
      // Within rounding of F a step may still bring the subgradient down: only where neither falls is it
      // over.
      if (step.accepted && step.value < lowest) {
        lowest = step.value;
        stagnant = 0;
      } else {
        ++stagnant;
      }
      progressed = step.accepted && stagnant <= settings_.max_stagnant;
      if (!progressed) {
        stagnant = 0;
        // The residual must be that of w: the trials may have left another one behind.
        objective.infer({scores}, &residual);
        if (ends(iteration)) return finish(result, problem.monitor.stop_status());
        continue;
      }
      value = step.value;
      loss = trial_loss;
      objective.advance(scores, step.alpha, direction_scores);
      if (guess) objective.infer({scores}, &residual);
      for (std::size_t j = 0; j < index_.size(); ++j) {
        d_[j] *= step.alpha;
        // w + d is exactly zero where the inner problem set it to zero.
        w_[j] += d_[j];
      }
      // Columns of outputs that have left the working set hold zeros, but cost as much as others.
      if (!scores.one_each() && 4 * scores.columns > 5 * direction_scores.columns + 64)
        objective.scores(index_, w_, scores);
      g_new_.resize(index_.size());
      objective.partial_gradient(residual, index_, w_, g_new_);
      for (std::size_t j = 0; j < index_.size(); ++j) g_[j] = g_new_[j] - g_[j];
      lbfgs_.update(d_, g_);
      g_.swap(g_new_);
      if (ends(iteration)) return finish(result, problem.monitor.stop_status());
    }
  }

 private:
  SolveResult finish(SolveResult& result, Status status) {
    collect(result.w);
    result.status = status;
    result.working_set = index_.size();
    return std::move(result);
  }

  /// gamma before the first pair is known: the option, or the curvature of the smooth part along the
  /// direction that B = I gives, from one more inference close to w. Without it the first line search pays
  /// for a wrong guess with many inferences, the first of them at huge scores.
  double first_gamma(Objective& objective, const Scores& scores, Scores& direction_scores) {
    if (settings_.gamma0 > 0.0) return settings_.gamma0;
    lbfgs_.reset(index_.size(), 1.0);
    descend(objective);
    objective.scores(index_, d_, direction_scores);
    double slope = 0.0, norm = 0.0;
    for (std::size_t j = 0; j < index_.size(); ++j) {
      slope += g_[j] * d_[j];
      norm += d_[j] * d_[j];
    }
    const double value = objective.infer({scores}, nullptr) + objective.l2(w_);
    // A step that changes the smooth part by about a thousandth: the quadratic term keeps eight digits or
    // more.
    const double alpha = 1e-3 * value / std::abs(slope);
    trial_.resize(index_.size());
    for (std::size_t j = 0; j < index_.size(); ++j) trial_[j] = w_[j] + alpha * d_[j];
    const double there = objective.infer({scores, &direction_scores, alpha}, nullptr) + objective.l2(trial_);
    const double curvature = 2.0 * (there - value - alpha * slope) / (alpha * alpha * norm);
    return curvature > 0.0 && std::isfinite(curvature) ? curvature : 1.0;
  }

  /// The nonzeros of w; all of them lie in the working set once there is one.
  const SparseVector& collect(SparseVector& w) const {
    if (!selected_) return w;
    w.clear();
    for (std::size_t j = 0; j < index_.size(); ++j)
      if (w_[j] != 0.0) w.push_back(index_[j], w_[j]);
    return w;
  }

  /// Drops zero coordinates with |g_j| - lambda + slack <= 0 (Algorithm 2, lines 4-9). Returns the largest
  /// entry of the minimum-norm subgradient on what is left, and its l1 norm in `measure`.
  double shrink(double slack, double& measure) {
    kept_.clear();
    double largest = 0.0;
    for (std::size_t j = 0; j < index_.size(); ++j) {
      const double m = std::abs(minimum_norm_subgradient(w_[j], g_[j], lambda_));
      if (w_[j] == 0.0 && std::abs(g_[j]) - lambda_ + slack <= 0.0) continue;
      kept_.push_back(static_cast<std::uint32_t>(j));
      largest = std::max(largest, m);
      measure += m;
    }
    if (kept_.size() < index_.size()) {
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        index_[i] = index_[kept_[i]];
        w_[i] = w_[kept_[i]];
        g_[i] = g_[kept_[i]];
      }
      index_.resize(kept_.size());
      w_.resize(kept_.size());
      g_.resize(kept_.size());
      lbfgs_.keep_rows(kept_);
    }
    return largest;
  }

  /// Solves the inner problem inexactly (section 2.2): fills d_, returns
  /// Delta = g^T d + lambda*(||w + d||_1 - ||w||_1).
  double descend(const Objective& objective) {
    const std::size_t n = index_.size();
    lbfgs_.refresh(objective.parallel());
    d_.assign(n, 0.0);
    diagonal_.resize(n);
    for (std::size_t j = 0; j < n; ++j) diagonal_[j] = lbfgs_.diagonal(j);
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    const std::size_t width = lbfgs_.width();
    d_hat_.assign(width, 0.0);
    const auto passes = std::min<std::uint64_t>(
        static_cast<std::uint64_t>(settings_.max_inner),
        std::max<std::uint64_t>(objective.dimension() / std::max<std::size_t>(n, 1), 1));
    const DescentPass step{.q = lbfgs_.q(0),
                           .q_hat = lbfgs_.q_hat(0),
                           .stride = lbfgs_.stride(),
                           .width = width,
                           .gamma = lbfgs_.gamma(),
                           .lambda = lambda_,
                           .w = w_.data(),
                           .g = g_.data(),
                           .diagonal = diagonal_.data(),
                           .d = d_.data(),
                           .d_hat = d_hat_.data()};
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      random_.shuffle(std::span(order_));
      const bool moved = kernels_in_use().descend(step, order_.data(), order_.size());
      if (!moved) break;
      if (lbfgs_.pairs() == 0) break;  // B = gamma*I separates: one pass solves it
    }
    double slope = 0.0, l1 = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      slope += g_[j] * d_[j];
      l1 += std::abs(w_[j] + d_[j]) - std::abs(w_[j]);
    }
    return slope + lambda_ * l1;
  }

  /// lambda*||w + alpha*d||_1 + (mu/2)*||w + alpha*d||^2.
  double penalty(const Objective& objective, double alpha) {
    trial_.resize(index_.size());
    for (std::size_t j = 0; j < index_.size(); ++j) trial_[j] = w_[j] + alpha * d_[j];
    return objective.l1(trial_) + objective.l2(trial_);
  }

  Settings settings_;
  CompactLbfgs lbfgs_;
  Random random_{0};
  double lambda_ = 0.0;
  Objective::Selection selection_;
  bool selected_ = false;     ///< whether there is a working set yet
  std::vector<Coord> index_;  ///< the working set A, ascending; all below are aligned with it
  std::vector<double> w_, g_, g_new_, d_, diagonal_, trial_;
  std::vector<std::uint32_t> order_, kept_;
  AlignedVector<double> d_hat_;  ///< Q^ d
};

}  // namespace

SolverInfo prox_qn_info() {
  OptionTable options = {
      {.name = "memory",
       .type = OptionType::kInt,
       .default_value = "40",
       .help = "L-BFGS pairs kept, m (paper: 10)",
       .min = 1,
       .max = 1000},
      {.name = "max_inner",
       .type = OptionType::kInt,
       .default_value = "20",
       .help = "most passes of coordinate descent over the working set; fewer where d/|A| is less (section "
               "2.3; paper: 10)",
       .min = 1,
       .max = 100000},
      {.name = "gamma0",
       .type = OptionType::kReal,
       .default_value = "auto",
       .help = "B = gamma0*I before the first step; auto: the curvature along the first direction (paper: 1)",
       .min = 0,
       .min_open = true,
       .automatic = true},
      {.name = "scaling",
       .type = OptionType::kString,
       .default_value = "geometric",
       .help = "gamma of B_0 = gamma*I from the last pair: short = y's/s's (paper), long = y'y/y's, "
               "geometric = |y|/|s|, "
               "which spares most of the line search's second trials",
       .choices = {"short", "geometric", "long"}},
      {.name = "max_stagnant",
       .type = OptionType::kInt,
       .default_value = "20",
       .help = "iterations in a row with neither F nor kkt at a new low (all within rounding) before the "
               "memory is "
               "cleared; twice in a row ends the run as stalled",
       .min = 0,
       .max = 1000000},
  };
  return {
      "prox-qn", "proximal quasi-Newton with shrinking: L-BFGS model, coordinate descent on the working set",
      "Zhong, Yen, Dhillon, Ravikumar 2014, Algorithm 2",
      joined(joined(std::move(options), epoch_options("1e-2")), line_search_options()), [](const Options& o) {
        const Settings settings{.memory = static_cast<std::size_t>(o.integer("memory")),
                                .max_inner = o.integer("max_inner"),
                                .epochs = read_epochs(o),
                                .gamma0 = o.real("gamma0"),
                                .scaling = o.string("scaling") == "short"  ? Scaling::kShort
                                           : o.string("scaling") == "long" ? Scaling::kLong
                                                                           : Scaling::kGeometric,
                                .max_stagnant = o.integer("max_stagnant"),
                                .line_search = read_line_search(o)};
        return std::make_unique<ProxQn>(settings);
      }};
}

}  // namespace proxbench
