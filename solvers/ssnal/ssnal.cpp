/// SSNAL with column generation, for max-margin training with an l2 penalty where there are few weights. It
/// maximises
///
///     D(a) = sum_i E_{a_i}[cost] - (mu/2)*||w(a)||^2,   w(a) = (1/mu) * sum_i (F_i(gold) - E_{a_i}[F_i])
///
/// over a distribution a_i on the structures of each instance, which is stored as atoms with weights
/// (mixtures.h). At first all weight is on gold. With H(y) = cost(y) + score(y) - score(gold), an iteration
/// is:
///
///     w, a  = a step of the proximal point method on D over the atoms (proximal_steps.h)
///     s_i   = argmax H at w, from the max oracle, for all instances; F(w) = (mu/2)*||w||^2 + sum_i H(s_i)
///     s_i becomes an atom
///
/// The result is the w with the least F. So an iteration costs one pass and some Newton steps, whose matrix
/// has a row for each atom. This is a method of cutting planes with one plane for each instance (Joachims,
/// Finley, Yu, "Cutting-plane training of structural SVMs", Machine Learning 2009, Algorithm 1); the proximal
/// point method (Li, Sun, Toh, SIAM J. Optim. 2018, call it SSNAL) solves its quadratic programs, inexactly.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/base/memory.h"
#include "core/base/schema.h"
#include "core/base/sum.h"
#include "core/instance_inference.h"
#include "solvers/shared/instances/passes.h"
#include "solvers/shared/instances/weight_rows.h"
#include "solvers/solvers.h"
#include "solvers/ssnal/proximal_steps.h"

namespace proxbench {

namespace {

constexpr std::size_t kInstancesPerChunk = 16;
/// Vectors of all weights at one time, those of the partial sums of a gradient included.
constexpr double kVectors = 24.0;

struct Settings {
  std::size_t cache;
  double memory_limit;
};

Schema<Settings> rows() {
  return Schema<Settings>({option(&Settings::cache, "cache", "4",
                                  "structures kept of each instance, beyond those with weight", {1, 1e6}),
                           option(&Settings::memory_limit, memory_limit_option())});
}

/// The max oracle on all instances.
class Cuts {
 public:
  Cuts(Objective& objective, MixtureStore& mixtures, std::size_t cache)
      : objective_(objective), mixtures_(mixtures), cache_(cache), w_(objective) {}

  /// Returns the loss at w, and keeps the structures found. One pass.
  double loss(std::span<const double> w) {
    ++now_;
    const std::size_t features = objective_.map().features();
    for (Index j = 0; j < features; ++j)
      for (std::size_t k = 0; k < objective_.outputs(); ++k) w_.row(j)[k] = w[k * features + j];
    std::ranges::copy(w.subspan(features * objective_.outputs()), w_.extra_row());
    std::vector<double> loss(objective_.instances());
    const Chunks chunks{loss.size(), kInstancesPerChunk};
    objective_.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      AlignedVector<double> scores;
      std::vector<Index> best;
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
        const auto instance = static_cast<Index>(i);
        w_.scores(instance, scores);
        best.resize(w_.positions(instance));
        const LossAndCost found = best_structure(objective_, instance, scores.data(), w_.extra(), best);
        loss[i] = found.loss;
        if (std::isfinite(found.loss)) keep(mixtures_[instance], best, found.cost);
      }
    });
    CompensatedSum sum;
    for (const double one : loss) sum.add(one);
    return sum.value();
  }
  /// The nonzeros of the w of the last call.
  SparseVector weights() const { return w_.nonzeros(); }

 private:
  void keep(Atoms& atoms, std::span<const Index> structure, double cost) const {
    const std::size_t at = atoms.find(structure);
    if (at == atoms.atoms()) atoms.add(structure, cost);
    const auto with_weight = std::ranges::count_if(atoms.weights(), [](double x) { return x > 0.0; });
    atoms.tidy(at, cache_ + static_cast<std::size_t>(with_weight), now_);
  }

  Objective& objective_;
  MixtureStore& mixtures_;
  std::size_t cache_;
  WeightRows w_;
  std::uint64_t now_ = 0;
};

class Ssnal final : public Solver {
 public:
  explicit Ssnal(const Settings& settings) : settings_(settings) {}

  SolveResult solve(const SolveProblem& problem) override {
    Objective& objective = problem.objective;
    Monitor& monitor = problem.monitor;
    const bool continues = problem.in_sequence && atoms_ != nullptr;
    SolveResult result{.w = continues ? problem.start : SparseVector{}};
    if (!monitor.start(result.w)) {
      result.status = Status::kDiverged;
      return result;
    }
    if (problem.kkt_at_zero == 0.0) return result;
    start(objective, continues);
    monitor.watch(atoms_);
    ssnal::ProximalSteps steps(objective, *atoms_);
    Cuts cuts(objective, *atoms_, settings_.cache);
    double least = kInfinity, loss = kNaN;
    const auto look = [&] {
      const double found = cuts.loss(steps.w()), f = found + objective.penalty().l2(steps.w());
      if (f < least) {
        least = f;
        loss = found;
        result.w = cuts.weights();
      }
      atoms_->set_estimated_gap(least - steps.dual());
      return std::isfinite(f);
    };
    const auto stop = [&] { return monitor.out_of_time(); };
    bool finite = look();
    while (finite) {
      const double gap = least - steps.dual();
      if (problem.tol > 0.0 && gap <= problem.tol * least) return result;
      const bool moved = steps.step(*atoms_, gap, stop);
      const bool given_up = !moved && monitor.out_of_time();
      finite = moved && look();
      if (given_up || !monitor.step([&] { return result.w; }, loss, objective.dimension())) {
        result.status = monitor.stop_status();
        return result;
      }
    }
    result.status = least < kInfinity ? Status::kStalled : Status::kDiverged;
    return result;
  }

 private:
  void start(const Objective& objective, bool continues) {
    const std::size_t n = objective.instances();
    require_memory(
        static_cast<double>(settings_.cache) *
                (static_cast<double>(objective.map().x().positions()) * sizeof(Index) +
                 static_cast<double>(n) * 2.0 * sizeof(double)) +
            kVectors * sizeof(double) * static_cast<double>(objective.dimension()),
        settings_.memory_limit,
        "vectors of all weights, and `cache` structures of each of " + std::to_string(n) + " instances,");
    if (!continues) atoms_ = std::make_shared<MixtureStore>(n);
    std::vector<Index> gold;
    for (Index i = 0; i < n; ++i) {
      Atoms& atoms = (*atoms_)[i];
      atoms.forget_uses();
      if (continues) continue;
      gold.resize(objective.oracle().length(i));
      objective.oracle().instance_max()->gold_structure(i, gold);
      atoms.add(gold, 0.0);
    }
  }

  Settings settings_;
  std::shared_ptr<MixtureStore> atoms_;  ///< of the last solve
};

}  // namespace

SolverInfo ssnal_info() {
  return {
      .name = "ssnal",
      .help = "Newton steps on the dual over all structures found, for max-margin training with few weights",
      .paper =
          "Li, Sun, Toh, A highly efficient semismooth Newton augmented Lagrangian method for solving "
          "Lasso problems, SIAM J. Optim. 2018",
      .options = rows().table(),
      .make = rows().maker<Ssnal>(),
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
