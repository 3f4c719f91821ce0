/// Stochastic subgradient descent for max-margin training with an l2 penalty (Shalev-Shwartz, Singer, Srebro,
/// "Pegasos", ICML 2007; for structures as in Lacoste-Julien et al. 2013, Algorithm 1 of the supplement).
/// Visit k = 1, 2, ... draws an instance i and sets
///
///     w = (1 - 1/k)*w + (n/(mu*k)) * (F_i(gold) - F_i(s)),   s the loss-augmented best structure
///
/// So w = (n/(mu*k)) * u, where u is the sum of these differences. For a batch of distinct instances all s
/// are found in parallel at one w.

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/instance_inference.h"
#include "core/stateless.h"
#include "solvers/shared/instances/block_visits.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/sampling.h"
#include "solvers/shared/instances/structure_direction.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

struct Settings {
  bool averaging;
  std::size_t batch, reports;
};

Schema<Settings> rows() {
  return Schema<Settings>({option(&Settings::averaging, averaging_option("true")),
                           option(&Settings::batch, batch_option()),
                           option(&Settings::reports, reports_option())});
}

struct Visit {
  Index instance;
  double loss;
  AlignedVector<double> rows;
  std::vector<Index> best, gold;
  StructureDirection direction;

  bool valid() const { return std::isfinite(loss); }
};

class Descent {
 public:
  Descent(Objective& objective, const Settings& settings, Random& random)
      : objective_(objective),
        u_(objective),
        extra_(u_.extra().size()),
        sampler_(Scheme::kUniform, 0.0, {}, objective.instances(), random),
        visits_(std::min(settings.batch, objective.instances())) {
    if (settings.averaging) late_.emplace(objective);
  }

  /// The last w, or the average of all w with weights 1, 2, 3, ... The sum of u_j over j <= k is (k + 1)*u -
  /// late, where late is the sum over visits j of j * (the change of u).
  SparseVector weights() const {
    const auto k = static_cast<double>(visited_);
    if (visited_ == 0) return {};
    if (!late_) return u_.nonzeros(scale(), u_, 0.0);
    const double average = 2.0 * scale() / (k + 1.0);
    return u_.nonzeros(average * (k + 1.0), *late_, -average);
  }

  /// Visits `count` instances, at most a batch. Returns false, with nothing changed, if a loss is not finite
  /// at w.
  bool step(std::size_t count) {
    const std::span<Visit> visits(visits_.data(), std::min(count, visits_.size()));
    for (std::size_t e = 0; e < extra_.size(); ++e) extra_[e] = scale() * u_.extra()[e];
    if (!draw_batch(visits, sampler_, objective_, [&](Visit& visit) { prepare(visit); })) return false;
    for (Visit& visit : visits) {
      ++visited_;
      visit.direction.add_to(u_, 1.0);
      if (late_) visit.direction.add_to(*late_, static_cast<double>(visited_));
      sampler_.put_back(visit.instance);
    }
    return true;
  }

 private:
  /// w = scale() * u.
  double scale() const {
    return visited_ == 0 ? 0.0
                         : static_cast<double>(objective_.instances()) /
                               (objective_.mu() * static_cast<double>(visited_));
  }

  void prepare(Visit& visit) {
    const Index i = visit.instance;
    u_.scores(i, visit.rows);
    for (double& score : visit.rows) score *= scale();
    visit.best.resize(u_.positions(i));
    visit.gold.resize(u_.positions(i));
    visit.loss = best_structure(objective_, i, visit.rows.data(), extra_, visit.best).loss;
    objective_.oracle().instance_max()->gold_structure(i, visit.gold);
    const StructureDirection::Term terms[] = {{visit.gold, 1.0}, {visit.best, -1.0}};
    visit.direction.form(objective_, i, terms);
  }

  Objective& objective_;
  WeightRows u_;
  std::optional<WeightRows> late_;  ///< used if w is averaged
  std::vector<double> extra_;       ///< of w
  Sampler sampler_;
  std::vector<Visit> visits_;
  std::uint64_t visited_ = 0;
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Monitor& monitor = problem.monitor;
  Random random(problem.seed);
  Descent descent(problem.objective, settings, random);
  monitor.start({});
  if (problem.kkt_at_zero == 0.0) return {};
  Passes passes;
  passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
    return visit_in_batches(monitor, from, to, settings.batch,
                            [&](std::size_t n) { return descent.step(n); });
  };
  passes.weights = [&] { return descent.weights(); };
  return run_passes(problem, settings.reports, passes, {});
}

}  // namespace

SolverInfo ssg_info() {
  return stateless(
      rows(), solve,
      {
          .name = "ssg",
          .help =
              "stochastic subgradient descent for max-margin training; knows no gap, so it ends at a limit",
          .paper = "Shalev-Shwartz, Singer, Srebro, Pegasos, ICML 2007; Lacoste-Julien et al., ICML 2013",
          .needs = {.capabilities = {Capability::kMax, Capability::kInstanceMax},
                    .l2 = true,
                    .smooth = true,
                    .loss = Loss::Kind::kHinge},
          .exact = false,
          .starts_anywhere = false,
          .scale_free = true,
          .bytes_per_weight = 12,
      });
}

}  // namespace proxbench
