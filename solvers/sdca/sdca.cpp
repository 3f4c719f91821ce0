/// Stochastic dual coordinate ascent for l2-regularised conditional random fields (Le Priol, Piche,
/// Lacoste-Julien, "Adaptive stochastic dual coordinate ascent for conditional random fields", UAI 2018,
/// Algorithm 2). Maximises
///
///     D(alpha) = sum_i H(alpha_i) - (mu/2)*||w(alpha)||^2,
///     w(alpha) = (1/mu) * sum_i (F_i(gold) - E_{alpha_i}[F_i])
///
/// over a distribution alpha_i for each instance, stored as beliefs (core/oracle.h). A step on instance i:
///
///     nu     = beliefs of p(. | x_i; w)                                        the only inference
///     v      = -(1/mu) * E_{nu - mu_i}[F_i]
///     gamma  = argmax of D along mu_i + gamma*(nu - mu_i) in [0, 1]            line_search.h
///     mu_i  += gamma*(nu - mu_i),   w += gamma*v
///
/// The instance is drawn by KL(mu_i || nu), the block's duality gap (sampling.h).
///
/// Batches: for a batch of distinct instances, nu, v and the line search are computed in parallel at one w.
/// Then, one instance after the other, each gamma is corrected for the move of w since (line_search.h), so
/// that every step still raises D. batch = 1 is the paper's algorithm. The result does not depend on the
/// number of threads.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/schema.h"
#include "core/instance_inference.h"
#include "core/kernels/kernel_table.h"
#include "core/stateless.h"
#include "solvers/sdca/line_search.h"
#include "solvers/shared/instances/belief_store.h"
#include "solvers/shared/instances/block_visits.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/weight_rows.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

using sdca::LineSearch;

constexpr std::size_t kInstancesPerChunk = 64;
struct Settings {
  Scheme scheme;
  double share;
  bool refresh_drawn;
  std::int64_t refresh_every;
  bool one_step;
  double precision;  ///< of the line search
  bool uniform_start;
  double gold_score, uniform_share;
  std::size_t batch;
  double memory_limit;
  std::size_t reports;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {choice(&Settings::scheme, "sampling", "gap",
              "which instance is visited next: uniform, or by importance 1 + R_i/mu, by the latest estimate "
              "of its duality gap, by their product, or the one with the largest estimate",
              {{"uniform", Scheme::kUniform},
               {"importance", Scheme::kImportance},
               {"gap", Scheme::kGap},
               {"gap-importance", Scheme::kGapImportance},
               {"max", Scheme::kMax}}),
       option(&Settings::share, "share", "0.8",
              "share of draws that follow the scheme; the others are uniform", {0, 1}),
       option(&Settings::refresh_drawn, "refresh_drawn", "true",
              "a visit renews the instance's estimate of its gap; false: estimates stay as they began"),
       option(&Settings::refresh_every, "refresh_every", "0",
              "passes between inferences over all instances that renew all estimates; 0: none", {0, 1e9}),
       choice(&Settings::one_step, "line_search", "newton",
              "newton: safeguarded, to line_search_precision; one-step: one Newton step from 1/2",
              {{"newton", false}, {"one-step", true}}),
       option(&Settings::precision, "line_search_precision", "1e-3",
              "the line search ends where a step is shorter", above(0, 1)),
       choice(&Settings::uniform_start, "start", "gold",
              "first dual point, where training starts at w = 0. gold: marginals of a model that gives "
              "gold_score to each gold label and pair; uniform: uniform_share of the uniform distribution, "
              "the rest on gold (equation 21)",
              {{"gold", false}, {"uniform", true}}, "uniform"),
       option(&Settings::gold_score, "gold_score", "10", "for start = gold", {0, 100}),
       option(&Settings::uniform_share, "uniform_share", "0.01", "for start = uniform", above(0, 1)),
       option(&Settings::batch, batch_option()), option(&Settings::memory_limit, memory_limit_option()),
       option(&Settings::reports, reports_option())});
}

