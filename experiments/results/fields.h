#pragma once
/// What a run is, what came of it, the rows of its trace and the points of a path: a record each, and a table
/// of its fields. Job files, manifests, the summaries of `train` and `certify`, the SQLite index, the CSV
/// export, trace.csv and the tables in README.md follow from these tables: one more figure is one more member
/// and row.

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/monitor.h"
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
  std::int64_t max_iterations = 0;                                     ///< 0: no limit
  double objective_target = -std::numeric_limits<double>::infinity();  ///< stop where F <= this
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

/// What came of a run. NaN and none: not measured, or it does not apply.
struct RunFigures {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::optional<Status> status;
  std::optional<std::uint64_t> d, instances, positions, outputs, features, features_kept, nonzeros,
      matrix_bytes;
  /// Of w, from an objective that the solver never saw, with the best lower bound that any sample gave.
  Certificate certificate{.objective = kNone, .loss = kNone, .l1 = kNone, .kkt = kNone, .dual = kNone};
  double kkt_at_zero = kNone;
  std::optional<std::int64_t> iterations;
  double passes = kNone, updates = kNone, seconds = kNone, cpu_seconds = kNone;
  std::optional<std::uint64_t> peak_rss_bytes;
  double test_accuracy = kNone;
  nlohmann::ordered_json test_metrics;  ///< all that apply, by name
  std::optional<Audits> audits;
  std::map<std::string, double> notes;  ///< SolveResult::notes
  nlohmann::ordered_json phases;        ///< of a profiled run: phases_json()
  nlohmann::ordered_json tighten;       ///< how the search for a better bound after the run ended
  // Of a path.
  double lambda_max = kNone;
  std::optional<std::uint64_t> points_done, points_asked, violations;
  std::optional<std::int64_t> rounds;
  std::string data_digest, description, oracle;
  // Wall seconds off the clock.
  double load_seconds = kNone, setup_seconds = kNone, warm_up_seconds = kNone, sampling_seconds = kNone,
         gap_seconds = kNone, certify_seconds = kNone, wall_seconds = kNone;

  /// kkt / kkt_at_zero; 0 where both are.
  double relative_kkt() const { return certificate.kkt == 0.0 ? 0.0 : certificate.kkt / kkt_at_zero; }
};

/// One penalty of a path. Counts and times of the solver and of the path's own work.
struct PathPoint {
  double lambda = 0.0, mu = 0.0;
  Certificate certificate = {};  ///< over all coordinates, with the best lower bound that its solves gave
  double kkt_target = 0.0;       ///< what kkt was to come down to
  double seconds = 0.0;          ///< on the clock, since the path began
  double cpu_seconds = 0.0;      ///< the same
  std::int64_t iterations = 0;
  double passes = 0.0, updates = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t candidates = 0;  ///< coordinates that the solver saw last
  std::uint64_t violations = 0;  ///< coordinates that the strong rule had wrongly left out
  std::int64_t rounds = 0;       ///< solves: 1 + those after a violation; 0: w = 0 needed none
  double test_accuracy = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, double> test_metrics = {};  ///< the other metrics
  Status status = Status::kConverged;
};

enum class FieldType { kText, kCount, kReal, kTruth, kJson };

enum class FieldUse {
  kRecord,   ///< in the record's own JSON alone
  kColumn,   ///< in the manifest, and a column of the index and the export
  kSummary,  ///< in the summary of a run, too; null in that of `certify`
  kModel     ///< and in that of `certify`; figures are in all of them
};

template <class Record>
struct Field {
  std::string section;  ///< the object of the JSON that holds it; empty: the topmost
  std::string name;
  std::string unit;  ///< empty: none
  FieldType type;
  FieldUse use;
  std::string help;
  nlohmann::ordered_json (*get)(const Record&);       ///< null: not measured, or it does not apply
  void (*set)(Record&, const nlohmann::json& value);  ///< null: not read back
};

const std::vector<Field<RunParameters>>& run_parameters();
const std::vector<Field<RunFigures>>& run_figures();
/// The columns of trace.csv, in order.
const std::vector<Field<Sample>>& trace_columns();
/// The columns of path.csv behind the number of the point, in order.
const std::vector<Field<PathPoint>>& path_columns();

/// A job file: all parameters.
nlohmann::ordered_json job_json(const RunParameters& parameters);
/// Throws nlohmann::json::exception where a key is missing or of another type.
RunParameters job_from(const nlohmann::json& json);
/// What a manifest says under "run".
nlohmann::ordered_json parameters_json(const RunParameters& parameters);
/// The parameters of a summary.
nlohmann::ordered_json summary_parameters(const RunParameters& parameters);
/// The summary of a run, all keys topmost.
nlohmann::ordered_json summary_json(const RunParameters& parameters, const RunFigures& figures);
/// The same, as a manifest has it: figures in their sections.
nlohmann::ordered_json result_json(const RunParameters& parameters, const RunFigures& figures);

/// A value in CSV: nothing for null, text as it is, numbers in full precision, else JSON.
std::string field_text(const nlohmann::ordered_json& value);

/// The tables in Markdown: "fields:parameters", "fields:figures", "fields:trace", "fields:path".
std::vector<DocBlock> field_blocks();

}  // namespace proxbench
