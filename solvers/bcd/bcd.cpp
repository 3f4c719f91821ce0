/// Blockwise coordinate descent (Sokolovska, Lavergne, Cappe, Yvon, "Efficient learning of sparse conditional
/// random fields for supervised sequence labeling", 2010; arXiv 0909.1308, 2009), with the three changes of
/// Zhong et al. 2014, section 6: a line search in each block, shrinking as in their section 2.3, and a floor
/// under second derivatives. Minimises
///
///     F(w) = f(w) + lambda*||w||_1,   f(w) = l(w) + (mu/2)*||w||^2
///
/// one block at a time. A block is one feature with its K weights, or all extra weights of the oracle. For
/// block j only the instances that carry feature j are inferred again. With R their residual, x_pj the
/// feature's value and c_pk = R_pk + [k is gold at p] the marginals,
///
///     g_k = sum_p x_pj R_pk + mu*w_k,   h_k = sum_p x_pj^2 c_pk (1 - c_pk) + mu, at least `floor`
///     d_k = soft_threshold(w_k - g_k/h_k, lambda/h_k) - w_k,   w <- w + alpha*d
///
/// with the first alpha = 1, beta, beta^2, ... that satisfies Armijo's rule on the loss of those instances
/// plus the block's penalty. h_k is the approximation of Sokolovska et al.: the exact second derivative if
/// the positions of an instance were uncorrelated. For the extra weights only sums are known, M_e = the
/// expected count of e. So h_e = M_e (1 - M_e / sum M), which would be exact if all positions were alike.
///
/// Shrinking: within an epoch zero coordinates with |g| <= lambda - slack leave the working set, and blocks
/// without a coordinate are not visited (Algorithm 2, lines 4-9; an iteration is a cycle over the blocks). At
/// the end of an epoch, a full gradient is computed and all coordinates return. Only this gradient can show
/// convergence.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/quasi_newton/line_search.h"
#include "core/stateless.h"
#include "solvers/bcd/carriers.h"
#include "solvers/shared/common_options.h"
#include "solvers/shared/dense.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

using bcd::Carriers;
using bcd::kTaskNumbers;

/// An epoch ends after this many cycles without a new minimum of the largest subgradient. The run has stalled
/// if F and the full gradient show no progress either.
constexpr std::int64_t kPatience = 20;

struct Settings {
  EpochSettings epochs;
  double floor;
  bool random_order;
  double report;
  ArmijoOptions line_search;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {part(&Settings::epochs, epoch_rows("1e-1")),
       option(&Settings::floor, "floor", "1e-10",
              "least second derivative (Zhong et al., section 6), in the units of values: times the "
              "square of their typical size, which is 1 of binary features",
              above(0)),
       choice(&Settings::random_order, "order", "random",
              "blocks in a new random order each cycle, or by feature",
              {{"random", true}, {"cyclic", false}}),
       option(&Settings::report, "report", "5",
              "passes of inference in an iteration within a cycle; limits are checked and samples "
              "taken after each",
              above(0)),
       part(&Settings::line_search, line_search_rows())});
}

class Descent {
 public:
  Descent(const SolveProblem& problem, const Settings& settings)
      : problem_(problem),
        objective_(problem.objective),
        settings_(settings),
        random_(problem.seed),
        stop_(problem.monitor.stop_token()),
        lambda_(objective_.lambda()),
        mu_(objective_.mu()),
        floor_(settings.floor * objective_.map().typical_value() * objective_.map().typical_value()),
        outputs_(objective_.outputs()),
        unary_(objective_.unary_weights()),
        scores_(objective_.make_scores()),
        carriers_(objective_) {}

