#pragma once
/// Stored results: what a run leaves on disk, and how it is read back. Plots and tables are made from this
/// alone.
///
///     OUT/config.ini               the resolved config
///     OUT/references/HASH.json     f* of one (data digest, lambda, mu): objective, kkt, nnz, how it was made
///     OUT/runs/RUN/summary.json    keys of DESIGN section 5, and "run": {experiment, dataset, lambda,
///     solver,
///                                  label, repetition, seed, options, data_digest, description,
///                                  reference_objective, reference_kkt, kkt_at_zero, time_limit,
///                                  max_iterations, cpu, cores}
///     OUT/runs/RUN/trace.csv
///     OUT/runs/RUN/model.tsv
///     OUT/figures/NAME.{svg,pdf,png,gp,tsv}, OUT/tables/NAME.{md,tex,csv}
///
/// RUN = DATASET-lambdaLAMBDA-LABEL-repREPETITION, in characters safe for file names.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/monitor.h"

namespace proxbench {

/// One stored run.
struct StoredRun {
  std::filesystem::path folder;
  std::string experiment;   ///< name in the config
  std::string dataset;      ///< name of the [data] section, e.g. "ocr-degree2"
  std::string description;  ///< the data in one line, e.g. "OCR, degree2, random split 6216/661, seed 1"
  std::string solver;       ///< registered name
  std::string label;        ///< name in the config, e.g. "prox-qn" or "prox-qn-m20"
  double lambda = 0.0;
  int repetition = 1;
  double reference_objective;  ///< f*; NaN where none is stored
  double reference_kkt;        ///< kkt of the reference, relative to that at w = 0
  nlohmann::json summary;      ///< the whole of summary.json
  std::vector<Sample> trace;
};

/// OUT/references/HASH.json of data with this digest ("0123456789abcdef").
std::filesystem::path reference_file(const std::filesystem::path& out, const std::string& data_digest,
                                     double lambda, double mu);

/// All runs below OUT/runs, with the f* that OUT/references holds now (it may have been made again, tighter,
/// since a run was stored; where it is gone, that of the run's summary), sorted by dataset, lambda, order of
/// labels in the config, repetition. Throws Error with file and line where a file is malformed, or where the
/// folder holds no run.
std::vector<StoredRun> read_results(const std::filesystem::path& out);

/// Trace columns: seconds, cpu_seconds, iteration, passes, objective, loss, nnz, working_set, kkt,
/// test_accuracy. What was not measured is an empty field.
std::string trace_header();
std::string trace_line(const Sample& sample);
std::vector<Sample> read_trace(const std::filesystem::path& file);

/// First clock time (linear interpolation is not used: the first sample) at which (objective - f*)/f* <=
/// target; NaN where never.
double seconds_to_target(const StoredRun& run, double target);

/// Writes text to `file` by way of a temporary name and rename; throws Error naming the file when it cannot.
void write_file_atomically(const std::filesystem::path& file, const std::string& text);
/// Makes the folder and those above it where they are missing; throws Error naming it when it cannot.
void make_folder(const std::filesystem::path& folder);

}  // namespace proxbench
