#pragma once
/// The records of a run, of a sample of its trace and of a point of a lambda path, each with a table of its
/// fields. Each table writes its record and reads it back. It also defines manifests, job files, references,
/// the summaries of `train` and `certify`, exports, trace.csv and the tables in README.md. A new measurement
/// needs only one more member and one more row.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/monitor/monitor.h"
#include "experiments/base/json_values.h"
#include "experiments/base/paths.h"
#include "experiments/config/penalty_path.h"
#include "experiments/config/run_settings.h"

namespace proxbench {

// run_fields(), trace_columns() and path_columns() say what each member of the records means, and its unit.

/// Everything that decides the result of a run and the time it takes. Names and texts are written as in a
/// config; config_sections() documents the values. A sweep sets experiment, dataset and label. Files, `start`
/// and plug-ins are absolute paths.
struct RunParameters : RunData, RunSettings, RunPenalty {
  std::string name, experiment, dataset, label;
  int repetition = 1;
  std::map<std::string, std::string> data_options;
  /// A registered name. If it is empty, the job only reads and describes the data.
  std::string solver;
  std::map<std::string, std::string> solver_options;
  double tighten = 0.0;
  double objective_target = -kInfinity;
  bool drop_features = true;
  std::vector<std::string> plugins;
};

/// One phase of a profiled run. `loop_seconds` is the part of `seconds` that was spent in parallel loops.
/// `sums` is the number of sums over instances, and `sum_bytes` is the size of their results.
struct PhaseCost {
  std::string phase;  ///< phase_name()
  std::int64_t calls = 0;
  double seconds = 0.0, loop_seconds = 0.0, flops = 0.0, bytes = 0.0;
  std::int64_t sums = 0;
  double sum_bytes = 0.0;

  static const Schema<PhaseCost>& schema();
};

/// The end of the search for a better bound that follows a run (run/tighten.h).
struct TightenEnd {
  Status status = Status::kConverged;
  double gap_target = 0.0;
  std::int64_t iterations = 0;
  double seconds = 0.0;

  static const Schema<TightenEnd>& schema();
};
/// The results of a run. NaN or no value: not measured, or not applicable.
struct RunFigures {
  std::optional<Status> status;
  std::string status_detail;  ///< in parentheses behind the status: "SIGSEGV" of crashed(SIGSEGV)
  std::string reason;
  std::optional<std::uint64_t> d, instances, positions, outputs, features, features_kept, nonzeros,
      matrix_bytes;
  /// The certificate of w, computed by an objective that the solver never saw. It has the best lower bound of
  /// all samples.
  Certificate certificate{.objective = kNaN, .loss = kNaN, .l1 = kNaN, .kkt = kNaN, .dual = kNaN};
  double kkt_at_zero = kNaN;
  std::optional<std::int64_t> iterations;
  double passes = kNaN, updates = kNaN, seconds = kNaN, cpu_seconds = kNaN;
  std::optional<std::uint64_t> peak_rss_bytes;
  double test_accuracy = kNaN;
  std::map<std::string, double> test_metrics;
  std::optional<std::int64_t> audits;
  double audit_max_difference = kNaN;
  std::map<std::string, double> notes;
  std::vector<PhaseCost> phases;
  std::optional<TightenEnd> tighten;
  // Only of a path.
  double lambda_max = kNaN;
  std::optional<std::uint64_t> points_done, points_asked, violations;
  std::optional<std::int64_t> rounds;
  std::string data_digest, description, oracle, trainer;
  std::vector<std::string> warnings;
  // Wall seconds that the clock does not count.
  double load_seconds = kNaN, setup_seconds = kNaN, warm_up_seconds = kNaN, sampling_seconds = kNaN,
         gap_seconds = kNaN, certify_seconds = kNaN, wall_seconds = kNaN;