  SolveResult run() {
    Residual residual = objective_.make_residual();
    SolveResult result{.w = problem_.start};
    auto done = [&](Status status) {
      result.status = status;
      return std::move(result);
    };

    if (!problem_.monitor.start(problem_.start)) return done(Status::kDiverged);
    gold_extra_ = objective_.oracle().gold_extra(objective_.parallel());
    double epoch_target = 0.0, lowest = kInfinity, lowest_kkt = kInfinity;
    bool stuck = false;
    for (bool first_epoch = true;; first_epoch = false) {
      objective_.scores(result.w, scores_);  // recomputed, so that rounding does not accumulate
      loss_ = objective_.infer({scores_}, &residual);
      const double value = objective_.value(loss_, result.w.value);
      Objective::Selection selection;
      objective_.select_gradient(residual, result.w,
                                 settings_.epochs.shrinking ? settings_.epochs.margin * lambda_ : -1.0,
                                 selection);
      if (!std::isfinite(selection.kkt_max)) return done(Status::kDiverged);
      if (selection.kkt_max <= problem_.kkt_target()) return done(Status::kConverged);
      // The epoch ended for lack of progress, and neither F nor kkt has fallen: only rounding is left.
      if (stuck && !(value < lowest) && !(selection.kkt_max < lowest_kkt)) return done(Status::kStalled);
      lowest = std::min(lowest, value);
      lowest_kkt = std::min(lowest_kkt, selection.kkt_max);
      epoch_target = first_epoch ? settings_.epochs.tol * selection.kkt_l1
                                 : std::min(epoch_target, selection.kkt_l1) * settings_.epochs.factor;
      index_.swap(selection.index);
      w_.swap(selection.weight);

      dense::StallGuard guard(kPatience);
      double slack = kInfinity;  // this epoch's cycles have no gradient yet
      for (bool epoch = true; epoch;) {
        const Cycle cycle = run_cycle(slack);
        collect(result.w);
        if (!cycle.go_on) return done(problem_.monitor.stop_status());
        if (settings_.epochs.shrinking) slack = cycle.largest / static_cast<double>(objective_.instances());
        // Within an epoch the loss accumulates the rounding of every block, and may decrease without end. So
        // only the subgradients count here. F counts at the end of the epoch, where it is recomputed.
        stuck = !cycle.moved || guard.stalled(kInfinity, cycle.largest);
        epoch = !stuck && cycle.largest > problem_.kkt_target() &&
                !(settings_.epochs.shrinking && cycle.measure <= epoch_target);
      }
    }
  }

 private:
  /// Weights [begin, end) of the working set, all of one feature. The feature past the last one stands for
  /// the extra weights.
  struct Block {
    Index feature;
    std::size_t begin, end;
  };
  struct Cycle {
    double largest = 0.0, measure = 0.0;  ///< max and l1 norm of the blocks' subgradients
    bool moved = false;
    bool go_on = true;
  };

  /// Visits every block once, then removes the coordinates that the shrinking test dropped.
  Cycle run_cycle(double slack) {
    cut_blocks(objective_.map().features());
    if (settings_.random_order) random_.shuffle(std::span(blocks_));
    keep_.assign(index_.size(), 1);
    Cycle cycle;
    double reported = objective_.counts().passes();
    for (std::size_t b = 0; b < blocks_.size() && cycle.go_on; ++b) {
      visit(blocks_[b], slack, cycle);
      const bool last = b + 1 == blocks_.size() || stop_.requested();
      if (!last && objective_.counts().passes() - reported < settings_.report) continue;
      reported = objective_.counts().passes();
      cycle.go_on = problem_.monitor.step(
          [&] {
            SparseVector w;
            collect(w);
            return w;
          },
          loss_, index_.size());
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < index_.size(); ++i)
      if (keep_[i]) {
        index_[kept] = index_[i];
        w_[kept++] = w_[i];
      }
    index_.resize(kept);
    w_.resize(kept);
    return cycle;
  }

  void cut_blocks(Index features) {
    blocks_.clear();
    for (std::size_t i = 0; i < index_.size();) {
      const Index feature = index_[i] < unary_ ? static_cast<Index>(index_[i] / outputs_) : features;
      const Coord end =
          feature < features ? (feature + Coord{1}) * outputs_ : std::numeric_limits<Coord>::max();
      const std::size_t begin = i;
      while (i < index_.size() && index_[i] < end) ++i;
      blocks_.push_back({feature, begin, i});
    }
  }

