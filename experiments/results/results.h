#pragma once
/// Stored results: the files of runs, and functions that read them. The Python package reads nothing else.
///
///     OUT/config.ini               the resolved config
///     OUT/references/PROBLEM.json  f* of one data set and penalty, and how it was made
///     OUT/runs/RUN/manifest.json   the record of the run, see below
///     OUT/runs/RUN/trace.csv
///     OUT/runs/RUN/model.tsv
///     OUT/runs/RUN/path.csv, model-NUMBER.tsv    of a path, for each of its penalties
///     OUT/figures/NAME.{svg,pdf,png,csv}, OUT/tables/NAME.{md,tex,csv}    by the Python package
///
/// RUN = PROBLEM-LABEL-repREPETITION with PROBLEM = DATASET-lambdaLAMBDA (for paths, see sweep/plan.h). All
/// characters are safe for file names.
///
/// A manifest and a reference are records of a Run (fields.h).

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/monitor/monitor.h"
#include "experiments/base/files.h"
#include "experiments/base/paths.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"

namespace proxbench {

using Json = nlohmann::ordered_json;

inline constexpr const char* kManifestFile = "manifest.json";

/// Data set, penalty and loss. Values of F can be compared only between runs with equal keys.
using ProblemKey = std::tuple<std::string, Penalty, Loss>;
ProblemKey problem_of(const Run& run);

/// Returns the name of a run's problem: the run's name without label and repetition.
std::string problem_name(const RunParameters& run);
/// OUT/references/PROBLEM.json.
fs::path reference_file(const fs::path& out, const std::string& problem);
/// Returns the stored reference of this problem, or none if no reference has the data, penalty and loss of
/// `run`. Throws Error if it cannot be read.
std::optional<Run> find_reference(const fs::path& out, const std::string& problem, const Run& run);

/// Reads the record of a run; `run_folder` is OUT/runs/RUN. f* is taken from OUT/references, since a tighter
/// one may have been found after the run was stored; if it is missing there, it is that of the record. Throws
/// Error that names the file.
Run read_run(const fs::path& out, const fs::path& run_folder);
/// Reads the record in a file. Throws Error that names the file.
Run read_record(const fs::path& file);
/// Does the same, but returns none if there is no such file or it cannot be read. `problem` is then "missing"
/// or the error.
std::optional<Run> find_record(const fs::path& file, std::string& problem);
void write_record(const fs::path& file, const Run& run);
/// Returns the folders of complete runs below OUT/runs, sorted.
std::vector<fs::path> run_folders(const fs::path& out);

/// Throws Error, with file and line, if the file is malformed.
std::vector<Sample> read_trace(const fs::path& file);

// The reference run of one (data, penalty, loss), whose F is f*.

/// The part of a reference that is copied into the records of its problem's runs.
BestKnown best_of(const Run& reference);

/// Returns the smaller of two bounds on F(w) - min F. The first is the certified gap. The second, for lambda
/// > 0, is kkt * (||w||_1 + F(w)/lambda): since F is convex, F(w) - F(w*) <= kkt * ||w - w*||_1, and
/// lambda*||w*||_1 <= F(w).
double slack(const Run& reference);
/// slack() / F; infinite if neither bound is known.
double relative_bound(const Run& reference);

/// Whether the time limit ended the reference run. Only then can another run on the same data find another
/// f*.
bool ended_by_time_limit(const Run& reference);

/// Whether the reference is as exact as the config asks, or as exact as a new run would make it.
bool serves(const Run& reference, const ExperimentConfig& config);

}  // namespace proxbench
