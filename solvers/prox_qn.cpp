/// Proximal quasi-Newton with aggressive shrinking (Zhong, Yen, Dhillon, Ravikumar 2014, Algorithm 2),
/// following its authors' program. Comments name the algorithm's lines.
///
/// Each iteration minimises the model g^T d + 1/2 d^T B d + lambda*||w + d||_1 over a working set A by
/// coordinate descent, where B is the compact L-BFGS matrix of the smooth part. The iteration then backtracks
/// on w + alpha*d. Within an epoch A only shrinks. At the end of an epoch all coordinates return, and the
/// tolerance of the next epoch falls.
///
/// Choices that the paper leaves open follow the authors' program: an epoch begins with the zero coordinates
/// whose gradient exceeds epoch_margin*lambda, and gamma carries over from epoch to epoch. The rule for
/// progress within rounding is ours, since the paper has none.
#include <algorithm>
#include <vector>

#include "core/base/random.h"
#include "core/quasi_newton/lbfgs.h"
#include "solvers/shared/common_options.h"
#include "solvers/shared/proximal/coordinate_descent.h"
#include "solvers/shared/proximal/minimisation.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using namespace proximal;

/// Iterations in a row without a new low of F or kkt, all within rounding, after which the L-BFGS pairs are
/// cleared. If clearing them brings no progress either, the run has stalled.
constexpr std::int64_t kPatience = 20;

struct Settings {
  std::size_t memory;      ///< m
  std::int64_t max_inner;  ///< most passes of an inner problem
  EpochSettings epochs;
  ArmijoOptions line_search;
};

/// One solve.
class Minimiser : Minimisation {
 public:
  Minimiser(const Settings& settings, const SolveProblem& problem, Buffers& buffers)
      : Minimisation(problem, buffers), settings_(settings), lbfgs_(settings.memory), random_(problem.seed) {}

  SolveResult run() {
    if (!open(kPatience)) return finish(Status::kDiverged);                      // line 1
    for (std::int64_t iteration = 1;; ++iteration) {                             // line 2
      if (iteration == 1 || shrink_working_set()) {                              // lines 3 to 11
        if (const auto status = start_epoch(iteration)) return finish(*status);  // lines 12 to 18
      }
      const double slope = solve_inner_problem();  // lines 19 to 28
      if (at_.stop.requested()) return finish(problem_.monitor.stop_status());
      progressed_ = search_and_update(slope);  // lines 29 to 39
      if ((!progressed_ && at_.stop.requested()) || !report()) return finish(problem_.monitor.stop_status());
    }
  }

 private:
  /// Lines 3 to 11. Returns true if the epoch is over.
  bool shrink_working_set() {
    shrink(settings_.epochs.shrinking ? slack() : kInfinity,
           [&](const std::vector<std::uint32_t>& kept) { lbfgs_.keep_rows(kept); });
    return (settings_.epochs.shrinking && optimality_.l1 <= epoch_target_) ||
           optimality_.largest <= problem_.kkt_target() || !progressed_;
  }

  /// Lines 12 to 18: a full gradient shows whether the solve is over, and selects the next working set.
  /// Returns the status if the solve is over, else nothing.
  std::optional<Status> start_epoch(std::int64_t iteration) {
    const bool first = iteration == 1;
    const double from = settings_.epochs.shrinking ? settings_.epochs.margin * at_.lambda() : -1.0;
    at_.select(w(), from, first ? problem_.known : nullptr, selection_);
    if (const auto ended = judge_optimality()) return ended;
    take_selection();
    epoch_target_ = first ? settings_.epochs.tol * optimality_.l1 : settings_.epochs.factor * epoch_target_;
    // gamma = 1 if feature values are measured in their typical size.
    const double unit = at_.objective.map().typical_value();
    lbfgs_.reset(at_.set.size(), first ? unit * unit : lbfgs_.gamma());
    return std::nullopt;
  }

  /// Lines 19 to 28. Returns g^T d + lambda*(||w + d||_1 - ||w||_1).
  double solve_inner_problem() {
    const std::size_t n = at_.set.size();
    const auto shrunk = static_cast<std::int64_t>(at_.objective.dimension() / std::max<std::size_t>(n, 1));
    const std::int64_t passes = std::min(settings_.max_inner, std::max<std::int64_t>(shrunk, 1));  // line 20
    lbfgs_.refresh(at_.parallel());
    descent_.begin(lbfgs_, {}, at_.set.w, at_.set.g, at_.lambda(), at_.d);
    for (std::int64_t p = 0; p < passes && n > 0 && !at_.stop.requested(); ++p) {
      inner_passes_ += 1.0;
      const bool solved = descent_.pass(random_) == 0.0;
      if (solved || lbfgs_.pairs() == 0) break;  // without pairs one pass solves the problem
    }
    return predicted_change(at_.set.w, at_.set.g, at_.d, at_.lambda());
  }

  /// Lines 29 to 39. Returns false, and leaves w unchanged, if no step brings progress.
  bool search_and_update(double slope) {
    // With pairs the first trial is mostly accepted, so trials compute the residual as well. Without pairs,
    // gamma is a guess that may take many halvings.
    const bool with_residual = lbfgs_.pairs() > 0;
    const ArmijoResult found = at_.search(slope, settings_.line_search, with_residual);
    if (!progress_->saw_step(found)) return false;
    const Step step = at_.move(found, with_residual);
    lbfgs_.update(step.d, step.change);
    return true;
  }

  SolveResult finish(Status status) { return give_back(status, inner_passes_); }

  const Settings& settings_;
  CompactLbfgs lbfgs_;
  CoordinateDescent descent_;
  Random random_;
  double epoch_target_ = 0.0;  ///< for the subgradient's l1 norm
  double inner_passes_ = 0.0;
};

class ProxQn final : public Solver {
 public:
  explicit ProxQn(const Settings& settings) : settings_(settings) {}

  SolveResult solve(const SolveProblem& problem) override {
    if (!problem.in_sequence) buffers_ = {};
    return Minimiser(settings_, problem, buffers_).run();
  }

 private:
  Settings settings_;
  Buffers buffers_;
};

Schema<Settings> rows() {
  return Schema<Settings>(
      {option(&Settings::memory, "memory", "10", "L-BFGS pairs kept, m", {1, 1000}),
       option(&Settings::max_inner, "max_inner", "10",
              "most passes of coordinate descent over the working set (Algorithm 2, line 20)", {1, 100000}),
       part(&Settings::epochs, epoch_rows("1e-4")), part(&Settings::line_search, line_search_rows())});
}

}  // namespace

SolverInfo prox_qn_info() {
  SolverInfo info{"prox-qn",
                  "proximal quasi-Newton with shrinking: L-BFGS model, coordinate descent on the working set",
                  "Zhong, Yen, Dhillon, Ravikumar 2014, Algorithm 2", rows().table(), rows().maker<ProxQn>()};
  info.continues = true;
  info.shares_instances = true;
  info.scale_free = true;
  info.bytes_per_weight = 470;
  info.as_reference = {.tightened = true};
  return info;
}

}  // namespace proxbench