  /// Takes one step on a block.
  void visit(const Block& block, double slack, Cycle& cycle) {
    const bool extra = block.feature == objective_.map().features();
    if (extra)
      carriers_.select_all(scores_);
    else
      carriers_.select(block.feature, scores_);
    if (carriers_.instances.empty()) return visit_unused(block, cycle);
    const double loss = carriers_.infer();
    if (!std::isfinite(loss)) return;

    const std::size_t n = block.end - block.begin;
    if (extra)
      extra_derivatives(block);
    else
      derivatives(block);
    d_.assign(n, 0.0);
    double slope = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double w = w_[block.begin + i], g = g_[i] + mu_ * w;
      const double h = std::max(h_[i] + mu_, floor_);
      const double m = std::abs(minimum_norm_subgradient(w, g, lambda_));
      cycle.largest = std::max(cycle.largest, m);
      cycle.measure += m;
      if (settings_.epochs.shrinking && w == 0.0 && std::abs(g) - lambda_ + slack <= 0.0) {
        keep_[block.begin + i] = 0;
        continue;
      }
      const double next = soft_threshold(w - g / h, lambda_ / h);
      d_[i] = next == 0.0 ? -w : next - w;  // makes w + d zero to the last bit
      slope += g * d_[i] + lambda_ * (std::abs(w + d_[i]) - std::abs(w));
    }
    if (!(slope < 0.0)) return;

