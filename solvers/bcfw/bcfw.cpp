/// Block-coordinate Frank-Wolfe for max-margin training with an l2 penalty (Lacoste-Julien, Jaggi, Schmidt,
/// Pletscher, "Block-coordinate Frank-Wolfe optimization for structural SVMs", ICML 2013, Algorithm 4;
/// Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien, "Minding the gaps for block Frank-Wolfe optimization
/// of structured SVMs", ICML 2016). Maximises
///
///     D(alpha) = sum_i E_{alpha_i}[cost] - (mu/2)*||w(alpha)||^2,   w(alpha) = (1/mu) * sum_i (F_i(gold) -
///     E_{alpha_i}[F_i])
///
/// over a distribution alpha_i on the structures of each instance, kept as atoms with weights (mixtures.h),
/// that begin as gold. With H(y) = cost(y) + score(y) - score(gold) a step on instance i is:
///
///     s     = argmax H                                the max oracle, or a cached atom
///     g_i   = H(s) - E_{alpha_i}[H]                   the block's duality gap; their sum at one w is F(w) -
///     D(alpha) d     = s - alpha_i (fw), s - v (pairwise), or alpha_i - v where that has the larger slope
///     (away);
///             v is the atom of alpha_i with the least H
///     gamma = argmax of D along d, at most what keeps all weights >= 0:  mu * <d, H> / ||X^T d||^2, clipped
///     alpha_i += gamma*d,   w -= (gamma/mu) * X^T d
///
/// Batches. Structures and directions of a batch of distinct instances are found in parallel at one w; then,
/// one after the other, each gamma is that of the current w, so every step still raises D. Batches do not
/// depend on the number of threads.
///
/// Gap sampling as Osokin et al. have it never draws an instance whose gap was 0 until all gaps are renewed,
/// and margins are met and lost again all the time. So a share of the draws is uniform. Passes to a proven
/// gap of 1e-3, all draws by gap and 0.8 of them, pairwise steps: three classes, n = 150, mu = 0.1: 3,780 and
/// 2,190; OCR fold 0, pixels, mu = 1: 1,600 and 1,660.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "core/base/option_rows.h"
#include "core/base/random.h"
#include "solvers/bcfw/mixtures.h"
#include "solvers/shared/instances/block_visits.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/structure_direction.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

using bcfw::Mixture;
using bcfw::MixtureStore;

/// A cached atom takes the place of the oracle's where its slope is at least these shares of the block's and
/// of the mean gap, as last seen (Osokin et al. 2016, section 3.3).
constexpr double kShareOfBlock = 0.25, kShareOfMean = 0.01;

enum class Steps { kFrankWolfe, kPairwise, kAway };

struct Settings {
  bool by_gap;
  double share;
  std::int64_t refresh_every;
  Steps steps;
  std::size_t cache;
  bool averaging;
  std::size_t batch;
  double memory_limit;
  std::size_t reports;
};

OptionRows<Settings> rows() {
  return OptionRows<Settings>(
      {choice(&Settings::by_gap,
              {.name = "sampling",
               .default_value = "gap",
               .help = "which instance is visited next: any, or by the latest estimate of its duality gap",
               .preset_values = paper("uniform")},
              {{"uniform", false}, {"gap", true}}),
       option(&Settings::share,
              {.name = "share",
               .default_value = "0.8",
               .help = "with sampling = gap: share of draws that follow the estimates; the others are "
                       "uniform, so that an instance whose estimate is 0 is drawn again",
               .min = 0,
               .max = 1}),
       option(&Settings::refresh_every,
              {.name = "refresh_every",
               .default_value = "10",
               .help = "with sampling = gap: passes between inferences over all instances that renew all "
                       "estimates",
               .min = 1,
               .max = 1e9}),
       choice(&Settings::steps,
              {.name = "steps",
               .default_value = "pairwise",
               .help = "from the instance's distribution towards the structure found (Frank-Wolfe); "
                       "pairwise: weight goes to it from the worst structure; away: Frank-Wolfe, or away "
                       "from the worst where that promises more",
               .preset_values = paper("fw")},
              {{"fw", Steps::kFrankWolfe}, {"pairwise", Steps::kPairwise}, {"away", Steps::kAway}}),
       option(&Settings::cache,
              {.name = "cache",
               .default_value = "50",
               .help = "structures kept of each instance, beyond those with weight; one that promises enough "
                       "saves a call of the oracle (Osokin et al. 2016)",
               .min = 0,
               .max = 1e6,
               .preset_values = paper("0")}),
       option(&Settings::averaging, averaging_option("false")), option(&Settings::batch, batch_option()),
       option(&Settings::memory_limit, memory_limit_option()), option(&Settings::reports, reports_option())});
}

