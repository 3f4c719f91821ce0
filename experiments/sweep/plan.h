#pragma once
/// Plans a sweep: the cells of its grid, the job of each cell, and which of them are already stored.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/oracle.h"
#include "experiments/base/paths.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Returns a job for each cell of the grid, in the order of the config, without a target to stop at. A job
/// and its folder have the name PROBLEM-LABEL-repREPETITION, where PROBLEM is DATASET-PENALTY
/// (RunPenalty::file_text()). Throws Error (kUsage) if two jobs would share a folder.
std::vector<RunParameters> plan_runs(const ExperimentConfig& config);
/// Returns the names of the problems of these runs, in their order.
std::vector<std::string> problem_names(const std::vector<RunParameters>& plan);

/// Returns a job that reads a data set of the config and describes it.
RunParameters data_job(const ExperimentConfig& config, const std::string& dataset);
/// Returns the job of the run that gives f* of a cell.
RunParameters reference_job(const ExperimentConfig& config, const RunParameters& cell);

/// Returns why the solver of a job cannot run with its start, its penalty and, if known, the oracle of its
/// data (core/solver.h). Returns an empty text if it can. Asks the adapters of external trainers.
std::string skip_reason(const RunParameters& job, const OracleInfo* oracle = nullptr);
/// Returns a sentence for each solver that cannot run on some of the problems (a data set with a penalty), as
/// far as this is known without the data. If `must_fit`, throws Error (kUsage) if a solver fits none of the
/// problems.
std::vector<std::string> notes_of_skipped_solvers(const ExperimentConfig& config, bool must_fit = false);

struct SweepOptions {
  bool force = false;     ///< make all runs and references again, even if they are stored
  bool replace = false;   ///< complete runs of other settings may be made again
  int jobs = 1;           ///< runs at a time; above 1: runs are stored as not comparable
  std::string only = "";  ///< name of the only problem whose runs are made; empty: all problems
  std::string key = "";   ///< what key_of() must return for this problem; empty: anything
  /// The number of CPUs of this process on a machine that it shares with others: runs are stored as not
  /// comparable, and are bound to CPUs only if the process can use no others. 0: the machine is not shared.
  int shared = 0;
};

/// The state of a cell before the sweep starts.
struct Cell {
  Run run;                       ///< parameters and key of the run that is asked for
  bool stored = false;           ///< a stored run serves: there is nothing to do
  std::string skipped;           ///< why the solver does not fit, as far as this is known without the data
  std::vector<std::string> why;  ///< why no stored run serves: "missing", "failed before: ...", ...
  std::vector<std::string> changes;  ///< the entries of `why` that would replace a complete run
  bool starts_again = false;         ///< an incomplete path, all of whose points are made again
  double wall_seconds;  ///< expected time: the time when last stored, else the limit; NaN: unknown
  std::pair<int, std::uint64_t> turn;  ///< runs with a smaller turn are made first

  const std::string& name() const { return run.parameters.name; }
};

/// One data set with one penalty or path.
struct SweepProblem {
  std::string name;              ///< the name of its runs without label and repetition
  std::vector<Cell> cells;       ///< in the order of the config
  std::optional<Run> reference;  ///< parameters and key of the run that gives f*; none: f* is not needed
  std::optional<Run> known_reference;  ///< the stored reference, if it serves
  bool lacks_reference = false;        ///< whether f* must be computed, for the first time or again
  std::string unread;                  ///< why a stored f* cannot be read

  /// Returns the cells that must be run, in the order in which they are made.
  std::vector<const Cell*> missing() const;
  /// Whether there is nothing to run.
  bool complete() const { return !lacks_reference && missing().empty(); }
};

/// Returns all problems of the config in its order, or only SweepOptions::only. Reads manifests and the bytes
/// of the data files, writes nothing. Throws Error if a file cannot be read, or (kUsage) if there is no such
/// problem.
std::vector<SweepProblem> inspect(const ExperimentConfig& config, const fs::path& out,
                                  const SweepOptions& options = {});

/// Says how many complete runs would be replaced, and which settings changed. Returns "" if no run would be
/// replaced.
std::string replacement_text(const std::vector<SweepProblem>& problems);

}  // namespace proxbench
