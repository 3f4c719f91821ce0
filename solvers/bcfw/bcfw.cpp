/// Block-coordinate Frank-Wolfe for max-margin training with an l2 penalty (Lacoste-Julien, Jaggi, Schmidt,
/// Pletscher, "Block-coordinate Frank-Wolfe optimization for structural SVMs", ICML 2013, Algorithm 4;
/// Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien, "Minding the gaps for block Frank-Wolfe optimization
/// of structured SVMs", ICML 2016; Shah, Kolmogorov, Lampert, "A multi-plane block-coordinate Frank-Wolfe
/// algorithm for training structural SVMs with a costly max-oracle", CVPR 2015). Maximises
///
///     D(alpha) = sum_i E_{alpha_i}[cost] - (mu/2)*||w(alpha)||^2,
///     w(alpha) = (1/mu) * sum_i (F_i(gold) - E_{alpha_i}[F_i])
///
/// over a distribution alpha_i on the structures of each instance. alpha_i is stored as atoms with weights
/// (mixtures.h). At first all weight is on gold. With H(y) = cost(y) + score(y) - score(gold), a step on
/// instance i is:
///
///     s     = argmax H, from the max oracle, or a cached atom
///     g_i   = H(s) - E_{alpha_i}[H]: the block's duality gap. Their sum at one w is F(w) - D(alpha).
///     d     = s - alpha_i (fw), s - v (pairwise), or alpha_i - v if that has the larger slope (away);
///             v is the atom of alpha_i with the least H. block: the sum of a few pairwise steps, the first
///             to s, the others to the atom with the largest H, by the inner products of the atoms.
///     gamma = argmax of D along d with all weights >= 0: mu * <d, H> / ||X^T d||^2, clipped
///     alpha_i += gamma*d,   w -= (gamma/mu) * X^T d
///
/// Batches. Structures and directions of a batch of distinct instances are found in parallel at one w. Then
/// the steps are made one after the other, each with the gamma of the current w. So every step still raises
/// D. Batches do not depend on the number of threads.
///
/// Gap sampling of Osokin et al. never draws an instance whose gap was 0 until all gaps are renewed, but such
/// gaps often become positive again. So a share of the draws is uniform (solvers/RESULTS.md).

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "core/base/random.h"
#include "core/instance_inference.h"
#include "solvers/bcfw/settings.h"
#include "solvers/shared/instances/block_visits.h"
#include "solvers/shared/instances/mixtures.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/structure_direction.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

using bcfw::Settings;
using bcfw::Steps;

/// A visit goes to a cached atom, without a call of the oracle, if the atom's gap is at least these shares of
/// the latest estimates of the block's gap and of the mean gap (Osokin et al. 2016, section 3.3). The second
/// share also bounds from below the slope of the further pair steps of a block.
constexpr double kShareOfBlock = 0.25, kShareOfMean = 0.01;

/// Pair steps of a visit with steps = block (solvers/RESULTS.md).
constexpr int kPairSteps = 3;
/// The curvature of a pair step is a difference of inner products. Half of its digits are right if it is at
/// least this share of the squared norms in that difference.
constexpr double kLeastShare = 1e-8;
/// A gamma this near to its upper bound is set to it, so that atoms lose all their weight.
constexpr double kNearlyAll = 1.0 - 1e-9;

/// One instance of a batch.
struct Visit {
  Index instance;
  AlignedVector<double> rows;
  std::vector<Index> gold, best;
  std::vector<double> value;   ///< H of each atom
  std::vector<double> change;  ///< the direction d, by atom
  std::vector<StructureDirection::Term> terms;
  StructureDirection direction;
  std::vector<double> extra;                    ///< scratch, all zeros between calls
  std::vector<double> left, moved;              ///< scratch
  bool called;                                  ///< whether the oracle was called
  bool finite;                                  ///< whether the oracle's loss is finite
  std::size_t to;                               ///< the atom s
  double gap, cost, curvature, slope, longest;  ///< cost: the slope's part that does not depend on w

  bool valid() const { return finite; }
};

class Ascent {
 public:
  /// `start` is the first alpha. If it is null, all weight starts on gold.
  Ascent(Objective& objective, const Settings& settings, Random& random, std::shared_ptr<MixtureStore> start)
      : objective_(objective),
        settings_(settings),
        w_(objective),
        continues_(start != nullptr),
        mixtures_(continues_ ? std::move(start) : std::make_shared<MixtureStore>(objective.instances())),
        sampler_(settings.by_gap ? Scheme::kGap : Scheme::kUniform, settings.share, {}, objective.instances(),
                 random),
        visits_(std::min(batch(settings, objective.instances()), objective.instances())) {
    if (settings.averaging) late_.emplace(objective);
  }

