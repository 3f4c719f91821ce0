#pragma once
/// What a sweep has to do: the cells of its grid, the job of each, and what of them is stored already.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/oracle.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"
#include "experiments/sweep/cache.h"

namespace proxbench {

/// Status of a cell whose solver cannot run with its penalty or oracle: no failure, and not tried again.
inline constexpr const char* kDoesNotFit = "skipped(the solver does not fit)";

/// The grid in the order of the config: a job for each cell, without a target to stop at. The name of a job
/// is that of its folder: DATASET-lambdaLAMBDA-LABEL-repREPETITION,
/// DATASET-path-START-END-COUNT-LABEL-repREPETITION, or
/// DATASET-lambdaLAMBDA-mu-path-START-END-COUNT-LABEL-repREPETITION. Throws Error (kUsage) where two would
/// share a folder.
std::vector<RunParameters> plan_runs(const ExperimentConfig& config);
/// The name of a job without LABEL and REPETITION: what the runs on the same data at the same penalty share.
std::string problem_name(const RunParameters& job);

struct SweepOptions {
  bool force = false;              ///< run all, references too, whatever is stored
  int jobs = 1;                    ///< runs at a time; above 1 they are stored as not comparable
  std::string launcher = "local";  ///< one of launchers() (launcher.h)
  bool wait = false;               ///< for jobs that outlive this process: until they have ended
};

/// What a sweep finds of a cell before it starts.
struct CellState {
  Run run;                       ///< parameters and key of the run that is asked for
  bool stored = false;           ///< there is a run that is served: nothing to do
  std::string skipped;           ///< why its solver does not fit, as far as that is known without the data
  std::vector<std::string> why;  ///< why not, a text each: "missing", "failed before: ...", "config tol: ..."
  bool begins_anew = false;      ///< a path that came to some of its points, all of which are made again
  double wall_seconds;  ///< what it may take: the time it took when last stored, else its limit; NaN:
                        ///< nothing is known
};

/// The state of every cell, in the order of plan_runs(). Reads manifests and the bytes of the data files,
/// writes nothing. Throws Error where a file cannot be read.
std::vector<CellState> inspect_cells(const ExperimentConfig& config, const std::filesystem::path& out,
                                     const SweepOptions& options = {});

/// A job that reads the data and describes them.
RunParameters data_job(const ExperimentConfig& config, const DataConfig& data);
/// That of the data of a cell.
RunParameters data_job(const ExperimentConfig& config, const RunParameters& cell);
/// The run that gives f* of a cell of the grid.
RunParameters reference_job(const ExperimentConfig& config, const RunParameters& cell);

/// Digests of the program and of the files of data sets, each read once. Throws Error where one cannot be.
class Digests {
 public:
  explicit Digests(const ExperimentConfig& config);
  const std::string& program() const { return program_; }
  /// Of the data set of a job.
  const std::string& source(const RunParameters& job);

 private:
  std::string program_;
  std::map<std::string, std::string> sources_;
};

/// Why the solver of a job cannot run with its start, its penalty and, where it is known, with the oracle of
/// its data (core/solver.h); empty: it can.
std::string unmet_needs(const RunParameters& job, const OracleInfo* oracle = nullptr);

CellState inspect_cell(const ExperimentConfig& config, const std::filesystem::path& out,
                       const RunParameters& cell, const SweepOptions& options, Digests& digests);

}  // namespace proxbench
