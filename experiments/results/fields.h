#pragma once
/// A run, a sample of its trace and a point of a lambda path: one record each, and a table of its fields.
/// Each table writes its record and reads it back. Manifests, job files, references, the summaries of `train`
/// and `certify`, exports, trace.csv and the tables in README.md follow from these tables: one more figure is
/// one more member and one more row.

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/monitor.h"
#include "experiments/base/json_members.h"
#include "experiments/base/numbers.h"
#include "experiments/config/data_format.h"
#include "experiments/config/option_docs.h"

namespace proxbench {

/// What a run is: all that decides its result and how long it takes. Names and texts as in a config; see
/// config_sections() for what the values mean.
struct RunParameters {
  std::string name;                        ///< for messages
  std::string experiment, dataset, label;  ///< of a sweep; empty elsewhere
  int repetition = 1;
  std::string format, decoding;
  std::string oracle;  ///< in place of the format's; empty: that
  DataFiles files;     ///< absolute
  std::map<std::string, std::string> data_options;
  std::string solver;  ///< registered name; empty: read the data, describe them, and train nothing
  std::map<std::string, std::string> solver_options;
  std::string start;  ///< absolute, a model file to start from; empty: w = 0
  std::string path;   ///< path(...) in the place of lambda or mu; empty: a single penalty
  bool path_of_mu = false;
  double lambda = 1.0, mu = 0.0;
  Loss loss;
  double tol = 1e-6;
  double gap_target = 0.0;    ///< stop where this relative gap is proven; 0: do not look
  bool gap_by_count = false;  ///< look for it when iterations, not seconds, have grown: MonitorOptions
  double tighten = 0.0;       ///< relative gap to go on for after the run, while time_limit lasts; 0: do not
  double time_limit = 0.0;    ///< seconds on the clock; 0: no limit
  std::int64_t max_iterations = 0;       ///< 0: no limit
  double objective_target = -kInfinity;  ///< stop where F <= this
  bool sample_kkt = false;
  bool profile = false;  ///< tell how the time was spent: for `proxbench scale`, never in a sweep
  double sampling_budget = MonitorOptions{}.sampling_budget;  ///< share of the clock
  /// Wall seconds of inference and full gradients at w = 0 before the run, so that threads exist and caches
  /// and the processor's frequency are warm. Off the clock.
  double warm_up = 0.0;
  bool drop_features = true;  ///< those that can never enter (core/data/reduction.h); off: for comparison
  std::uint64_t seed = 1;
  int threads = 1, processes = 1;
  std::string backend = "openmp";
  std::vector<std::string> plugins;  ///< absolute
};

/// One phase of a run that was profiled.
struct PhaseCost {
  std::string phase;  ///< phase_name()
  std::int64_t calls = 0;
  double seconds = 0.0;
  double loop_seconds = 0.0;  ///< of these, in parallel loops
  double flops = 0.0, bytes = 0.0;
  std::int64_t sums = 0;   ///< over instances
  double sum_bytes = 0.0;  ///< of their results

  static auto members() {
    return std::tuple(std::pair("phase", &PhaseCost::phase), std::pair("calls", &PhaseCost::calls),
                      std::pair("seconds", &PhaseCost::seconds),
                      std::pair("loop_seconds", &PhaseCost::loop_seconds),
                      std::pair("flops", &PhaseCost::flops), std::pair("bytes", &PhaseCost::bytes),
                      std::pair("sums", &PhaseCost::sums), std::pair("sum_bytes", &PhaseCost::sum_bytes));
  }
};

/// How the search for a better bound ended that follows a run (run/tighten.h).
struct TightenEnd {
  Status status = Status::kConverged;
  double gap_target = 0.0;
  std::int64_t iterations = 0;
  double seconds = 0.0;
};

/// What came of a run. NaN and none: not measured, or it does not apply.
struct RunFigures {
  std::optional<Status> status;  ///< of the solver
  /// How a run ended that did not come to its end: "crashed(SIGSEGV)", "out-of-memory", "skipped(...)".
  std::string failure;
  std::string reason;  ///< why it failed or was stopped
  std::optional<std::uint64_t> d, instances, positions, outputs, features, features_kept, nonzeros,
      matrix_bytes;
  /// Of w, from an objective that the solver never saw, with the best lower bound that any sample gave.
  Certificate certificate{.objective = kNaN, .loss = kNaN, .l1 = kNaN, .kkt = kNaN, .dual = kNaN};
  double kkt_at_zero = kNaN;
  std::optional<std::int64_t> iterations;
  double passes = kNaN, updates = kNaN, seconds = kNaN, cpu_seconds = kNaN;
  std::optional<std::uint64_t> peak_rss_bytes;
  double test_accuracy = kNaN;
  std::map<std::string, double> test_metrics;  ///< all that apply
  std::optional<Audits> audits;
  std::map<std::string, double> notes;  ///< SolveResult::notes
  std::vector<PhaseCost> phases;        ///< of a profiled run
  std::optional<TightenEnd> tighten;
  // Of a path.
  double lambda_max = kNaN;
  std::optional<std::uint64_t> points_done, points_asked, violations;
  std::optional<std::int64_t> rounds;
  std::string data_digest, description, oracle;
  std::string trainer;                ///< "CRFsuite 0.12.2": of a program of its own; empty: of a solver here
  std::vector<std::string> warnings;  ///< what a reader of results should know of it, a sentence each
  // Wall seconds off the clock.
  double load_seconds = kNaN, setup_seconds = kNaN, warm_up_seconds = kNaN, sampling_seconds = kNaN,
         gap_seconds = kNaN, certify_seconds = kNaN, wall_seconds = kNaN;