  /// Starts with all weight on gold and w = 0, or with the given alpha and its w.
  void start() {
    grams_.emplace(objective_, settings_.memory_limit);
    const std::size_t n = objective_.instances();
    const auto kept = static_cast<double>(settings_.cache);
    if (settings_.steps == Steps::kBlock)
      require_memory(
          static_cast<double>(n) * kept * kept * sizeof(double), settings_.memory_limit,
          "the inner products of `cache` structures of each of " + std::to_string(n) + " instances");
    Visit visit;
    for (Index i = 0; i < objective_.instances(); ++i) {
      visit.instance = i;
      find_gold(visit);
      Atoms& mixture = (*mixtures_)[i];
      if (!continues_) {
        visit.best = visit.gold;
        add(visit, 0.0);
        continue;
      }
      mixture.forget_uses();
      visit.terms.assign(1, {visit.gold, -1.0});
      for (std::size_t a = 0; a < mixture.atoms(); ++a) {
        if (mixture.weight(a) == 0.0) continue;
        visit.terms.push_back({mixture.structure(a), mixture.weight(a)});
        dual_ += mixture.weight(a) * mixture.cost(a);
      }
      visit.direction.form(objective_, i, visit.terms);
      visit.direction.add_to(w_, -1.0 / objective_.mu());
    }
    if (continues_) dual_ -= objective_.penalty().l2(w_.nonzeros().value);
  }

  std::size_t largest_batch() const { return visits_.size(); }
  std::shared_ptr<MixtureStore> dual_point() const { return mixtures_; }
  double dual() const { return dual_; }
  void note_gap() {
    mean_gap_ = sampler_.total_gap() / static_cast<double>(objective_.instances());
    mixtures_->set_estimated_gap(sampler_.total_gap());
  }

  /// Returns the last w, or the average of all w with weights 1, 2, 3, ... The average is w - late / (k*(k +
  /// 1)), where late is the sum over steps j of j*(j - 1) * the change of w.
  SparseVector weights() const {
    if (!late_ || steps_ == 0) return w_.nonzeros();
    const auto k = static_cast<double>(steps_);
    return w_.nonzeros(1.0, *late_, -1.0 / (k * (k + 1.0)));
  }

  /// Makes a step for each of `count` instances, at most a batch. Returns false, without a step, if a loss is
  /// not finite at w.
  bool step(std::size_t count) {
    const std::span<Visit> visits(visits_.data(), std::min(count, visits_.size()));
    if (!draw_batch(visits, sampler_, objective_, [&](Visit& visit) { prepare(visit); })) return false;
    for (Visit& visit : visits) {
      if (visits.size() > 1 && !visit.terms.empty()) visit.slope = visit.cost + visit.direction.dot(w_);
      move(visit);
      sampler_.record(visit.instance, visit.called ? visit.gap : sampler_.gap(visit.instance));
    }
    return true;
  }

  /// Recomputes the gaps of all blocks at w, in one pass.
  void refresh(Monitor& monitor) {
    const auto gap_of = [&](Visit& visit) {
      const double mean = evaluate(visit);
      return std::max(call(visit).loss - mean, 0.0);
    };
    if (!renew_gaps<Visit>(sampler_, objective_, monitor, gap_of)) return;
    note_gap();
  }

 private:
  Atoms& atoms(const Visit& visit) const { return (*mixtures_)[visit.instance]; }

  /// Sets visit.value to H of all atoms at w. Returns its mean under alpha_i.
  double evaluate(Visit& visit) const {
    const Atoms& mixture = atoms(visit);
    w_.scores(visit.instance, visit.rows);
    score_atoms(visit, w_.extra(), visit.value);
    double mean = 0.0;
    for (std::size_t a = 0; a < mixture.atoms(); ++a) {
      visit.value[a] += mixture.cost(a);
      mean += mixture.weight(a) * visit.value[a];
    }
    return mean;
  }

  /// Sets out[a] to the score of atom a minus that of gold.
  void score_atoms(const Visit& visit, std::span<const double> extra, std::vector<double>& out) const {
    const Atoms& mixture = atoms(visit);
    out.resize(mixture.atoms());
    objective_.oracle().instance_max()->scores_of(visit.instance, visit.rows.data(), extra,
                                                  mixture.structures(), out);
  }

  LossAndCost call(Visit& visit) {
    visit.best.resize(w_.positions(visit.instance));
    return best_structure(objective_, visit.instance, visit.rows.data(), w_.extra(), visit.best);
  }

  void find_gold(Visit& visit) const {
    visit.gold.resize(w_.positions(visit.instance));
    objective_.oracle().instance_max()->gold_structure(visit.instance, visit.gold);
  }

