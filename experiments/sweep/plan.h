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

/// One cell of the grid; the pointers are into the config.
struct PlannedRun {
  const DataConfig* data;
  double lambda;  ///< 0 where it is a path
  double mu;      ///< the same
  Loss::Kind loss;
  const SolverConfig* solver;
  int repetition;                  ///< from 1
  const PathGrid* path = nullptr;  ///< null: a single penalty

  /// The name of its folder: DATASET-lambdaLAMBDA-LABEL-repREPETITION,
  /// DATASET-path-START-END-COUNT-LABEL-repREPETITION, or
  /// DATASET-lambdaLAMBDA-mu-path-START-END-COUNT-LABEL-repREPETITION.
  std::string name() const;
  /// What it shares with the runs on the same data at the same penalty: the name without LABEL and
  /// REPETITION.
  std::string problem_name() const;
  /// Its lambda or mu, or the path over it, as the config has them.
  nlohmann::ordered_json lambda_json() const;
  nlohmann::ordered_json mu_json() const;
  bool same_problem(const PlannedRun& other) const {
    return data == other.data && lambda == other.lambda && path == other.path;  // a config has one mu
  }
};

/// The grid in the order of the config. Throws Error (kUsage) where two cells would share a folder.
std::vector<PlannedRun> plan_runs(const ExperimentConfig& config);

struct SweepOptions {
  bool force = false;              ///< run all, references too, whatever is stored
  int jobs = 1;                    ///< runs at a time; above 1 they are stored as not comparable
  std::string launcher = "local";  ///< one of launchers() (launcher.h)
  bool wait = false;               ///< for jobs that outlive this process: until they have ended
};

/// What a sweep finds of a cell before it starts.
struct CellState {
  PlannedRun cell;
  RunKey key;
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
/// The job of a cell, without a target to stop at.
RunParameters run_job(const ExperimentConfig& config, const PlannedRun& cell);
/// The run that gives f*.
RunParameters reference_job(const ExperimentConfig& config, const DataConfig& data, double lambda);

/// Digests of the program and of the files of data sets, each read once. Throws Error where one cannot be.
class Digests {
 public:
  explicit Digests(const ExperimentConfig& config);
  const std::string& program() const { return program_; }
  const std::string& source(const DataConfig& data);

 private:
  const ExperimentConfig& config_;
  std::string program_;
  std::map<std::string, std::string> sources_;
};

/// Why the solver of a job cannot run with its start, its penalty and, where it is known, with the oracle of
/// its data (core/solver.h); empty: it can.
std::string unmet_needs(const RunParameters& job, const OracleInfo* oracle = nullptr);

CellState inspect_cell(const ExperimentConfig& config, const std::filesystem::path& out,
                       const PlannedRun& cell, const SweepOptions& options, Digests& digests);

}  // namespace proxbench
