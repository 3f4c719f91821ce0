#pragma once
/// Stored results: what a run leaves on disk, and how it is read back. Plots and tables are made from this
/// alone.
///
///     OUT/config.ini               the resolved config
///     OUT/references/HASH.json     f* of one (data digest, lambda, mu, loss), and how it was made
///     OUT/runs/RUN/manifest.json   what the run was and what came of it, see below
///     OUT/runs/RUN/trace.csv
///     OUT/runs/RUN/model.tsv
///     OUT/runs/RUN/path.csv, model-NUMBER.tsv    of a path (path_file.h), for each of its penalties
///     OUT/figures/NAME.{svg,pdf,png,gp,tsv}, OUT/tables/NAME.{md,tex,csv}
///
/// RUN = DATASET-lambdaLAMBDA-LABEL-repREPETITION (paths: sweep/plan.h), in characters safe for file names.
///
/// A manifest holds the figures of fields.h (null where the run did not come so far) and
///
///     reason       why it failed, null where it did not
///     run          the parameters of fields.h, data_digest, description, reference_objective, reference_kkt,
///                  reference_gap, kkt_at_zero
///     timing       beside figures: comparable, not_comparable_because (null or text), cpus (list of
///                  numbers), environment (list of NAME=value, set for the process), memory_nodes (NUMA nodes
///                  that its memory was spread over; empty: it was not)
///     key          what a second `run` compares, see experiments/sweep/cache.h
///     provenance   where, when and with what it was made, see experiments/run/provenance.h; "machine" is
///                  {name, cpu, cores, id}

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/monitor.h"
#include "experiments/base/files.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// One stored run.
struct StoredRun {
  std::filesystem::path folder;
  std::string experiment;   ///< name in the config
  std::string dataset;      ///< name of the [data] section, e.g. "ocr-degree2"
  std::string description;  ///< the data in one line, e.g. "OCR, degree2, random split 6216/661, seed 1"
  std::string solver;       ///< registered name
  std::string label;        ///< name in the config, e.g. "prox-qn" or "prox-qn-m20"
  double lambda = 0.0;      ///< NaN where it is a path
  double mu = 0.0;          ///< the same
  Loss loss;
  std::string path;  ///< "path(max, 50, 50)"; empty: a run of a single penalty
  int repetition = 1;
  double reference_objective = std::numeric_limits<double>::quiet_NaN();  ///< f*; NaN where none is stored
  /// kkt of the reference, relative to that at w = 0; NaN where there is none.
  double reference_kkt = std::numeric_limits<double>::quiet_NaN();
  /// Proven relative gap of f*; NaN where it is not stored.
  double reference_gap = std::numeric_limits<double>::quiet_NaN();
  std::string status;      ///< "converged", "crashed(SIGSEGV)", ...; see failed_status()
  bool comparable = true;  ///< its timings with those of other runs on the same machine
  std::string machine;     ///< name of the machine; empty: not told
  nlohmann::json summary;  ///< the whole of manifest.json
  std::vector<Sample> trace;

  bool path_of_mu() const { return mu != mu; }
};

/// What read_file() expects of a file in OUT.
inline constexpr const char* kStoredResult = "a stored result";
/// "lambda = 1", "mu = 0.1", "lambda = 1, mu = 0.1"; of a path "lambda = path(max, 50, 50), mu = 0.1" and the
/// like, "hinge, mu = 1" with a hinge loss. What is 0 is left out.
std::string penalty_text(const StoredRun& run);
/// The same of a single penalty.
std::string problem_text(const Penalty& penalty, const Loss& loss);
/// The same data set, penalty and loss, so that values of F compare.
bool same_problem(const StoredRun& a, const StoredRun& b);

/// Whether a status tells of a run that did not come to an end of its own: out-of-memory, crashed(SIGNAL),
/// failed, skipped, interrupted. Others (converged, target-reached, gap-reached, stalled, max-iterations,
/// time-limit, diverged) are results.
bool failed_status(std::string_view status);

