/// GDMM: greedy direction method of multipliers (Yen, Huang, Zhong, Zhang, Ravikumar, Dhillon, "Dual
/// decomposed learning with factorwise oracles for structural SVM of large output domain", NIPS 2016). It
/// minimises the augmented Lagrangian of solvers/gdmm/factors.h:
///
///     repeat (Algorithm 1)
///       one pass over the factors that lowers L at fixed multipliers: Algorithm 2, 3 or 4
///       lambda_jf += eta * (marginal of pair f on variable j - alpha_j)
///
/// block (Algorithm 4): visits all instances in random order. For each of their factors, adds the greedy
///   value to the active set and solves the block problem there.
/// bgcd (Algorithm 3): n times, draws an instance and one of `partitions` parts of its factors. Among these
///   factors, the one whose step lowers the model of its block problem most makes its step.
/// afw (Algorithm 2): makes ten steps of all factors at once. Each factor moves towards its greedy value or
///   away from its worst active one, whichever is steeper (away_steps.h).
///
/// The best rho depends on the data, and a wrong one costs several times the passes. With rho = auto, the
/// class Multipliers balances how far the factors disagree and how far a pass moves them.
///
/// Greedy values of a batch of instances are searched in parallel at the same w. The steps follow in order.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/solver.h"
#include "core/stateless.h"
#include "solvers/gdmm/away_steps.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// Steps of Algorithm 2 between two updates of the multipliers.
constexpr int kAwaySteps = 10;

enum class Inner { kAfw, kBgcd, kBlock };

struct Settings {
  Inner inner;
  double rho, eta;
  std::size_t partitions;
  Factors::Settings::Search search;
  std::size_t batch;
};

Schema<Settings> rows() {
  using Search = Factors::Settings::Search;
  return Schema<Settings>(
      {choice(&Settings::inner, "inner", "block",
              "what lowers the augmented Lagrangian between two updates of the multipliers: afw, a "
              "Frank-Wolfe step of all factors with away steps (Algorithm 2); bgcd, the greediest factor of "
              "a part of each instance drawn (Algorithm 3); block, all factors in turn (Algorithm 4)",
              {{"afw", Inner::kAfw}, {"bgcd", Inner::kBgcd}, {"block", Inner::kBlock}}),
       option(&Settings::rho, "rho", "auto",
              "weight of the quadratic penalty on factors that disagree; auto: 1/mu, times the square of the "
              "typical size of values, then by residual balancing at passes 40, 60, 90, ...",
              above(0, 1e9)),
       option(&Settings::eta, "eta", "auto",
              "step of the multipliers; auto: rho, as in the authors' program; with inner = bgcd rho * "
              "(instances/factors), the share of factors that a pass moves",
              above(0, 1e9)),
       option(&Settings::partitions, "partitions", "1",
              "of inner = bgcd: parts of an instance's factors, nu; one is searched at each draw", {1, 1e6}),
       choice(&Settings::search, "search", "auto",
              "factorwise: by an index on nonzero weights and sorted pair weights; brute: looking at all "
              "values of a factor; auto: factorwise, but label pairs by brute force up to 64 labels. On "
              "label sets a factor has four values at most: all are one",
              {{"auto", Search::kAuto}, {"factorwise", Search::kFactorwise}, {"brute", Search::kBrute}}),
       option(&Settings::batch, "batch", "16",
              "instances whose factors are searched in parallel at the same w", {1, 65536})});
}