/// One instance of a batch.
struct Visit {
  Index instance;
  AlignedVector<double> rows, extra, log_nu;
  LineSearch search;
  InstanceDirection direction;
  double loss, curvature, at_start, gamma;

  bool valid() const { return std::isfinite(loss); }
};

class Ascent {
 public:
  Ascent(Objective& objective, const Settings& settings, Random& random)
      : objective_(objective),
        settings_(settings),
        begin_(objective.oracle().begin()),
        w_(objective),
        beliefs_(std::make_shared<BeliefStore>(objective, settings.memory_limit)),
        random_(random),
        visits_(std::min(settings.batch, objective.instances())) {}

  /// May stop early if the monitor is out of time. There is then no dual point yet.
  void start(const SparseVector& w, Monitor& monitor) {
    features_.emplace(objective_.map().x(), begin_);
    sampler_.emplace(settings_.scheme, settings_.share, importance(), objective_.instances(), random_);
    set_beliefs(w, monitor);
    set_weights(monitor);
  }

  SparseVector weights() const { return w_.nonzeros(); }
  std::shared_ptr<BeliefStore> dual_point() const { return beliefs_; }
  double total_gap() const { return sampler_->total_gap(); }
  /// Evaluations of the line search per step.
  double evaluations() const { return evaluations_ / std::max(1.0, steps_); }

  /// Steps on `count` instances, at most a batch. Returns false, with nothing changed, if a loss is not
  /// finite at w.
  bool step(std::size_t count) {
    const std::span<Visit> visits(visits_.data(), std::min(count, visits_.size()));
    if (!draw_batch(visits, *sampler_, objective_, [&](Visit& visit) { prepare(visit); })) return false;
    for (Visit& visit : visits) {
      if (visits.size() > 1) {
        const double shift = objective_.mu() * (w_.dot(visit.direction) - visit.at_start);
        visit.gamma = visit.search.corrected(visit.curvature, shift);
      }
      w_.add(visit.gamma, visit.direction);
      sampler_->record(visit.instance,
                       settings_.refresh_drawn ? visit.search.gap() : sampler_->gap(visit.instance));
    }
    objective_.parallel().for_each(visits.size(),
                                   [&](std::size_t v) { visits[v].search.go_to(visits[v].gamma); });
    steps_ += static_cast<double>(visits.size());
    for (const Visit& visit : visits) evaluations_ += visit.search.evaluations();
    return true;
  }

  /// Sets w to w(alpha) of the stored beliefs. Leaves it as it is if the monitor is out of time.
  void set_weights(Monitor& monitor) {
    WeightRows w(objective_);
    Visit visit;
    AlignedVector<double> p, gold;
    for (Index i = 0; i < objective_.instances(); ++i) {
      if (monitor.out_of_time()) return;
      visit.instance = i;
      p.resize(objective_.oracle().beliefs()->belief_size(i).all());
      gold.resize(p.size());
      beliefs_->beliefs(*objective_.oracle().beliefs(), i, p.data());
      kernels_in_use().exponentiate(p.data(), p.size());
      gold_structure(i, gold.data());
      kernels_in_use().add_scaled(p.data(), -1.0, gold.data(), p.size());
      form_direction(visit, p.data());
      w.add(1.0, visit.direction);
    }
    w_ = std::move(w);
  }

  /// Recomputes the gaps of all blocks at w, in one pass.
  void refresh(Monitor& monitor) {
    renew_gaps<Visit>(*sampler_, objective_, monitor, [&](Visit& visit) {
      compare(visit);
      return visit.search.gap();
    });
  }