/// OUT/references/HASH.json of data with this digest ("0123456789abcdef").
std::filesystem::path reference_file(const std::filesystem::path& out, const std::string& data_digest,
                                     double lambda, double mu, const Loss& loss);

/// The name of the run's folder; of a run without one, what it would be.
std::string run_name(const StoredRun& run);

/// Runs of more than one machine, whose times are not to be mixed.
bool several_machines(const std::vector<StoredRun>& runs);
/// "unknown machine" where it was not told.
std::string machine_name(const StoredRun& run);
/// What runs are told apart by in tables and figures: the label, or "label @ machine" among several machines
/// (a label that says so already stays as it is).
std::string series_name(const StoredRun& run, bool among_several_machines);

/// Throws Error (kUsage) that names the runs whose timings are not comparable, where there are any;
/// `instead`: what the user can do.
void require_comparable(const std::vector<StoredRun>& runs, const std::string& instead);

/// The runs with these labels, in their order. Throws Error (kUsage) with a did-you-mean for a label that no
/// run has.
std::vector<StoredRun> runs_of_solvers(const std::vector<StoredRun>& runs,
                                       const std::vector<std::string>& labels);

/// All runs of single penalties below OUT/runs, with the f* that OUT/references holds now (it may have been
/// made again, tighter, since a run was stored; where it is gone, that of the run's summary), sorted by
/// dataset, lambda, mu, order of labels in the config, repetition. A run that failed may have no trace, and
/// where its process died while it wrote one, the half line at its end is left out. Throws Error with file
/// and line where a file is malformed, or where the folder holds no such run.
std::vector<StoredRun> read_results(const std::filesystem::path& out);
/// The same of all runs, paths behind the others of their data set.
std::vector<StoredRun> read_all_runs(const std::filesystem::path& out);

/// Removes the runs whose data set or solver OUT/config.ini does not have, as an earlier config may have left
/// them: tables and figures show what the config asks for. Returns one line that names what was left out, or
/// nothing. Where there is no config, or one without such sections, all stay. Throws Error where none is
/// left.
std::string leave_out_strangers(const std::filesystem::path& out, std::vector<StoredRun>& runs);

/// One of them; `run_folder` is OUT/runs/RUN.
StoredRun read_run(const std::filesystem::path& out, const std::filesystem::path& run_folder);

/// The columns of trace_columns(). What was not measured is an empty field. Traces of earlier versions,
/// without updates, gap or test_metrics, are read as well.
std::string trace_header();
std::string trace_line(const Sample& sample);
std::vector<Sample> read_trace(const std::filesystem::path& file);
/// One line of it. Throws Error, under the name of the file and its line.
Sample parse_trace_line(const std::string& line, const std::filesystem::path& file, std::uint64_t number);

/// (F - f*) / |f*|.
double relative_difference(double objective, double reference);

/// Bound on (f - min F)/f at the run's reference w, the smaller of two: its certified gap; and F being
/// convex, F(w) - min F <= kkt*(||w||_1 + ||w*||_1), where lambda*||w||_1 <= F(w), together 2*kkt/lambda. At
/// least 1e-15, which is rounding. NaN where the run lacks a reference, or both. A difference to f* below it
/// says nothing.
double reference_bound(const StoredRun& run);

/// What a run paid until a target: more than `from` and no more than `to`.
struct CostRange {
  double from, to;
};
/// Whether the two are more than a tenth of the second apart, so that one number would say too much.
bool is_wide(const CostRange& range);
/// `cost` at the first sample with (objective - f*)/|f*| <= target, and at the sample before it (at the first
/// of all twice that of the first): nothing is interpolated. Infinity twice where there is none. NaN twice
/// where the run has no f*.
CostRange cost_to_target(const StoredRun& run, double target, double (*cost)(const Sample&));
double sample_seconds(const Sample& sample);

}  // namespace proxbench