  /// Makes visit.best an atom. Overwrites visit.direction and visit.rows.
  void add(Visit& visit, double cost) {
    Atoms& mixture = atoms(visit);
    mixture.add(visit.best, cost);
    if (settings_.steps != Steps::kBlock) return;
    visit.terms.assign({{visit.best, 1.0}, {visit.gold, -1.0}});
    visit.direction.form(objective_, visit.instance, visit.terms);
    visit.rows.resize(visit.best.size() * w_.width());
    visit.extra.resize(w_.extra().size());
    visit.direction.scores(*grams_, w_.width(), visit.rows);
    visit.direction.set_extra(visit.extra, 1.0);
    score_atoms(visit, visit.extra, visit.left);
    visit.direction.set_extra(visit.extra, 0.0);
    mixture.add_products(visit.left);
  }

  /// Chooses the atom to go to: a cached one with a large enough gap, or the oracle's.
  void choose(Visit& visit, double mean) {
    Atoms& mixture = atoms(visit);
    visit.called = visit.finite = true;
    if (settings_.cache > 0) {
      visit.to = largest(visit.value);
      visit.gap = visit.value[visit.to] - mean;
      visit.called = !(visit.gap > 0.0 && visit.gap >= std::max(kShareOfBlock * sampler_.gap(visit.instance),
                                                                kShareOfMean * mean_gap_));
    }
    if (!visit.called) return;
    const LossAndCost found = call(visit);
    visit.finite = std::isfinite(found.loss);
    if (!visit.finite) return;
    visit.gap = std::max(found.loss - mean, 0.0);
    visit.to = mixture.find(visit.best);
    if (visit.to < mixture.atoms()) return;
    find_gold(visit);
    add(visit, found.cost);
    visit.value.push_back(found.loss);
  }

  /// Computes the direction, and what a step along it needs, at w.
  void prepare(Visit& visit) {
    const double mean = evaluate(visit);
    choose(visit, mean);
    if (!visit.finite) return;
    aim(visit, mean);
    const Atoms& mixture = atoms(visit);
    visit.terms.clear();
    visit.cost = visit.slope = 0.0;
    for (std::size_t a = 0; a < mixture.atoms(); ++a) {
      if (visit.change[a] == 0.0) continue;
      visit.terms.push_back({mixture.structure(a), visit.change[a]});
      visit.cost += visit.change[a] * mixture.cost(a);
      visit.slope += visit.change[a] * visit.value[a];
    }
    if (visit.terms.empty()) return;
    visit.direction.form(objective_, visit.instance, visit.terms);
    visit.curvature = visit.direction.squared_norm(*grams_) / objective_.mu();
  }

  /// Sets d, by atom, and the largest gamma.
  void aim(Visit& visit, double mean) const {
    const Atoms& mixture = atoms(visit);
    std::vector<double>& weight = visit.left;
    weight.assign(mixture.weights().begin(), mixture.weights().end());
    const std::size_t from = worst(weight, visit.value);
    visit.change.assign(weight.size(), 0.0);
    visit.longest = 1.0;
    switch (settings_.steps) {
      case Steps::kBlock:
        return ascend(visit, weight);
      case Steps::kPairwise:
        return pair(visit, from, weight[from]);
      case Steps::kAway:
        if (mean - visit.value[from] > visit.gap) {
          visit.change = weight;
          visit.change[from] -= 1.0;
          visit.longest = weight[from] / (1.0 - weight[from]);
          return;
        }
        [[fallthrough]];
      case Steps::kFrankWolfe:
        for (std::size_t a = 0; a < weight.size(); ++a) visit.change[a] = -weight[a];
        visit.change[visit.to] += 1.0;
    }
  }

  /// Sets d to the sum of a few pair steps, the first one to visit.to. gamma = 1 makes all of these steps. A
  /// curvature that may be mostly rounding ends the steps. If this happens at the first step, d is this step
  /// alone, and the features give its curvature.
  void ascend(Visit& visit, std::vector<double>& weight) const {
    const Atoms& mixture = atoms(visit);
    const double mu = objective_.mu();
    std::vector<double>& value = visit.moved;
    value = visit.value;
    std::size_t to = visit.to;
    for (int step = 0; step < kPairSteps; ++step) {
      const std::size_t from = worst(weight, value);
      const std::span<const double> up = mixture.products(to), down = mixture.products(from);
      const double slope = value[to] - value[from], squares = up[to] - 2.0 * up[from] + down[from];
      if (!(slope > (step > 0 ? kShareOfMean * mean_gap_ : 0.0))) break;
      if (!(squares > kLeastShare * (up[to] + down[from])) || !std::isfinite(squares)) {
        if (step > 0) break;
        return pair(visit, from, weight[from]);
      }
      const double gamma = std::min(mu * slope / squares, weight[from]);
      weight[to] += gamma;
      weight[from] = gamma == weight[from] ? 0.0 : weight[from] - gamma;
      for (std::size_t a = 0; a < value.size(); ++a) value[a] -= gamma / mu * (up[a] - down[a]);
      to = largest(value);
    }
    for (std::size_t a = 0; a < weight.size(); ++a) visit.change[a] = weight[a] - mixture.weight(a);
  }