/// One instance of a batch.
struct Visit {
  Index instance;
  AlignedVector<double> rows;
  InstanceMaxOracle::Workspace work;
  std::vector<Index> best;
  std::vector<double> value;  ///< H of each atom
  std::vector<StructureDirection::Term> terms;
  StructureDirection direction;
  bool called;                                  ///< the oracle
  bool finite;                                  ///< the oracle's loss
  bool away;                                    ///< an away step
  std::size_t to, from;                         ///< the atoms of the direction
  double gap, cost, curvature, slope, longest;  ///< cost: the slope's part that does not depend on w

  bool valid() const { return finite; }
};

class Ascent {
 public:
  /// `start`: alpha to begin with; null: gold.
  Ascent(Objective& objective, const Settings& settings, Random& random, std::shared_ptr<MixtureStore> start)
      : objective_(objective),
        settings_(settings),
        w_(objective),
        continues_(start != nullptr),
        mixtures_(continues_ ? std::move(start) : std::make_shared<MixtureStore>(objective.instances())),
        sampler_(settings.by_gap ? Scheme::kGap : Scheme::kUniform, settings.share, {}, objective.instances(),
                 random),
        visits_(std::min(settings.batch, objective.instances())) {
    if (settings.averaging) late_.emplace(objective);
  }

  /// alpha_i = gold and w = 0, or the w of the alpha given.
  void start() {
    grams_.emplace(objective_, settings_.memory_limit);
    std::vector<Index> gold;
    std::vector<StructureDirection::Term> terms;
    StructureDirection direction;
    for (Index i = 0; i < objective_.instances(); ++i) {
      gold.resize(w_.positions(i));
      objective_.structures().gold_structure(i, gold);
      Mixture& mixture = (*mixtures_)[i];
      if (!continues_) {
        mixture.add(gold, 0.0);
        continue;
      }
      mixture.forget_uses();
      terms.assign(1, {gold, -1.0});
      for (std::size_t a = 0; a < mixture.atoms(); ++a) {
        if (mixture.weight(a) == 0.0) continue;
        terms.push_back({mixture.structure(a), mixture.weight(a)});
        dual_ += mixture.weight(a) * mixture.cost(a);
      }
      direction.form(objective_, i, terms);
      direction.add_to(w_, -1.0 / objective_.mu());
    }
    if (continues_) dual_ -= objective_.l2(w_.nonzeros().value);
  }

  std::shared_ptr<MixtureStore> dual_point() const { return mixtures_; }
  double dual() const { return dual_; }
  void note_gap() {
    mean_gap_ = sampler_.total_gap() / static_cast<double>(objective_.instances());
    mixtures_->set_estimated_gap(sampler_.total_gap());
  }

  /// The last w, or the average of all with weights 1, 2, 3, ...: w - late / (k*(k + 1)), for late = sum over
  /// steps j of j*(j - 1) * the change of w.
  SparseVector weights() const {
    if (!late_ || steps_ == 0) return w_.nonzeros();
    const auto k = static_cast<double>(steps_);
    return w_.nonzeros(1.0, *late_, -1.0 / (k * (k + 1.0)));
  }

  /// A step for each of `count` instances, at most a batch. False: a loss has no value at w, and nothing was
  /// done.
  bool step(std::size_t count) {
    const std::span<Visit> visits(visits_.data(), std::min(count, visits_.size()));
    if (!draw_batch(visits, sampler_, objective_, [&](Visit& visit) { prepare(visit); })) return false;
    for (Visit& visit : visits) {
      if (visits.size() > 1) visit.slope = visit.cost + visit.direction.dot(w_);
      move(visit);
      sampler_.record(visit.instance, visit.called ? visit.gap : sampler_.gap(visit.instance));
    }
    return true;
  }

  /// Finds the gaps of all blocks at w: a pass.
  void refresh(Monitor& monitor) {
    const auto gap_of = [&](Visit& visit) {
      const double mean = evaluate(visit);
      return std::max(call(visit).loss - mean, 0.0);
    };
    if (renew_gaps<Visit>(sampler_, objective_, monitor, gap_of)) note_gap();
  }

 private:
  /// H of all atoms at w; returns its mean under alpha_i.
  double evaluate(Visit& visit) const {
    const Index i = visit.instance;
    const Mixture& mixture = (*mixtures_)[i];
    w_.scores(i, visit.rows);
    visit.value.resize(mixture.atoms());
    double mean = 0.0;
    for (std::size_t a = 0; a < mixture.atoms(); ++a) {
      visit.value[a] =
          objective_.structures()
              .value_of(i, objective_.loss().cost, visit.rows.data(), w_.extra(), mixture.structure(a))
              .loss;
      mean += mixture.weight(a) * visit.value[a];
    }
    return mean;
  }