  /// kkt / kkt_at_zero; 0 if both are 0.
  double relative_kkt() const { return certificate.kkt == 0.0 ? 0.0 : certificate.kkt / kkt_at_zero; }
};

/// A stored run is used again if its parameters and this key are those of the requested run. Texts are
/// digests of bytes. Results of different instruction sets differ within rounding.
struct RunKey {
  std::string digest, data, program, start, instruction_set;
  double stop_at = 0.0;
};

/// Facts about the timing of a run, known to the launcher.
struct Timing {
  bool comparable = true;
  std::string not_comparable_because;
  std::vector<int> cpus, memory_nodes;
  std::vector<std::string> environment;
};

/// f* of the run's problem, and how exact it is. NaN if there is none.
struct BestKnown {
  double objective = kNaN, relative_kkt = kNaN, relative_gap = kNaN, kkt_at_zero = kNaN,
         relative_bound = kNaN;
};

/// Where, when and with which program a run was made. A text that cannot be read is "unavailable", and a
/// number is 0.
struct Provenance {
  // The program.
  std::string version, git_revision, git_dirty, compiler, flags, build_type, instruction_set;
  // The machine.
  std::string machine, cpu, caches, id, kernel, os;
  std::uint64_t cores = 0, memory_bytes = 0;
  std::map<std::string, std::string> libraries, settings;
  std::string command, time, governor;
  std::vector<double> load;
  std::vector<int> affinity;
  std::map<std::string, std::string> slurm;
};

/// One penalty of a path. Counts and times include the solver's and the path's own work. The certificate is
/// over all coordinates, with the best lower bound of the point's solves.
struct PathPoint {
  std::uint64_t number = 0;
  double lambda = 0.0, mu = 0.0;
  Certificate certificate = {};
  double kkt_target = 0.0, seconds = 0.0, cpu_seconds = 0.0;
  std::int64_t iterations = 0;
  double passes = 0.0, updates = kNaN;
  std::uint64_t candidates = 0, violations = 0;
  std::int64_t rounds = 0;
  double test_accuracy = kNaN;
  std::map<std::string, double> test_metrics = {};
  Status status = Status::kConverged;
};

/// One run: everything that its manifest says, its trace, and the points of a path.
struct Run {
  RunParameters parameters;
  RunKey key;
  RunFigures result;
  Timing timing;
  BestKnown best;
  Provenance provenance;

  bool is_path() const { return parameters.path.has_value(); }
  /// How the run ended, e.g. "converged" or "crashed(SIGSEGV)"; empty if it has not run.
  std::string status() const;
  /// Throws Error if no status has this name.
  void set_status(const std::string& text);
  /// Whether the run failed, diverged or was interrupted.
  bool failed() const;
};

/// The expected content of a file, in error messages about stored results.
inline constexpr const char* kStoredResult = "a stored result";

/// The record of a run. Each row has the section and the name of its field. A field has null if its value was
/// not measured or is not applicable.
const Schema<Run>& run_fields();
/// The columns of trace.csv, in order.
const Schema<Sample>& trace_columns();
/// The columns of path.csv, in order.
const Schema<PathPoint>& path_columns();

/// The JSON of a manifest, a job file or a reference.
nlohmann::ordered_json run_json(const Run& run);
/// Reads this JSON. `source` names it in messages. Throws Error (kInput) if it has another version, or if a
/// field is missing or has another type.
Run run_from(const nlohmann::json& json, const std::string& source);
/// The JSON of the parameters only.
nlohmann::ordered_json parameters_json(const RunParameters& parameters);
/// The summary of `train` and `certify`, with all keys at the top level.
nlohmann::ordered_json summary_json(const RunParameters& parameters, const RunFigures& figures);

/// The column name of a field in exports, e.g. "nnz", "reference_objective", "machine_name".
std::string column_name(const OptionSpec& field);

/// The three tables as JSON, for programs that read records: run, trace and path. Each row has section, name,
/// type, unit, help and, for a run, column (its name in exports) and use (FieldUse: record, column, summary
/// or model). Also record_version, the statuses of runs that did not fail, and the phases of profiled runs.
nlohmann::ordered_json fields_json();

}  // namespace proxbench
