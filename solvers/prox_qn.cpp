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

#include "core/kernels.h"
#include "core/lbfgs.h"
#include "core/line_search.h"
#include "core/random.h"
#include "solvers/block_metric.h"
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
  bool blocks;           ///< B_0 by BlockMetric
  bool growing;          ///< few violators at a time
  double growth;         ///< violators let in at a restart, relative to the support
  std::int64_t least;    ///< violators let in at least
  double progress;       ///< growing: share of a restart's subgradient that ends its epoch
  std::int64_t largest_block;
  double inner_tol;
  std::int64_t least_its;
  double damping, damp_power, damp_down, rebuild, stale, keep, share, haywire, dear, entries;
};

class ProxQn final : public Solver {
 public:
  explicit ProxQn(const Settings& settings)
      : settings_(settings), lbfgs_(settings.memory, settings.scaling) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& objective = problem.objective;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    lambda_ = objective.lambda();
    damping_ = settings_.damping;
    built_at_ = kInfinity;
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
    double lowest = value, lowest_at_restart = kInfinity, lowest_kkt = kInfinity,
           lowest_kkt_at_restart = kInfinity;
    std::int64_t stagnant = 0, epoch_iterations = 0;
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
        ++epoch_iterations;
        epoch_starts = (settings_.epochs.shrinking && measure <= epoch_target && epoch_iterations >= settings_.least_its) ||
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
        const bool growing = settings_.growing && static_cast<double>(objective.x().nonzeros()) > settings_.dear * static_cast<double>(objective.x().positions()) * objective.outputs();
        if (growing) thin_out(objective);
        if (blocks_ && lbfgs_.pairs() > 0) {
          from_.resize(selection_.index.size());
          std::size_t old = 0;
          for (std::size_t i = 0; i < from_.size(); ++i) {
            while (old < index_.size() && index_[old] < selection_.index[i]) ++old;
            from_[i] = old < index_.size() && index_[old] == selection_.index[i]
                           ? static_cast<std::uint32_t>(old)
                           : CompactLbfgs::kNew;
          }
        } else {
          from_.clear();
        }
        index_.swap(selection_.index);
        w_.swap(selection_.weight);
        g_.swap(selection_.gradient);
        selected_ = true;
        largest = selection_.kkt_max;
        measure = selection_.kkt_l1;
        if (getenv("PQN_DEBUG")) fprintf(stderr, "restart it %ld F %.10g kkt %.3g l1 %.3g |A| %zu epoch its %ld metric %g blocks %d\n", iteration, value, selection_.kkt_max, selection_.kkt_l1, index_.size(), epoch_iterations, BlockMetric::entries(objective, index_), (int)blocks_);
        epoch_iterations = 0;
        if (first_measure == 0.0) {
          first_measure = measure;
          epoch_target = settings_.epochs.tol * first_measure;
        } else {
          epoch_target *= settings_.epochs.factor;
        }
        if (settings_.growing || growing) epoch_target = settings_.progress * measure;
        if (blocks_ && !from_.empty()) {
          lbfgs_.take_rows(from_);
          if (built_at_ - value <= settings_.rebuild * value) {
            metric_.take_rows(objective, residual, index_, from_);
          } else {
            const bool keep = built_at_ - value <= settings_.keep * value;
            built_at_ = value;
            metric_.build(objective, residual, index_);
            if (!keep) lbfgs_.reset(index_.size(), damping_);
            else lbfgs_.rebase([&](std::span<const double> s, std::vector<double>& b) { metric_.multiply(s, b); });
          }
        } else if (settings_.blocks && iteration >= retry_at_ && BlockMetric::entries(objective, index_) <= settings_.entries) {
          if (!blocks_) lbfgs_ = CompactLbfgs(settings_.memory, Scaling::kNone);
          blocks_ = true;
          built_at_ = value;
          metric_.build(objective, residual, index_);
          lbfgs_.reset(index_.size(), damping_);
        } else {
          lbfgs_.reset(index_.size(),
                       iteration == 1 ? first_gamma(objective, scores, direction_scores) : lbfgs_.gamma());
        }
        epoch_starts = false;
      }

      if (blocks_ && built_at_ - value > settings_.stale * value) {
        const bool keep = built_at_ - value <= settings_.keep * value;
        built_at_ = value;
        metric_.build(objective, residual, index_);
        if (keep) lbfgs_.rebase([&](std::span<const double> s, std::vector<double>& b) { metric_.multiply(s, b); });
        if (!keep || lbfgs_.pairs() == 0) lbfgs_.reset(index_.size(), damping_);
      }
      const double slope = blocks_ ? descend_blocks(objective) : descend(objective);
      objective.scores(index_, d_, direction_scores);
      // With curvature known the first trial is mostly taken, so its residual comes with it. Without, gamma
      // is a guess that may be off by many halvings: then forward messages alone.
      const bool guess = lbfgs_.pairs() == 0 && !blocks_;
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
      if (getenv("PQN_DEBUG")) fprintf(stderr, "  it %ld F %.8g alpha %g damp %g |A| %zu inner %ld passes %g slope %.3g gain %.3g\n", iteration, step.value, step.alpha, damping_, index_.size(), inner_passes_, objective.passes(), slope, value - step.value);
      if (!progressed) {
        stagnant = 0;
        // The residual must be that of w: the trials may have left another one behind.
        objective.infer({scores}, &residual);
        if (ends(iteration)) return finish(result, problem.monitor.stop_status());
        continue;
      }
      if (blocks_ && step.alpha < settings_.haywire && -slope > 1e-9 * value) {
        // far too long a step: the metric does not hold here
        blocks_ = false;
        retry_at_ = iteration + wait_;
        wait_ *= 2;
        lbfgs_ = CompactLbfgs(settings_.memory, settings_.scaling);
        lbfgs_.reset(index_.size(), 1.0);
      }
      if (blocks_) {
        if (step.alpha < 1.0 && -slope > 1e-9 * value)
          damping_ = std::min(damping_ * std::pow(step.alpha, -settings_.damp_power), 1e3);
        else
          damping_ = std::max(damping_ * settings_.damp_down, 1.0);
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
      if (blocks_) {
        metric_.multiply(d_, product_);
        lbfgs_.update(d_, g_, product_);
        if (lbfgs_.gamma() != damping_) lbfgs_.set_gamma(damping_);
      } else {
        lbfgs_.update(d_, g_);
      }
      g_.swap(g_new_);
      if (ends(iteration)) return finish(result, problem.monitor.stop_status());
    }
  }

 private:
  SolveResult finish(SolveResult& result, Status status) {
    collect(result.w);
    result.status = status;
    result.notes["inner_passes"] = static_cast<double>(inner_passes_);
    result.working_set = index_.size();
    return std::move(result);
  }

  /// gamma before the first pair is known: the option, or the curvature of the smooth part along the
  /// direction that B = I gives, from one more inference close to w. Without it the first line search pays
  /// for a wrong guess with many inferences, the first of them at huge scores.
  double first_gamma(Objective& objective, const Scores& scores, Scores& direction_scores) {
    if (settings_.gamma0 > 0.0) return settings_.gamma0;
    lbfgs_.reset(index_.size(), damping_);
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
      if (blocks_) metric_.keep_rows(kept_);
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
    const double gamma = lbfgs_.gamma();
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      random_.shuffle(std::span(order_));
      bool moved = false;
      for (const std::uint32_t j : order_) {
        const double a = diagonal_[j];
        if (!(a > 0.0)) continue;  // rounding made the model flat along this coordinate
        const double b = g_[j] + gamma * d_[j] - dot(lbfgs_.q(j), width);
        const double c = w_[j] + d_[j];
        const double next = soft_threshold(c - b / a, lambda_ / a);
        if (next == c) continue;
        const double z = next - c;
        // Where the coordinate becomes zero, w + d must be zero to the last bit.
        d_[j] = next == 0.0 ? -w_[j] : d_[j] + z;
        add(z, lbfgs_.q_hat(j), width);
        moved = true;
      }
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

  /// Keeps the support and the worst of the violators only.
  void thin_out(const Objective& objective) {
    struct Violator {
      double gradient;
      std::size_t at;
    };
    std::vector<Violator> outside;
    std::size_t support = 0;
    for (std::size_t i = 0; i < selection_.index.size(); ++i) {
      if (selection_.weight[i] != 0.0)
        ++support;
      else
        outside.push_back({std::abs(selection_.gradient[i]), i});
    }
    std::sort(outside.begin(), outside.end(), [](const Violator& a, const Violator& b) {
      return a.gradient > b.gradient || (a.gradient == b.gradient && a.at < b.at);
    });
    const std::size_t least = std::max(static_cast<std::size_t>(settings_.least),
                                      static_cast<std::size_t>(settings_.growth * static_cast<double>(support)));
    const double budget = settings_.share * static_cast<double>(objective.x().positions()) * objective.outputs();
    double entries = 0.0;
    std::vector<char> keep(selection_.index.size(), 0);
    for (std::size_t v = 0; v < outside.size(); ++v) {
      const Coord c = selection_.index[outside[v].at];
      if (c < objective.unary_weights())
        entries += static_cast<double>(objective.x().column_size(static_cast<Index>(c / objective.outputs())));
      if (v >= least && entries > budget) break;
      keep[outside[v].at] = 1;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < selection_.index.size(); ++i) {
      if (selection_.weight[i] == 0.0 && keep[i] == 0) continue;
      selection_.index[kept] = selection_.index[i];
      selection_.weight[kept] = selection_.weight[i];
      selection_.gradient[kept++] = selection_.gradient[i];
    }
    selection_.index.resize(kept);
    selection_.weight.resize(kept);
    selection_.gradient.resize(kept);
  }

  /// descend() with B_0 from the metric.
  double descend_blocks(const Objective& objective) {
    const std::size_t n = index_.size();
    lbfgs_.refresh(objective.parallel());
    d_.assign(n, 0.0);
    diagonal_.resize(n);
    const double gamma = lbfgs_.gamma();
    for (std::size_t j = 0; j < n; ++j)
      diagonal_[j] = lbfgs_.diagonal(j) + gamma * (metric_.diagonal(j) - 1.0);
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    const std::size_t width = lbfgs_.width();
    d_hat_.assign(width, 0.0);
    metric_.start();
    // Passes over all coordinates alternate with passes over those that are not zero or have just moved.
    double first = 0.0, visits = 0.0;
    const double most = static_cast<double>(settings_.max_inner) * static_cast<double>(n);
    bool whole = true;
    std::vector<std::uint32_t> active;
    while (true) {
      if (whole) {
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), 0u);
      } else {
        order_ = active;
      }
      random_.shuffle(std::span(order_));
      active.clear();
      double moved = 0.0;
      for (const std::uint32_t j : order_) {
        const double a = diagonal_[j];
        if (!(a > 0.0)) continue;
        const double b = g_[j] + gamma * metric_.product(j) - dot(lbfgs_.q(j), width);
        const double c = w_[j] + d_[j];
        const double next = soft_threshold(c - b / a, lambda_ / a);
        if (next != 0.0 || c != 0.0) active.push_back(j);
        if (next == c) continue;
        const double z = next - c;
        d_[j] = next == 0.0 ? -w_[j] : d_[j] + z;
        add(z, lbfgs_.q_hat(j), width);
        metric_.add(j, z);
        moved = std::max(moved, std::abs(z * a));
      }
      inner_passes_ += 1;
      visits += static_cast<double>(order_.size());
      if (first == 0.0) first = moved;
      const bool settled = moved <= settings_.inner_tol * first;
      if (visits >= most || (settled && whole)) break;
      whole = settled;
    }
    double slope = 0.0, l1 = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      slope += g_[j] * d_[j];
      l1 += std::abs(w_[j] + d_[j]) - std::abs(w_[j]);
    }
    return slope + lambda_ * l1;
  }

  double dot(const double* q, std::size_t width) const {
    kernels::Pack sum = kernels::splat(0.0);
    for (std::size_t c = 0; c < width; c += kPad)
      sum += kernels::load(q + c) * kernels::load(d_hat_.data() + c);
    return kernels::sum(sum);
  }
  void add(double z, const double* q_hat, std::size_t width) {
    const kernels::Pack zz = kernels::splat(z);
    for (std::size_t c = 0; c < width; c += kPad)
      kernels::store(d_hat_.data() + c, kernels::load(d_hat_.data() + c) + zz * kernels::load(q_hat + c));
  }

  /// lambda*||w + alpha*d||_1 + (mu/2)*||w + alpha*d||^2.
  double penalty(const Objective& objective, double alpha) {
    trial_.resize(index_.size());
    for (std::size_t j = 0; j < index_.size(); ++j) trial_[j] = w_[j] + alpha * d_[j];
    return objective.l1(trial_) + objective.l2(trial_);
  }

  Settings settings_;
  CompactLbfgs lbfgs_;
  BlockMetric metric_;
  std::vector<double> product_;
  std::int64_t inner_passes_ = 0;
  double damping_ = 1.0, built_at_ = 0.0;
  std::vector<std::uint32_t> from_;
  bool blocks_ = false;
  std::int64_t retry_at_ = 0, wait_ = 10;
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
       .choices = {"short", "geometric", "long", "none"}},
      {.name = "metric", .type = OptionType::kString, .default_value = "identity", .help = "x", .choices = {"identity", "blocks"}},
      {.name = "growing", .type = OptionType::kBool, .default_value = "false", .help = "x"},
      {.name = "growth", .type = OptionType::kReal, .default_value = "1", .help = "x", .min = 0},
      {.name = "least", .type = OptionType::kInt, .default_value = "500", .help = "x", .min = 0},
      {.name = "progress", .type = OptionType::kReal, .default_value = "0.3", .help = "x", .min = 0},
      {.name = "largest_block", .type = OptionType::kInt, .default_value = "16384", .help = "x", .min = 0},
      {.name = "least_its", .type = OptionType::kInt, .default_value = "1", .help = "x", .min = 0},
      {.name = "damping", .type = OptionType::kReal, .default_value = "4", .help = "x", .min = 0},
      {.name = "damp_power", .type = OptionType::kReal, .default_value = "0.5", .help = "x", .min = 0},
      {.name = "damp_down", .type = OptionType::kReal, .default_value = "0.5", .help = "x", .min = 0},
      {.name = "rebuild", .type = OptionType::kReal, .default_value = "1e-3", .help = "x", .min = 0},
      {.name = "stale", .type = OptionType::kReal, .default_value = "0.05", .help = "x", .min = 0},
      {.name = "keep", .type = OptionType::kReal, .default_value = "0.01", .help = "x", .min = 0},
      {.name = "share", .type = OptionType::kReal, .default_value = "4", .help = "x", .min = 0},
      {.name = "haywire", .type = OptionType::kReal, .default_value = "0.06", .help = "x", .min = 0},
      {.name = "dear", .type = OptionType::kReal, .default_value = "3", .help = "x", .min = 0},
      {.name = "entries", .type = OptionType::kReal, .default_value = "3e7", .help = "x", .min = 0},
      {.name = "inner_tol", .type = OptionType::kReal, .default_value = "0.1", .help = "x", .min = 0},
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
                                           : o.string("scaling") == "none" ? Scaling::kNone
                                                                           : Scaling::kGeometric,
                                .max_stagnant = o.integer("max_stagnant"),
                                .line_search = read_line_search(o),
                                .blocks = o.string("metric") == "blocks",
                                .growing = o.boolean("growing"),
                                .growth = o.real("growth"),
                                .least = o.integer("least"),
                                .progress = o.real("progress"),
                                .largest_block = o.integer("largest_block"),
                                .inner_tol = o.real("inner_tol"), .least_its = o.integer("least_its"), .damping = o.real("damping"), .damp_power = o.real("damp_power"), .damp_down = o.real("damp_down"), .rebuild = o.real("rebuild"), .stale = o.real("stale"), .keep = o.real("keep"), .share = o.real("share"), .haywire = o.real("haywire"), .dear = o.real("dear"), .entries = o.real("entries")};
        return std::make_unique<ProxQn>(settings);
      }};
}

}  // namespace proxbench