    carriers_.clear_direction();
    for (std::size_t i = 0; i < n; ++i) {
      const Coord c = index_[block.begin + i];
      if (d_[i] == 0.0) continue;
      if (extra)
        carriers_.direction.extra[c - unary_] = d_[i];
      else
        carriers_.add_direction(static_cast<Index>(c % outputs_), d_[i]);
    }
    const double before = loss + penalty(block, 0.0);
    double trial_loss = loss;
    const ArmijoResult step = armijo(before, slope, 1.0, settings_.line_search, [&](double alpha) {
      if (stop_.requested()) return kNaN;
      trial_loss = carriers_.infer(alpha);
      return trial_loss + penalty(block, alpha);
    });
    if (!step.accepted) return;
    cycle.moved = true;
    loss_ += trial_loss - loss;
    for (std::size_t i = 0; i < n; ++i) {
      const double change = step.alpha * d_[i];
      if (change == 0.0) continue;
      w_[block.begin + i] += change;
      const Coord c = index_[block.begin + i];
      if (extra)
        scores_.extra[c - unary_] += change;
      else
        add_scores(static_cast<Index>(c % outputs_), change);
    }
  }

  /// A feature that no instance carries is only in the penalty, so its weights become 0.
  void visit_unused(const Block& block, Cycle& cycle) {
    for (std::size_t i = block.begin; i < block.end; ++i) {
      cycle.moved |= w_[i] != 0.0;
      w_[i] = 0.0;
    }
  }

  /// Computes g_ and h_ of a feature's weights, without the l2 term. Outputs that share a column of the
  /// residual share its sums. |R| (1 - |R|) = c (1 - c), whether or not gold was subtracted from c.
  void derivatives(const Block& block) {
    const Residual& residual = carriers_.residual;
    const std::size_t n = block.end - block.begin, entries = carriers_.local.size();
    struct Sums {
      double first = 0.0, absolute = 0.0, squared = 0.0;  ///< of x*R, x^2*|R|, x^2*R^2
    };
    std::vector<Sums> sums(residual.columns);
    std::vector<Index> columns;
    std::vector<char> wanted(residual.columns, 0);
    bool shared = false;
    for (std::size_t i = 0; i < n; ++i) {
      const Index k = output_of(block.begin + i), column = residual.column_index(k);
      shared |= !residual.owns(k);
      if (!std::exchange(wanted[column], 1)) columns.push_back(column);
    }
    const Chunks chunks{columns.size(), std::max<std::size_t>(kTaskNumbers / (entries + 1), 1)};
    objective_.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
        const double* column = residual.column(columns[i]);
        Sums sum;
        for (std::size_t e = 0; e < entries; ++e) {
          const double x = carriers_.x(e), xr = x * column[carriers_.local[e]];
          sum.first += xr;
          sum.absolute += std::abs(x * xr);
          sum.squared += xr * xr;
        }
        sums[columns[i]] = sum;
      }
    });
    if (shared) {
      gold_.assign(outputs_, 0.0);
      for (std::size_t e = 0; e < entries; ++e)
        for (const Index k : objective_.oracle().gold_outputs(carriers_.position[e]))
          gold_[k] += carriers_.x(e);
    }
    g_.resize(n);
    h_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Index k = output_of(block.begin + i);
      const Sums& sum = sums[residual.column_index(k)];
      const bool own = residual.owns(k);
      const double share = own ? 1.0 : residual.share[k];
      g_[i] = share * sum.first - (own ? 0.0 : gold_[k]);
      h_[i] = share * sum.absolute - share * share * sum.squared;
    }
  }

  void extra_derivatives(const Block& block) {
    const Residual& residual = carriers_.residual;
    double total = 0.0;
    for (std::size_t e = 0; e < gold_extra_.size(); ++e) total += residual.extra[e] + gold_extra_[e];
    const std::size_t n = block.end - block.begin;
    g_.resize(n);
    h_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t e = index_[block.begin + i] - unary_;
      const double expected = residual.extra[e] + gold_extra_[e];
      g_[i] = residual.extra[e];
      h_[i] = total > 0.0 ? expected * (1.0 - expected / total) : 0.0;
    }
  }

  /// S += change * x_j for output k.
  void add_scores(Index k, double change) {
    double* column = scores_.column(scores_.one_each() ? k : scores_.add_column(k));
    for (std::size_t e = 0; e < carriers_.position.size(); ++e)
      column[carriers_.position[e]] += change * carriers_.x(e);
  }

  /// lambda*||w + alpha*d||_1 + (mu/2)*||w + alpha*d||^2 on a block.
  double penalty(const Block& block, double alpha) const {
    double l1 = 0.0, l2 = 0.0;
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const double w = w_[i] + alpha * d_[i - block.begin];
      l1 += std::abs(w);
      l2 += w * w;
    }
    return lambda_ * l1 + 0.5 * mu_ * l2;
  }

  Index output_of(std::size_t i) const { return static_cast<Index>(index_[i] % outputs_); }

  /// The nonzeros of w, all of which lie in the working set.
  void collect(SparseVector& w) const {
    w.clear();
    for (std::size_t i = 0; i < index_.size(); ++i)
      if (w_[i] != 0.0) w.push_back(index_[i], w_[i]);
  }

  const SolveProblem& problem_;
  Objective& objective_;
  const Settings& settings_;
  Random random_;
  StopToken stop_;  ///< the monitor's
  double lambda_, mu_, floor_;
  double loss_ = 0.0;  ///< of all instances, at w
  Index outputs_;
  Coord unary_;
  Scores scores_;  ///< of all instances, at w
  Carriers carriers_;
  std::vector<double> gold_extra_;  ///< how often each extra weight is on in the gold structures
  std::vector<Coord> index_;        ///< the working set, ascending
  std::vector<double> w_;           ///< aligned with it
  std::vector<char> keep_;          ///< aligned with it
  std::vector<Block> blocks_;
  std::vector<double> g_, h_, d_;  ///< of the current block
  std::vector<double> gold_;       ///< sum_p x_pj [k is gold at p], if outputs share a column
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  return Descent(problem, settings).run();
}

}  // namespace

SolverInfo bcd_info() {
  return stateless(
      rows(), solve,
      {
          .name = "bcd",
          .help =
              "blockwise coordinate descent with line search and shrinking: a feature's weights at a time",
          .paper =
              "Sokolovska, Lavergne, Cappe, Yvon, Efficient learning of sparse conditional random fields, "
              "2010; Zhong et al. 2014, section 6",
          .scale_free = true,
          .bytes_per_weight = 65,
      });
}

}  // namespace proxbench