  static void pair(Visit& visit, std::size_t from, double longest) {
    visit.change[visit.to] += 1.0;
    visit.change[from] -= 1.0;
    visit.longest = longest;
  }

  static std::size_t largest(std::span<const double> value) {
    return static_cast<std::size_t>(std::ranges::max_element(value) - value.begin());
  }

  /// The atom with the least value among those with weight.
  static std::size_t worst(std::span<const double> weight, std::span<const double> value) {
    std::size_t out = weight.size();
    for (std::size_t a = 0; a < weight.size(); ++a)
      if (weight[a] > 0.0 && (out == weight.size() || value[a] < value[out])) out = a;
    return out;
  }

  void move(Visit& visit) {
    Atoms& mixture = atoms(visit);
    ++steps_;
    double gamma = visit.slope > 0.0 ? std::min(visit.slope / visit.curvature, visit.longest) : 0.0;
    if (gamma > kNearlyAll * visit.longest) gamma = visit.longest;
    if (gamma > 0.0) {
      mixture.move(visit.change, gamma);
      const double step = -gamma / objective_.mu();
      visit.direction.add_to(w_, step);
      if (late_) {
        const auto k = static_cast<double>(steps_);
        visit.direction.add_to(*late_, step * k * (k - 1.0));
      }
      dual_ += gamma * (visit.slope - 0.5 * gamma * visit.curvature);
    }
    mixture.tidy(visit.to, settings_.cache, steps_);
  }

  Objective& objective_;
  const Settings& settings_;
  WeightRows w_;
  std::optional<WeightRows> late_;  ///< used if w is averaged
  std::optional<PositionGrams> grams_;
  bool continues_;
  std::shared_ptr<MixtureStore> mixtures_;
  Sampler sampler_;
  std::vector<Visit> visits_;
  std::uint64_t steps_ = 0;
  double dual_ = 0.0, mean_gap_ = 0.0;
};

class Bcfw final : public Solver {
 public:
  explicit Bcfw(const Settings& settings) : settings_(settings) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& objective = problem.objective;
    Monitor& monitor = problem.monitor;
    Random random(problem.seed);
    const bool continues = problem.in_sequence && alpha_ != nullptr;
    Ascent ascent(objective, settings_, random, continues ? alpha_ : nullptr);
    monitor.start(continues ? problem.start : SparseVector{});
    if (problem.kkt_at_zero == 0.0) return {};
    ascent.start();
    alpha_ = ascent.dual_point();
    monitor.watch(alpha_);
    Passes passes;
    const auto renews = [&](std::int64_t pass) {
      return (settings_.by_gap || settings_.cache > 0) && pass > 0 && pass % settings_.refresh_every == 0;
    };
    passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
      if (!visit_in_batches(monitor, from, to, ascent.largest_batch(),
                            [&](std::size_t n) { return ascent.step(n); }))
        return false;
      ascent.note_gap();
      return true;
    };
    passes.weights = [&] { return ascent.weights(); };
    passes.after = [&](std::int64_t pass) {
      if (renews(pass)) ascent.refresh(monitor);
    };
    passes.converged = [&](const SparseVector& w, double loss) {
      const double value = loss + objective.penalty().l2(w.value);
      return value - ascent.dual() <= problem.tol * value;
    };
    return run_passes(problem, settings_.reports, passes, {});
  }

 private:
  Settings settings_;
  std::shared_ptr<MixtureStore> alpha_;  ///< of the last solve
};

}  // namespace

SolverInfo bcfw_info() {
  return {
      .name = "bcfw",
      .help = "block-coordinate Frank-Wolfe for max-margin training",
      .paper =
          "Lacoste-Julien, Jaggi, Schmidt, Pletscher, Block-coordinate Frank-Wolfe optimization for "
          "structural SVMs, ICML 2013; Osokin et al., Minding the gaps, ICML 2016",
      .options = bcfw::rows().table(),
      .make = bcfw::rows().maker<Bcfw>(),
      .needs = {.capabilities = {Capability::kMax, Capability::kInstanceMax},
                .l2 = true,
                .smooth = true,
                .loss = Loss::Kind::kHinge},
      .exact = false,
      .continues_over_mu = true,
      .starts_anywhere = false,
      .scale_free = true,
      .keeps_instances = true,
  };
}

}  // namespace proxbench