  /// kkt / kkt_at_zero; 0 where both are.
  double relative_kkt() const { return certificate.kkt == 0.0 ? 0.0 : certificate.kkt / kkt_at_zero; }
  /// Nonzero weights; NaN if the run did not end with weights.
  double nonzeros_found() const {
    return std::isnan(certificate.objective) ? kNaN : static_cast<double>(certificate.nnz);
  }
};

/// The value, or NaN if there is none.
template <class Count>
double number_or_nan(const std::optional<Count>& count) {
  return count ? static_cast<double>(*count) : kNaN;
}

/// What decides beside its parameters whether a stored run is the run that is asked for: digests of bytes.
struct RunKey {
  std::string digest;           ///< over all of it and the parameters that decide
  std::string data;             ///< of the files of the data set
  std::string program;          ///< of the code that decides results, and the plug-ins
  std::string start;            ///< of the model that the solver starts from; empty: none
  std::string instruction_set;  ///< of the hot loops: results differ within rounding
  double stop_at = 0.0;         ///< relative difference to f* at which the run stops; 0: it does not
};

/// What the launcher of a run knows about its timing.
struct Timing {
  bool comparable = true;
  std::string not_comparable_because;
  std::vector<int> cpus, memory_nodes;
  std::vector<std::string> environment;
};

/// f* of the run's problem and how exact it is. NaN: there is none.
struct BestKnown {
  double objective = kNaN, relative_kkt = kNaN, relative_gap = kNaN, kkt_at_zero = kNaN;
};

/// Where, when and with what a run was made. A text that cannot be read is "unavailable", a number 0.
struct Provenance {
  // The program.
  std::string version, git_revision, git_dirty, compiler, flags, build_type, instruction_set;
  // The machine.
  std::string machine, cpu, caches, id, kernel, os;
  std::uint64_t cores = 0, memory_bytes = 0;
  std::map<std::string, std::string> libraries, settings;
  std::string command, time, governor;
  std::vector<double> load;   ///< averages over 1, 5 and 15 minutes
  std::vector<int> affinity;  ///< CPUs that the process may run on
  std::map<std::string, std::string> slurm;
};

/// One penalty of a path. Counts and times of the solver and of the path's own work.
struct PathPoint {
  std::uint64_t number = 0;  ///< from 1
  double lambda = 0.0, mu = 0.0;
  Certificate certificate = {};  ///< over all coordinates, with the best lower bound that its solves gave
  double kkt_target = 0.0;       ///< what kkt was to come down to
  double seconds = 0.0;          ///< on the clock, since the path began
  double cpu_seconds = 0.0;      ///< the same
  std::int64_t iterations = 0;
  double passes = 0.0, updates = kNaN;
  std::uint64_t candidates = 0;  ///< coordinates that the solver saw last
  std::uint64_t violations = 0;  ///< coordinates that the strong rule had wrongly left out
  std::int64_t rounds = 0;       ///< solves: 1 + those after a violation; 0: w = 0 needed none
  double test_accuracy = kNaN;
  std::map<std::string, double> test_metrics = {};  ///< the other metrics
  Status status = Status::kConverged;
};

/// One run: everything that its manifest says, its trace, and the points of a path.
struct Run {
  std::filesystem::path folder;  ///< where it is stored; empty: nowhere
  RunParameters parameters;
  RunKey key;
  RunFigures result;
  Timing timing;
  BestKnown best;
  Provenance provenance;
  // In files of their own.
  std::vector<Sample> trace;
  std::vector<PathPoint> points;  ///< of a path, those that were done

  bool is_path() const { return !parameters.path.empty(); }
  /// How it ended: "converged", "crashed(SIGSEGV)"; empty: it has not run.
  std::string status() const;
  void set_status(const std::string& text);
  /// Whether it did not come to an end of its own.
  bool failed() const;
  bool reached_tolerance() const {
    return result.status == Status::kConverged || result.status == Status::kGapReached;
  }
};

/// What is expected of a file among stored results.
inline constexpr const char* kStoredResult = "a stored result";

enum class FieldType { kText, kCount, kReal, kTruth, kJson };

/// Each use includes those before it.
enum class FieldUse {
  kRecord,   ///< in the record's own JSON
  kColumn,   ///< a column of exports
  kSummary,  ///< in the summary of `train`; null in that of `certify`
  kModel     ///< in the summary of `certify`
};

template <class Record>
struct Field {
  std::string section;  ///< the object of the JSON that holds it, "run.data"; empty: the topmost
  std::string name;
  std::string unit;  ///< empty: none
  FieldType type;
  FieldUse use;
  std::string help;
  nlohmann::ordered_json (*get)(const Record&);       ///< null: not measured, or it does not apply
  void (*set)(Record&, const nlohmann::json& value);  ///< null: follows from other fields
};

const std::vector<Field<Run>>& run_fields();
/// The columns of trace.csv, in order.
const std::vector<Field<Sample>>& trace_columns();
/// The columns of path.csv, in order.
const std::vector<Field<PathPoint>>& path_columns();

/// What a manifest, a job file or a reference says of a run.
nlohmann::ordered_json run_json(const Run& run);
/// Reads it back. `source` names it in messages. Throws Error (kInput) where it is of another version, or a
/// field is missing or of another type.
Run run_from(const nlohmann::json& json, const std::string& source);
/// The parameters alone.
nlohmann::ordered_json parameters_json(const RunParameters& parameters);
/// The summary of `train` and `certify` with all keys topmost.
nlohmann::ordered_json summary_json(const RunParameters& parameters, const RunFigures& figures);

/// The name of a field as a column beside all others: "nnz", "reference_objective", "machine_name".
std::string column_name(const Field<Run>& field);

/// The tables in Markdown: "fields:parameters", "fields:figures", "fields:trace", "fields:path".
std::vector<DocBlock> field_blocks();

}  // namespace proxbench
