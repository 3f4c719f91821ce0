#pragma once
/// What a solver is given and what it gives back.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/types.h"
#include "core/monitor.h"
#include "core/objective.h"

namespace proxbench {

/// The smooth part at a point: the scores there, what inference gives on them, and the loss.
struct SmoothState {
  Scores scores;
  Residual residual;
  double loss = 0.0;
};

/// What a caller knows already of the point where a solve starts. A solver may take it instead of finding it
/// again.
struct KnownStart {
  /// At the start. The solver may take it away, and leave anything of the same shape there.
  SmoothState& state;
  /// Set by a solver that leaves the state at the point that it returns.
  bool at_result = false;
  /// All of the support and of the coordinates with |g| > `complete_above`, whether they are candidates or
  /// not.
  const Objective::Selection& selection;
  double complete_above;
};

struct SolveProblem {
  Objective& objective;
  Monitor& monitor;
  /// Where to start: the same for all solvers, but those that do not start_anywhere.
  const SparseVector& start;
  /// Stop when kkt (max norm of the minimum-norm subgradient of F) <= tol * kkt_at_zero. With a hinge loss
  /// there is no kkt (kkt_at_zero is NaN): a solver that finds a duality gap of its own stops once that is <=
  /// tol * F.
  double tol;
  double kkt_at_zero;
  std::uint64_t seed;
  /// One of a sequence of solves (a path): for a solver that SolverInfo::continues, by the same object, of
  /// the same smooth part, from where the one before ended; lambda and candidates may differ. For one that
  /// continues_over_mu the same, where mu differs.
  bool in_sequence = false;
  KnownStart* known = nullptr;  ///< null: nothing

  double kkt_target() const { return tol * kkt_at_zero; }
};

struct SolveResult {
  Status status = Status::kConverged;
  SparseVector w;
  std::int64_t iterations = 0;
  std::uint64_t working_set = 0;  ///< at the end
  /// What a reader of results should know of how it went: a calibrated learning rate, the number of epochs.
  std::map<std::string, double> notes = {};
};

/// A solver calls monitor.start() once, monitor.step() after each iteration, and stops when that is false,
/// with monitor.stop_status(). It hands step() the loss at its iterate where it has computed that anyway:
/// samples are then cheap and many, and a target for F is met to the iteration. Within an iteration that may
/// last, it asks monitor.out_of_time() every few inferences' time at least; once that is true it returns,
/// with monitor.stop_status(). Where an iteration is not one update of w by all instances, it counts its
/// steps with objective.count_updates(). It reads no clock, prints nothing, and gives the same bits for the
/// same seed with any number of threads, sampled or not.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual SolveResult solve(const SolveProblem& problem) = 0;
};

/// What a solver cannot do without.
struct Needs {
  std::vector<Capability> capabilities = {Capability::kSum};
  bool l1 = false;      ///< lambda > 0
  bool l2 = false;      ///< mu > 0
  bool smooth = false;  ///< lambda = 0
  Loss::Kind loss = Loss::Kind::kLog;
};

/// How a solver finds f*: options in place of their defaults, and whether it is stopped by tol and then
/// goes on to the gap (experiments/run/tighten.h), in place of looking for the gap itself.
struct AsReference {
  std::map<std::string, std::string> options = {};
  bool tightened = false;
};

/// A registered solver.
struct SolverInfo {
  std::string name;
  std::string help;
  std::string paper;
  OptionTable options;
  std::function<std::unique_ptr<Solver>(const Options&)> make;
  Needs needs = {};
  /// Whether it reaches any kkt target that rounding allows; otherwise it only comes near the optimum, and
  /// is meant to be stopped by its limits.
  bool exact = true;
  /// Whether one object may make all solves of a sequence, and gains by it (SolveProblem::in_sequence).
  /// Otherwise each takes an object of its own.
  bool continues = false;
  /// The same of a sequence of other mu.
  bool continues_over_mu = false;
  /// Whether it starts from any w; otherwise it has a start of its own, and is refused a model to start from.
  bool starts_anywhere = true;
  /// Whether several processes may share the instances (core/base/processes.h): where all that it computes
  /// from data comes from sums over instances.
  bool shares_instances = false;
  /// Whether it does the same on data of any scale: with all values times 2^k, weights and the start times
  /// 2^-k, lambda times 2^k and mu times 4^k its iterates keep their bits, but for that factor (weights of
  /// the oracle's own, such as transitions, do not scale). Where false, `help` names what forbids it.
  bool scale_free = false;
  AsReference as_reference = {};
};

/// Why the solver cannot run with this penalty and this loss, whatever the oracle: "solver 'x'
/// needs ..."; empty: it can.
std::string unmet_needs(const SolverInfo& solver, const Penalty& penalty,
                        Loss::Kind loss);
/// The same with this oracle.
std::string unmet_needs(const SolverInfo& solver, const Penalty& penalty,
                        Loss::Kind loss, const OracleInfo& oracle);

}  // namespace proxbench