 private:
  /// The direction -(1/mu) * E_difference[features].
  void form_direction(Visit& visit, const double* difference) const {
    const Index i = visit.instance;
    visit.rows.resize(w_.positions(i) * w_.width());
    visit.extra.resize(objective_.map().extra_weights());
    objective_.oracle().beliefs()->expectation(i, difference, visit.rows.data(), visit.extra);
    const double factor = -1.0 / objective_.mu();
    for (AlignedVector<double>* numbers : {&visit.rows, &visit.extra})
      for (double& value : *numbers) value *= factor;
    visit.direction.form(features_->of(i), visit.rows.data(), visit.extra, w_.width());
  }

  /// Compares mu_i with the model's beliefs at w.
  void compare(Visit& visit) {
    const Index i = visit.instance;
    const BeliefOracle::Size size = objective_.oracle().beliefs()->belief_size(i);
    w_.scores(i, visit.rows);
    visit.log_nu.resize(size.all());
    visit.loss = infer_beliefs(objective_, i, visit.rows.data(), w_.extra(), visit.log_nu.data());
    visit.search.set(size, beliefs_->at(i), visit.log_nu.data());
  }

  /// Computes everything that a step needs, at w.
  void prepare(Visit& visit) {
    compare(visit);
    if (!visit.valid()) return;
    form_direction(visit, visit.search.difference());
    visit.curvature = objective_.mu() * visit.direction.squared_norm();
    visit.at_start = visits_.size() > 1 ? w_.dot(visit.direction) : 0.0;
    visit.gamma = visit.search.maximise(visit.curvature, settings_.one_step ? 0.0 : settings_.precision);
  }

  /// The gold label or leaf at the position. kNoOutput for a candidate that is not the gold one.
  Index gold_output(Index position) const {
    const std::span<const Index> on = objective_.oracle().gold_outputs(position);
    return on.empty() ? kNoOutput : on.back();
  }

  std::vector<Index> gold_outputs(Index i) const {
    std::vector<Index> out;
    for (Index p = begin_[i]; p < begin_[i + std::size_t{1}]; ++p) out.push_back(gold_output(p));
    return out;
  }

  void gold_structure(Index i, double* beliefs) const {
    objective_.oracle().beliefs()->structure_beliefs(i, gold_outputs(i), beliefs);
  }

