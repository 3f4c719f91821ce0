#pragma once
/// What a sweep has to do: the cells of its grid, the job of each, and what of them is stored already.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/oracle.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"
#include "experiments/results/reference.h"

namespace proxbench {

/// The grid in the order of the config: a job for each cell, without a target to stop at. The name of a job
/// is that of its folder: DATASET-lambdaLAMBDA-LABEL-repREPETITION,
/// DATASET-path-START-END-COUNT-LABEL-repREPETITION, or
/// DATASET-lambdaLAMBDA-mu-path-START-END-COUNT-LABEL-repREPETITION. Throws Error (kUsage) where two would
/// share a folder.
std::vector<RunParameters> plan_runs(const ExperimentConfig& config);

/// A job that reads a data set of the config and describes it.
RunParameters data_job(const ExperimentConfig& config, const std::string& dataset);
/// The run that gives f* of a cell of the grid.
RunParameters reference_job(const ExperimentConfig& config, const RunParameters& cell);

/// Why the solver of a job cannot run with its start, its penalty and, where it is known, with the oracle of
/// its data (core/solver.h); empty: it can.
std::string unmet_needs(const RunParameters& job, const OracleInfo* oracle = nullptr);

struct SweepOptions {
  bool force = false;              ///< run all, references too, whatever is stored
  int jobs = 1;                    ///< runs at a time; above 1 they are stored as not comparable
  std::string launcher = "local";  ///< one of launchers() (sweep.h)
  bool wait = false;               ///< for jobs that outlive this process: until they have ended
};

/// What a sweep finds of a cell before it starts.
struct Cell {
  Run run;                       ///< parameters and key of the run that is asked for
  bool stored = false;           ///< there is a run that is served: nothing to do
  std::string skipped;           ///< why its solver does not fit, as far as that is known without the data
  std::vector<std::string> why;  ///< why not, a text each: "missing", "failed before: ...", "config tol: ..."
  bool begins_anew = false;      ///< a path that came to some of its points, all of which are made again
  double wall_seconds;  ///< what it may take: the time it took when last stored, else its limit; NaN:
                        ///< nothing is known
  std::pair<int, std::uint64_t> turn;  ///< the smaller, the sooner the run is made

  const std::string& name() const { return run.parameters.name; }
};

/// One data set and penalty, or path.
struct SweepProblem {
  std::string name;                    ///< that of its runs without label and repetition
  std::string dataset;                 ///< its name in the config
  std::vector<Cell> cells;             ///< in the order of the config
  std::optional<Run> reference;        ///< parameters and key of the run that gives f*; none: there is no f*
  std::optional<Run> known_reference;  ///< that run as it is stored, where it serves
  bool lacks_reference = false;        ///< f* is to be found, for the first time or again
  std::string unread;                  ///< why a stored f* cannot be read

  /// The cells that have to be run, in the order in which they are made.
  std::vector<const Cell*> missing() const;
};

/// All problems of the config in its order, or only that of this name. Reads manifests and the bytes of the
/// data files, writes nothing. Throws Error where a file cannot be read.
std::vector<SweepProblem> inspect(const ExperimentConfig& config, const std::filesystem::path& out,
                                  const SweepOptions& options = {}, const std::string& only = "");

}  // namespace proxbench
