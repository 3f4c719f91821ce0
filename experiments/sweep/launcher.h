#pragma once
/// How the missing runs of a sweep are made: by processes of this machine, or by the jobs of a cluster. Plan,
/// cache, results and tables are the same for all. Another scheduler is one more file pair and a row of
/// launchers().

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/sweep/out_folder.h"
#include "experiments/sweep/plan.h"
#include "experiments/sweep/problem_runner.h"
#include "experiments/sweep/sweep_hooks.h"

namespace proxbench {

struct SweepResult {
  std::vector<std::filesystem::path> folders;  ///< of all runs of the grid that are stored, in its order
  std::size_t done = 0;                        ///< runs made by this sweep
  std::size_t cached = 0;                      ///< runs that were there already
  std::size_t failed = 0;  ///< runs of this sweep with a failed_status(); each was told as a warning
  /// Runs that jobs go on with after this sweep, and runs that found no place in the queue yet.
  std::size_t outstanding = 0, unsubmitted = 0;
  bool interrupted = false;
};

/// One data set and penalty, or path.
struct SweepProblem {
  std::string name;                       ///< that of its runs without label and repetition
  bool no_reference;                      ///< no f* is found: of a path, or where reference = none
  std::vector<const CellState*> cells;    ///< all of them
  std::vector<const CellState*> missing;  ///< in the order in which they are made
  bool lacks_reference = false;           ///< as far as stored runs tell
  bool may_make_reference = true;         ///< else f* is used if it is stored

  /// The job of any of its cells.
  const RunParameters& job() const { return cells.front()->run.parameters; }
};

struct SweepWork {
  const ExperimentConfig& config;
  const std::filesystem::path& out;
  const SweepOptions& options;
  const SweepHooks& hooks;
  Digests& digests;
  OutLock& lock;  ///< OutLock::kPlan, held; a launcher may release it while it waits, and takes it again
  std::vector<CellState> states = {};
  std::vector<SweepProblem> problems = {};

  /// Fills `states` and `problems` with all of the config, or with what belongs to the problem of this name.
  void inspect(const std::string& only = "");
  /// Writes OUT/config.ini.
  void write_config() const;
  /// Parameters and key of the run that gives f* of a problem.
  Run reference_of(const SweepProblem& problem) const;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Called once, before `work.problems` are known. Ends what an earlier sweep has left unfinished. Throws
  /// Error where the sweep cannot be made this way.
  virtual void prepare(const SweepWork& work) = 0;
  /// Writes the config; makes the missing runs of `work.problems`, or sees that they will be made; counts
  /// them in `result`. Stops where the hooks say so.
  virtual void launch(const SweepWork& work, SweepResult& result) = 0;
};

struct LauncherInfo {
  std::string name, help;
  double patience_seconds;  ///< for a lock that another process holds
  std::unique_ptr<Launcher> (*make)();
};
const std::vector<LauncherInfo>& launchers();
/// Throws Error (kUsage) where there is none of this name.
const LauncherInfo& find_launcher(const std::string& name);

/// "5 s", "12 min", "1.5 h".
std::string duration_text(double seconds);

}  // namespace proxbench