  /// Sets the first beliefs: those of the model at `start`, or distributions near gold if start = 0.
  void set_beliefs(const SparseVector& start, Monitor& monitor) {
    const BeliefOracle& oracle = *objective_.oracle().beliefs();
    w_.set(start);
    const Chunks chunks{objective_.instances(), kInstancesPerChunk};
    objective_.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      AlignedVector<double> gold, rows;
      for (Index i = static_cast<Index>(chunks.begin(chunk)); i < chunks.end(chunk) && !monitor.out_of_time();
           ++i) {
        double* const log_mu = beliefs_->at(i);
        if (start.nnz() > 0) {
          w_.scores(i, rows);
          infer_beliefs(objective_, i, rows.data(), w_.extra(), log_mu);
        } else if (settings_.uniform_start) {  // equation 21
          gold.resize(oracle.belief_size(i).all());
          oracle.gold_beliefs(i, 0.0, log_mu);
          gold_structure(i, gold.data());
          for (std::size_t c = 0; c < gold.size(); ++c)
            log_mu[c] = std::log(settings_.uniform_share * std::exp(log_mu[c]) +
                                 (1.0 - settings_.uniform_share) * gold[c]);
        } else {
          oracle.gold_beliefs(i, settings_.gold_score, log_mu);
        }
      }
    });
  }

  /// A structure unlike gold. All positions have the same one of `labels` (ascending): the first that gold
  /// lacks, else its rarest. In a group of candidates, the first that is not gold.
  std::vector<Index> other_structure(Index i, const std::vector<Index>& labels) const {
    const std::vector<Index> gold = gold_outputs(i);
    if (const auto other = std::ranges::find(gold, kNoOutput); other != gold.end()) {
      std::vector<Index> out(gold.size(), kNoOutput);
      out[static_cast<std::size_t>(other - gold.begin())] = 0;
      return out;
    }
    std::vector<std::size_t> count(objective_.outputs(), 0);
    for (const Index label : gold) ++count[label];
    const auto rarer = [&](Index a, Index b) { return count[a] < count[b]; };
    return std::vector<Index>(gold.size(), *std::ranges::min_element(labels, rarer));
  }

  /// c_i = 1 + R_i/mu, where R_i is the squared distance between the features of gold and those of another
  /// structure (Le Priol et al. 2018, appendix C).
  std::vector<double> importance() {
    if (settings_.scheme != Scheme::kImportance && settings_.scheme != Scheme::kGapImportance) return {};
    std::vector<Index> labels;  // gold at some position
    for (Index p = 0; p < objective_.oracle().positions(); ++p) labels.push_back(gold_output(p));
    std::ranges::sort(labels);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    if (labels.back() == kNoOutput) labels.pop_back();  // it is the largest Index
    std::vector<double> out;
    Visit visit;
    AlignedVector<double> gold, other;
    for (Index i = 0; i < objective_.instances(); ++i) {
      visit.instance = i;
      gold.resize(objective_.oracle().beliefs()->belief_size(i).all());
      other.resize(gold.size());
      gold_structure(i, gold.data());
      objective_.oracle().beliefs()->structure_beliefs(i, other_structure(i, labels), other.data());
      kernels_in_use().add_scaled(gold.data(), -1.0, other.data(), gold.size());
      form_direction(visit, gold.data());
      out.push_back(1.0 + objective_.mu() * visit.direction.squared_norm());  // = 1 + R_i/mu
    }
    return out;
  }

  Objective& objective_;
  const Settings& settings_;
  std::span<const Index> begin_;
  std::optional<InstanceFeatures> features_;
  WeightRows w_;
  std::shared_ptr<BeliefStore> beliefs_;
  std::optional<Sampler> sampler_;
  Random& random_;
  std::vector<Visit> visits_;
  double steps_ = 0.0, evaluations_ = 0.0;
};

SolveResult solve(const SolveProblem& problem, const Settings& settings) {
  Objective& objective = problem.objective;
  Monitor& monitor = problem.monitor;
  Random random(problem.seed);
  Ascent ascent(objective, settings, random);
  SolveResult result;
  result.notes["belief_bytes"] = BeliefStore::bytes(objective);

  if (!begin_passes(problem, result)) return result;
  ascent.start(problem.start, monitor);
  if (monitor.out_of_time()) {
    result.status = monitor.stop_status();
    return result;
  }
  monitor.watch(ascent.dual_point());
  Passes passes;
  passes.visit = [&](std::int64_t, std::size_t from, std::size_t to) {
    if (!visit_in_batches(monitor, from, to, settings.batch, [&](std::size_t n) { return ascent.step(n); }))
      return false;
    ascent.dual_point()->set_estimated_gap(ascent.total_gap());
    return true;
  };
  passes.weights = [&] { return ascent.weights(); };
  passes.after = [&](std::int64_t pass) {
    if (settings.refresh_every > 0 && pass % settings.refresh_every == 0) ascent.refresh(monitor);
  };
  result = run_passes(problem, settings.reports, passes, std::move(result));
  result.notes["line_search_evaluations"] = ascent.evaluations();
  return result;
}

}  // namespace

SolverInfo sdca_info() {
  return stateless(
      rows(), solve,
      {
          .name = "sdca",
          .help = "stochastic dual coordinate ascent with adaptive sampling",
          .paper = "Le Priol, Piche, Lacoste-Julien, Adaptive stochastic dual coordinate ascent for "
                   "conditional random fields, UAI 2018",
          .needs = {.capabilities = {Capability::kSum, Capability::kBeliefs}, .l2 = true, .smooth = true},
          .exact = false,
          .scale_free = true,
          .keeps_instances = true,
      });
}

}  // namespace proxbench