  InstanceMaxOracle::Value call(Visit& visit) {
    visit.best.resize(w_.positions(visit.instance));
    return objective_.best_structure(visit.instance, visit.rows.data(), w_.extra(), visit.best, visit.work);
  }

  /// The atom to go to: a cached one that is good enough, or the oracle's.
  void choose(Visit& visit, double mean) {
    Mixture& mixture = (*mixtures_)[visit.instance];
    visit.called = visit.finite = true;
    if (settings_.cache > 0) {
      visit.to = static_cast<std::size_t>(std::max_element(visit.value.begin(), visit.value.end()) -
                                          visit.value.begin());
      visit.gap = visit.value[visit.to] - mean;
      visit.called = !(visit.gap > 0.0 && visit.gap >= std::max(kShareOfBlock * sampler_.gap(visit.instance),
                                                                kShareOfMean * mean_gap_));
    }
    if (!visit.called) return;
    const InstanceMaxOracle::Value found = call(visit);
    visit.finite = std::isfinite(found.loss);
    if (!visit.finite) return;
    visit.gap = std::max(found.loss - mean, 0.0);
    visit.to = mixture.find(visit.best);
    if (visit.to < mixture.atoms()) return;
    mixture.add(visit.best, found.cost);
    visit.value.push_back(found.loss);
  }

  /// The direction, and what a step along it needs, at w.
  void prepare(Visit& visit) {
    const double mean = evaluate(visit);
    choose(visit, mean);
    if (!visit.finite) return;
    const Mixture& mixture = (*mixtures_)[visit.instance];
    visit.from = visit.to;
    for (std::size_t a = 0; a < mixture.atoms(); ++a)
      if (mixture.weight(a) > 0.0 && (visit.from == visit.to || visit.value[a] < visit.value[visit.from]))
        visit.from = a;
    visit.away = settings_.steps == Steps::kAway && mean - visit.value[visit.from] > visit.gap;
    const bool pairwise = settings_.steps == Steps::kPairwise;
    visit.terms.clear();
    visit.cost = 0.0;
    const auto term = [&](std::size_t atom, double weight) {
      visit.terms.push_back({mixture.structure(atom), weight});
      visit.cost += weight * mixture.cost(atom);
    };
    term(visit.away ? visit.from : visit.to, visit.away ? -1.0 : 1.0);
    if (pairwise)
      term(visit.from, -1.0);
    else
      for (std::size_t a = 0; a < mixture.atoms(); ++a)
        if (mixture.weight(a) > 0.0) term(a, visit.away ? mixture.weight(a) : -mixture.weight(a));
    const double weight = mixture.weight(visit.from);
    visit.longest = visit.away ? weight / (1.0 - weight) : pairwise ? weight : 1.0;
    visit.slope = pairwise     ? visit.value[visit.to] - visit.value[visit.from]
                  : visit.away ? mean - visit.value[visit.from]
                               : visit.value[visit.to] - mean;
    visit.direction.form(objective_, visit.instance, visit.terms);
    visit.curvature = visit.direction.squared_norm(*grams_) / objective_.mu();
  }

  void move(Visit& visit) {
    Mixture& mixture = (*mixtures_)[visit.instance];
    ++steps_;
    const double gamma = visit.slope > 0.0 ? std::min(visit.slope / visit.curvature, visit.longest) : 0.0;
    if (gamma > 0.0) {
      if (visit.away)
        mixture.away_from(visit.from, gamma);
      else if (settings_.steps == Steps::kPairwise)
        mixture.shift(visit.from, visit.to, gamma);
      else
        mixture.towards(visit.to, gamma);
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
  std::optional<WeightRows> late_;  ///< where w is averaged
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
    passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
      if (!visit_in_batches(monitor, from, to, settings_.batch,
                            [&](std::size_t n) { return ascent.step(n); }))
        return false;
      ascent.note_gap();
      return true;
    };
    passes.weights = [&] { return ascent.weights(); };
    passes.after = [&](std::int64_t pass) {
      if (settings_.by_gap && pass % settings_.refresh_every == 0) ascent.refresh(monitor);
    };
    passes.converged = [&](const SparseVector& w, double loss) {
      const double value = loss + objective.l2(w.value);
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
          "structural "
          "SVMs, ICML 2013; Osokin et al., Minding the gaps, ICML 2016",
      .options = rows().table(),
      .make = rows().maker<Bcfw>(),
      .needs = {.capabilities = {Capability::kMax, Capability::kInstanceMax},
                .l2 = true,
                .smooth = true,
                .loss = Loss::Kind::kHinge},
      .exact = false,
      .continues_over_mu = true,
      .starts_anywhere = false,
      .scale_free = true,
  };
}

}  // namespace proxbench
