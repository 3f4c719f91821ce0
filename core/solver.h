#pragma once
/// The input and the output of a solver.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/types.h"
#include "core/monitor/monitor.h"
#include "core/objective.h"

namespace proxbench {

struct KnownStart;  // core/known_start.h

struct SolveProblem {
  Objective& objective;
  Monitor& monitor;
  /// The starting point. It is the same for all solvers that start_anywhere.
  const SparseVector& start;
  /// Stop when kkt (the max norm of the minimum-norm subgradient of F) <= tol * kkt_at_zero. A hinge loss has
  /// no kkt (kkt_at_zero is NaN): a solver that computes a duality gap of its own stops once the gap is <=
  /// tol * F.
  double tol;
  double kkt_at_zero;
  std::uint64_t seed;
  /// This solve is one of a sequence (a lambda path), with the same smooth part, and starts where the one
  /// before ended; lambda and candidates may differ. A solver with SolverInfo::continues makes all solves of
  /// a sequence with the same object. One with continues_over_mu does so even if mu differs.
  bool in_sequence = false;
  KnownStart* known = nullptr;  ///< null: nothing is known

  double kkt_target() const { return tol * kkt_at_zero; }
};

struct SolveResult {
  Status status = Status::kConverged;
  SparseVector w;
  /// Facts about the solve for readers of the results, such as a calibrated learning rate or the number of
  /// epochs.
  std::map<std::string, double> notes = {};
};

/// solvers/README.md has the rules for solvers ("What every solver must do"). Moreover:
///
/// - If an iteration is not one update of w by all instances, a solver counts its steps with
///   objective.counts().add_updates().
/// - It reads no clock and prints nothing. It gives the same bits for the same seed, sampled or not.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual SolveResult solve(const SolveProblem& problem) = 0;
};

/// Calls solver.solve(). If the monitor stops it within an iteration, returns the last iterate instead
/// (Monitor::within_solver()). The solver is of no further use then.
SolveResult solve_within_limits(Solver& solver, const SolveProblem& problem);

/// The requirements of a solver.
struct Needs {
  std::vector<Capability> capabilities = {Capability::kSum};
  bool l1 = false;      ///< lambda > 0
  bool l2 = false;      ///< mu > 0
  bool smooth = false;  ///< lambda = 0
  Loss::Kind loss = Loss::Kind::kLog;
};

/// How a solver finds f*: the options that replace its defaults, and whether it is `tightened`. A tightened
/// solver stops by tol first and then goes on to the gap (experiments/run/training.h). Otherwise it aims at
/// the gap directly.
struct AsReference {
  std::map<std::string, std::string> options = {};
  bool tightened = false;
};

/// A registered solver.
struct SolverInfo {
  std::string name;
  std::string help;
  std::string paper;
  OptionTable options = {};
  std::function<std::unique_ptr<Solver>(const Options&)> make = nullptr;
  Needs needs = {};
  /// Whether the solver reaches any kkt target that rounding allows. Otherwise it only comes near the optimum
  /// and should be stopped by its limits.
  bool exact = true;
  /// Whether one object can make all solves of a sequence, and saves work by it (SolveProblem::in_sequence).
  /// Otherwise each solve needs a new object.
  bool continues = false;
  /// Whether the same holds for a sequence in which mu differs.
  bool continues_over_mu = false;
  /// Whether the solver starts from any w. Otherwise it has a start of its own, and a model to start from is
  /// refused.
  bool starts_anywhere = true;
  /// Whether several processes may share the instances (core/base/processes.h). For this, everything that the
  /// solver computes from data must come from sums over instances.
  bool shares_instances = false;
  /// Whether the scale of the data does not matter: with all values times 2^k, weights and the start times
  /// 2^-k, lambda times 2^k and mu times 4^k, its iterates keep their bits up to that factor. (The oracle's
  /// own weights, such as transitions, do not scale.) If false, `help` names the reason.
  bool scale_free = false;
  /// Bytes of memory for each weight of the objective, with default options, for what the solver and its
  /// monitor keep (solvers/RESULTS.md). 0: not known.
  double bytes_per_weight = 0.0;
  /// Whether the solver also keeps something of each instance, within its option memory_limit.
  bool keeps_instances = false;
  AsReference as_reference = {};
};

/// The reason why the solver cannot run with this penalty and this loss, for any oracle: "solver 'x' needs
/// ...". Empty if it can.
std::string unmet_needs(const SolverInfo& solver, const Penalty& penalty, Loss::Kind loss);
/// Also checks the capabilities of this oracle.
std::string unmet_needs(const SolverInfo& solver, const Penalty& penalty, Loss::Kind loss,
                        const OracleInfo& oracle);

}  // namespace proxbench