/// The passes of Algorithms 3 and 4.
class Passes {
 public:
  Passes(Objective& objective, Factors& factors, const Settings& settings, std::uint64_t seed)
      : objective_(objective),
        factors_(factors),
        settings_(settings),
        random_(seed),
        order_(objective.instances()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// `greedy`: Algorithm 3, else Algorithm 4.
  void run(Monitor& monitor, bool greedy) {
    const std::size_t partitions = greedy ? settings_.partitions : 1;
    if (!greedy) random_.shuffle(std::span(order_));
    for (std::size_t done = 0; done < order_.size() && !monitor.out_of_time(); done += visits_.size()) {
      const std::size_t most = std::min(settings_.batch, order_.size() - done);
      if (greedy)
        draw(some_instances(most), partitions);
      else
        draw(std::span(order_).subspan(done, most), partitions);
      double searched = 0.0;
      for (Visit& visit : visits_) {
        const auto best =
            static_cast<std::size_t>(std::ranges::max_element(visit.decrease) - visit.decrease.begin());
        for (std::size_t f = 0; f < visit.factor.size(); ++f)
          if (!greedy || f == best) factors_.step(visit.factor[f], visit.value[f]);
        factors_.grow(visit.instance);
        searched += 1.0 / static_cast<double>(partitions);
      }
      objective_.counts().add_searches(searched);
      objective_.counts().add_updates(static_cast<double>(visits_.size()));
    }
  }

 private:
  /// An instance, some of its factors in random order, and what their searches found.
  struct Visit {
    std::size_t instance = 0;
    std::vector<std::size_t> factor;
    std::vector<Factors::Value> value;  ///< maybe found at an older w: step() computes its gradient again
    std::vector<double> decrease;       ///< used by Algorithm 3
  };

  /// Draws at most so many instances, and stops at the first one that was drawn already.
  std::vector<std::size_t> some_instances(std::size_t most) {
    std::vector<std::size_t> out;
    while (out.size() < most) {
      const std::size_t i = random_.below(order_.size());
      if (std::ranges::find(out, i) != out.end()) break;
      out.push_back(i);
    }
    return out;
  }

  /// Draws parts of the instances' factors and searches them in parallel.
  void draw(std::span<const std::size_t> instances, std::size_t partitions) {
    visits_.resize(instances.size());
    for (std::size_t v = 0; v < visits_.size(); ++v) {
      Visit& visit = visits_[v];
      visit.instance = instances[v];
      visit.factor.clear();
      const auto all = factors_.factors_of(visit.instance);
      for (std::size_t f = partitions == 1 ? 0 : random_.below(partitions); f < all.size(); f += partitions)
        visit.factor.push_back(all[f]);
      random_.shuffle(std::span(visit.factor));
      visit.value.resize(visit.factor.size());
      visit.decrease.resize(visit.factor.size());
    }
    const Chunks chunks{visits_.size(), kVisitsPerChunk};
    objective_.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      Factors::Work work = factors_.make_work();
      for (std::size_t v = chunks.begin(chunk); v < chunks.end(chunk); ++v) {
        Visit& visit = visits_[v];
        for (std::size_t f = 0; f < visit.factor.size(); ++f) {
          visit.value[f] = factors_.search(visit.factor[f], work).value;
          if (settings_.inner == Inner::kBgcd)
            visit.decrease[f] = factors_.solve(visit.factor[f], visit.value[f], work.block);
        }
      }
    });
  }

  static constexpr std::size_t kVisitsPerChunk = 4;
  Objective& objective_;
  Factors& factors_;
  const Settings& settings_;
  Random random_;
  std::vector<std::size_t> order_;
  std::vector<Visit> visits_;
};

/// Updates the multipliers and rho. With rho = auto, rho is multiplied at passes 40, 60, 90, ... by sqrt(r/s)
/// (Wohlberg 2017, ADMM penalty parameter selection by residual balancing), where
///   r = ||c||                   how far the factors disagree
///   s = rho * ||change of alpha_j in the pass||, over all edges
/// With a small rho, factors agree late. A large rho keeps them from moving. Earlier passes leave rho as it
/// is: while all factors move, the residuals say little, and a large rho would slow down F.
class Multipliers {
 public:
  Multipliers(Factors& factors, const Settings& settings) : factors_(factors), settings_(settings) {}

  void before_pass(std::int64_t pass) {
    look_ = std::isnan(settings_.rho) && pass == next_;
    if (look_) before_ = factors_.variables();
  }
  /// `share` is the share of the factors that made a step.
  void after_pass(double share) {
    if (look_) {
      next_ += (next_ + 1) / 2;
      const double r = factors_.infeasibility(), s = factors_.rho() * factors_.moved_since(before_) / share;
      if (r > 0.0 && s > 0.0)
        factors_.set_rho(factors_.rho() * std::clamp(std::sqrt(r / s), 1.0 / kMostChange, kMostChange));
    }
    factors_.raise_multipliers(std::isnan(settings_.eta) ? factors_.rho() * std::min(share, 1.0)
                                                         : settings_.eta);
  }

