/// Stochastic subgradient descent for max-margin training with an l2 penalty (Shalev-Shwartz, Singer, Srebro,
/// "Pegasos", ICML 2007; for structures as in Lacoste-Julien et al. 2013, Algorithm 1 of the supplement).
/// Visit k = 1, 2, ... draws an instance i and sets
///
///     w = (1 - 1/k)*w + (n/(mu*k)) * (F_i(gold) - F_i(s)),   s the loss-augmented best structure
///
/// so w = (n/(mu*k)) * u, u the sum of these differences. Of a batch of distinct instances all s are found in
/// parallel at one w.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/random.h"
#include "solvers/shared/common_options.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/sampling.h"
#include "solvers/shared/instances/structure_direction.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// No check shows convergence.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Settings {
  bool averaging;
  std::size_t batch;
  PassSettings passes;
};

struct Visit {
  Index instance;
  double loss;
  AlignedVector<double> rows;
  InstanceMaxOracle::Workspace work;
  std::vector<Index> best, gold;
  StructureDirection direction;
};

class Descent {
 public:
  Descent(Objective& objective, const Settings& settings, Random& random)
      : objective_(objective),
        begin_(objective.structure().begin()),
        u_(objective),
        extra_(u_.extra().size()),
        sampler_(Scheme::kUniform, 0.0, {}, objective.instances(), random),
        visits_(std::min(settings.batch, objective.instances())) {
    if (settings.averaging) late_.emplace(objective);
  }

  /// The last w, or the average of all with weights 1, 2, 3, ...: the sum over j <= k of u_j is (k + 1)*u -
  /// late, for late = sum over visits j of j * the change of u.
  SparseVector weights() const {
    const auto k = static_cast<double>(visited_);
    if (visited_ == 0) return {};
    if (!late_) return u_.nonzeros(scale(), u_, 0.0);
    const double average = 2.0 * scale() / (k + 1.0);
    return u_.nonzeros(average * (k + 1.0), *late_, -average);
  }

  /// A visit of each of `count` instances, at most a batch. False: a loss has no value at w, and nothing was
  /// done.
  bool step(std::size_t count) {
    const std::span<Visit> visits(visits_.data(), std::min(count, visits_.size()));
    for (Visit& visit : visits) visit.instance = sampler_.draw();
    for (std::size_t e = 0; e < extra_.size(); ++e) extra_[e] = scale() * u_.extra()[e];
    if (visits.size() == 1)
      prepare(visits[0]);
    else
      objective_.parallel().for_each(visits.size(), [&](std::size_t v) { prepare(visits[v]); });
    if (!std::all_of(visits.begin(), visits.end(),
                     [](const Visit& visit) { return std::isfinite(visit.loss); }))
      return false;
    objective_.count_updates(static_cast<double>(visits.size()));
    for (Visit& visit : visits) {
      ++visited_;
      const Index begin = begin_[visit.instance];
      visit.direction.add_to(u_, 1.0, objective_.x(), begin);
      if (late_) visit.direction.add_to(*late_, static_cast<double>(visited_), objective_.x(), begin);
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
    const std::size_t positions = begin_[i + std::size_t{1}] - begin_[i];
    visit.rows.resize(positions * u_.width());
    u_.scores(begin_[i], positions, visit.rows.data());
    for (double& score : visit.rows) score *= scale();
    visit.best.resize(positions);
    visit.gold.resize(positions);
    visit.loss = objective_.best_structure(i, visit.rows.data(), extra_, visit.best, visit.work).loss;
    objective_.structures().gold_structure(i, visit.gold);
    const StructureDirection::Term terms[] = {{visit.gold, 1.0}, {visit.best, -1.0}};
    visit.direction.form(objective_.structures(), terms, objective_.outputs(), extra_.size());
  }

  Objective& objective_;
  std::span<const Index> begin_;
  WeightRows u_;
  std::optional<WeightRows> late_;  ///< where w is averaged
  std::vector<double> extra_;       ///< of w
  Sampler sampler_;
  std::vector<Visit> visits_;
  std::uint64_t visited_ = 0;
};

class Ssg final : public Solver {
 public:
  explicit Ssg(const Settings& settings) : settings_(settings) {}

  SolveResult solve(const SolveProblem& problem) override {
    Monitor& monitor = problem.monitor;
    Random random(problem.seed);
    Descent descent(problem.objective, settings_, random);
    monitor.start({});
    if (problem.kkt_at_zero == 0.0) return {};
    Passes passes;
    passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
      return visit_in_batches(monitor, from, to, settings_.batch,
                              [&](std::size_t n) { return descent.step(n); });
    };
    passes.weights = [&] { return descent.weights(); };
    return run_passes(problem, settings_.passes, passes, {});
  }

 private:
  Settings settings_;
};

}  // namespace

SolverInfo ssg_info() {
  return {
      .name = "ssg",
      .help = "stochastic subgradient descent for max-margin training; knows no gap, so it ends at a limit",
      .paper = "Shalev-Shwartz, Singer, Srebro, Pegasos, ICML 2007; Lacoste-Julien et al., ICML 2013",
      .options = {averaging_option(),
                  {.name = "batch",
                   .type = OptionType::kInt,
                   .default_value = "1",
                   .help = "instances whose structures are found in parallel at the same w",
                   .min = 1,
                   .max = 65536},
                  pass_options().front()},
      .make =
          [](const Options& o) {
            return std::make_unique<Ssg>(
                Settings{.averaging = o.boolean("averaging"),
                         .batch = static_cast<std::size_t>(o.integer("batch")),
                         .passes = {static_cast<std::size_t>(o.integer("reports")), kNever}});
          },
      .needs = {.capabilities = {Capability::kMax, Capability::kInstanceMax},
                .l2 = true,
                .smooth = true,
                .loss = Loss::Kind::kHinge},
      .exact = false,
      .starts_anywhere = false,
      .scale_free = true,
  };
}

}  // namespace proxbench