 private:
  static constexpr double kMostChange = 10.0;
  Factors& factors_;
  const Settings& settings_;
  std::int64_t next_ = 40;
  bool look_ = false;
  std::vector<std::vector<Factors::Atom>> before_;
};

/// Whether some factor can lower L at the start, where all weight is on gold and w = 0. If none can, the
/// start is optimal.
bool gains_anywhere(const Factors& factors) {
  Factors::Work work = factors.make_work();
  for (std::size_t f = 0; f < factors.size(); ++f)
    if (factors.search(f, work).gradient < factors.gradient(f, factors.gold(f))) return true;
  return false;
}

/// The relative duality gap. Costs an inference on the clock.
double gap(Objective& objective, const Factors& factors) {
  const SparseVector w = factors.weights();
  Scores scores = objective.make_scores();
  objective.scores(w, scores);
  const double value = objective.infer({scores}, nullptr) + objective.penalty().l2(w.value);
  return (value - factors.value(objective)) / value;
}

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  Monitor& monitor = problem.monitor;
  const double unit = objective.map().typical_value(),
               rho = std::isnan(settings.rho) ? unit * unit / objective.mu() : settings.rho;
  const std::shared_ptr<Factors> factors = make_factors(objective, {objective.mu(), rho, settings.search});
  Passes passes(objective, *factors, settings, problem.seed);
  std::optional<AwaySteps> away;
  if (settings.inner == Inner::kAfw) away.emplace(*factors, objective.parallel());
  SolveResult result;

  monitor.start({});
  monitor.watch(factors);
  if (!gains_anywhere(*factors)) return result;
  const auto weights = [&] { return factors->weights(); };
  Multipliers multipliers(*factors, settings);
  do {
    double share = 1.0;  // of the factors that a pass moves
    multipliers.before_pass(monitor.iterations() + 1);
    switch (settings.inner) {
      case Inner::kAfw:
        for (int step = 0; step < kAwaySteps && !monitor.out_of_time(); ++step) {
          away->step(monitor);
          objective.counts().add_searches(static_cast<double>(objective.instances()));
          objective.counts().add_updates(static_cast<double>(objective.instances()));
        }
        for (std::size_t i = 0; i < factors->instances(); ++i) factors->grow(i);
        break;
      case Inner::kBgcd:
        passes.run(monitor, true);
        share = static_cast<double>(factors->instances()) / static_cast<double>(factors->size());
        break;
      case Inner::kBlock:
        passes.run(monitor, false);
        break;
    }
    if (!monitor.out_of_time()) multipliers.after_pass(share);
    if (!monitor.step(weights, kNaN, objective.dimension())) {
      result.status = monitor.stop_status();
      break;
    }
  } while (problem.tol == 0.0 || monitor.iterations() % kPassesBetweenChecks != 0 ||
           !(gap(objective, *factors) <= problem.tol));
  result.w = factors->weights();
  result.notes["factors"] = static_cast<double>(factors->size());
  result.notes["infeasibility"] = factors->infeasibility();
  result.notes["rho"] = factors->rho();
  return result;
}

}  // namespace

SolverInfo gdmm_info() {
  return stateless(
      rows(), solve,
      {
          .name = "gdmm",
          .help = "greedy direction method of multipliers: max-margin training by factorwise maximisation",
          .paper = "Yen, Huang, Zhong, Zhang, Ravikumar, Dhillon, Dual decomposed learning with factorwise "
                   "oracles for structural SVM of large output domain, NIPS 2016",
          .needs = {.capabilities = {Capability::kFactors},
                    .l2 = true,
                    .smooth = true,
                    .loss = Loss::Kind::kHinge},
          .exact = false,
          .starts_anywhere = false,
          .scale_free = true,
      });
}

}  // namespace proxbench
