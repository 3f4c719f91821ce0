#pragma once
/// Stored results: the files of runs, and functions that read them. Plots and tables read nothing else.
///
///     OUT/config.ini               the resolved config
///     OUT/references/PROBLEM.json  f* of one data set and penalty, and how it was made
///     OUT/runs/RUN/manifest.json   the record of the run, see below
///     OUT/runs/RUN/trace.csv
///     OUT/runs/RUN/model.tsv
///     OUT/runs/RUN/path.csv, model-NUMBER.tsv    of a path, for each of its penalties
///     OUT/figures/NAME.{svg,pdf,png,gp,tsv}, OUT/tables/NAME.{md,tex,csv}
///
/// RUN = PROBLEM-LABEL-repREPETITION with PROBLEM = DATASET-lambdaLAMBDA (for paths, see sweep/plan.h). All
/// characters are safe for file names.
///
/// A manifest and a reference are records of a Run (fields.h).

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/monitor.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/config/config.h"
#include "experiments/results/fields.h"

namespace proxbench {

using Json = nlohmann::ordered_json;

/// Takes a sentence for people.
using Warn = std::function<void(const std::string&)>;

inline constexpr const char* kManifestFile = "manifest.json";

/// Runs that the caller owns.
struct Runs : std::vector<const Run*> {
  using std::vector<const Run*>::vector;
  Runs() = default;
  // Not explicit, so that functions of Runs take lists of runs too.
  Runs(const std::vector<Run>& runs) {
    for (const Run& run : runs) push_back(&run);
  }
};

/// Groups runs by key, in the order in which keys first occur. Returns pairs of a key and its Runs.
template <class KeyOf>
auto grouped(const Runs& runs, const KeyOf& key_of) {
  using Key = std::decay_t<std::invoke_result_t<KeyOf, const Run&>>;
  std::vector<std::pair<Key, Runs>> groups;
  for (const Run* run : runs) {
    const Key key = key_of(*run);
    auto found = std::ranges::find(groups, key, &std::pair<Key, Runs>::first);
    if (found == groups.end()) found = groups.insert(found, {key, {}});
    found->second.push_back(run);
  }
  return groups;
}
/// Returns only the keys.
template <class KeyOf>
auto distinct(const Runs& runs, const KeyOf& key_of) {
  std::vector<std::decay_t<std::invoke_result_t<KeyOf, const Run&>>> keys;
  for (const auto& [key, group] : grouped(runs, key_of)) keys.push_back(key);
  return keys;
}
/// Returns the index of a value in a list, or the list's size if it is not there.
template <class Value>
std::size_t place_in(const std::vector<Value>& list, const std::type_identity_t<Value>& value) {
  return static_cast<std::size_t>(std::ranges::find(list, value) - list.begin());
}

/// Returns the element with this name. Throws Error (kUsage) "WHAT: found 'NAME' (did you mean ...?)" if
/// there is none.
template <class Named>
const Named& find_named(const std::vector<Named>& all, const std::string& name, const char* what) {
  std::vector<std::string> known;
  for (const Named& one : all) known.push_back(one.name);
  require_known(what, name, known);
  return *std::ranges::find(all, name, &Named::name);
}

// Keys of runs.
inline const std::string& label_of(const Run& run) {
  return run.parameters.label;
}
inline const std::string& dataset_of(const Run& run) {
  return run.parameters.dataset;
}
/// Data set, penalty and loss. Values of F can be compared only between runs with equal keys.
using ProblemKey = std::tuple<std::string, std::string, double, double, std::string>;
ProblemKey problem_of(const Run& run);

/// Returns "lambda = 1", "mu = 0.1" or "lambda = 1, mu = 0.1"; for a path e.g. "lambda = path(max, 50, 50),
/// mu = 0.1"; for a hinge loss e.g. "hinge, mu = 1". A penalty of 0 is omitted.
std::string penalty_text(const RunParameters& run);

/// Returns the name of a run's problem: the run's name without label and repetition.
std::string problem_name(const RunParameters& run);
/// OUT/references/PROBLEM.json.
std::filesystem::path reference_file(const std::filesystem::path& out, const std::string& problem);
/// Returns the stored reference of this problem, or none if no reference has the data, penalty and loss of
/// `run`. Throws Error if it cannot be read.
std::optional<Run> find_reference(const std::filesystem::path& out, const std::string& problem,
                                  const Run& run);

/// Returns the name of the run's folder, or the name that the folder would have.
std::string run_name(const Run& run);

/// Whether the runs come from more than one machine, so that their times must not be mixed.
bool several_machines(const Runs& runs);
/// Returns "unknown machine" if the machine was not recorded.
std::string machine_name(const Run& run);
/// Whether the run was not started. Its status "skipped(...)" says why.
bool is_skipped(const Run& run);
/// Returns the label, with e.g. "[CRFsuite 0.12.2]" appended for an external trainer.
std::string shown_label(const Run& run);
/// Returns the name of a run's series in tables and figures: shown_label(), or "label @ machine" among
/// several machines.
std::string series_name(const Run& run, bool among_several_machines);

/// Throws Error (kUsage) if timings of runs are not comparable, and names these runs. `instead` says what the
/// user can do.
void require_comparable(const std::vector<Run>& runs, const std::string& instead);

/// Throws Error (kUsage) with a did-you-mean if no run has one of the labels.
void require_labels(const std::vector<Run>& runs, const std::vector<std::string>& labels);

/// Reads all runs below OUT/runs. f* is taken from OUT/references, since a tighter one may have been found
/// after a run was stored; if it is missing there, it is taken from the run's record. Runs are sorted by data
/// set and label in the order of the presentation, then by penalty and repetition. Paths come last within
/// their data set. A run that failed may have no trace. A folder that cannot be read as a run is left out,
/// and `warn` gets its path and the reason; without `warn`, this is an Error with file and line. Throws Error
/// if the folder holds no run.
std::vector<Run> read_all_runs(const std::filesystem::path& out, const Presentation& presentation = {},
                               const Warn& warn = {});
/// Throws Error if the results hold only paths. For output that needs runs of single penalties.
void require_single_penalties(const std::vector<Run>& runs, const std::filesystem::path& out);

/// Removes runs whose data set or solver the presentation does not name. An earlier config may have left
/// them, but tables and figures show only what the config asks for. Removes nothing if the presentation names
/// no data sets or solvers. Returns one line that names the removed runs, or nothing. Throws Error if no run
/// is left.
std::string leave_out_strangers(const std::filesystem::path& out, const Presentation& presentation,
                                std::vector<Run>& runs);

/// Reads one run; `run_folder` is OUT/runs/RUN.
Run read_run(const std::filesystem::path& out, const std::filesystem::path& run_folder);
/// Reads the record in a file, without trace. Throws Error that names the file.
Run read_record(const std::filesystem::path& file);
/// Does the same, but returns none if there is no such file or it cannot be read. `problem` is then "missing"
/// or the error.
std::optional<Run> find_record(const std::filesystem::path& file, std::string& problem);
void write_record(const std::filesystem::path& file, const Run& run);
/// Returns the entries of a folder, sorted, without names that begin with a dot. Returns nothing if there is
/// no such folder.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);
/// Returns the folders of complete runs below OUT/runs, sorted.
std::vector<std::filesystem::path> run_folders(const std::filesystem::path& out);

/// Throws Error, with file and line, if the file is malformed.
std::vector<Sample> read_trace(const std::filesystem::path& file);

/// Removes the paths from `runs` and returns them.
std::vector<Run> take_paths(std::vector<Run>& runs);

/// Returns (F - f*) / |f*|.
double relative_difference(double objective, double reference);

/// Returns a bound on (f - min F)/f at the run's reference w, the smaller of two. The first is the certified
/// gap. The second is 2*kkt/lambda: since F is convex, F(w) - min F <= kkt*(||w||_1 + ||w*||_1), and
/// lambda*||w||_1 <= F(w). The result is at least 1e-15, which is rounding. It is NaN if the run has no
/// reference, or neither bound. A difference to f* below this bound means nothing.
double reference_bound(const Run& run);

/// The cost of a run until a target: more than `from` and at most `to`.
struct CostRange {
  double from, to;
};
/// Whether `from` and `to` differ by more than a tenth of `to`, so that one number would claim too much.
bool is_wide(const CostRange& range);
/// Sets `to` to `cost` at the first sample with (objective - f*)/|f*| <= target, and `from` to the cost at
/// the sample before it. Nothing is interpolated. If the very first sample reaches the target, both are its
/// cost. Both are infinity if no sample reaches the target, and NaN if the run has no f*.
CostRange cost_to_target(const Run& run, double target, double (*cost)(const Sample&));
/// Returns a test metric, or NaN if it was not measured.
double metric_at(const Sample& sample, const std::string& name);

// The reference run of one (data, penalty, loss), whose F is f*.

/// The part of a reference that is copied into the records of its problem's runs.
BestKnown best_of(const Run& reference);

/// Returns the smaller of two bounds on F(w) - min F. The first is the certified gap. The second, for lambda
/// > 0, is kkt * (||w||_1 + F(w)/lambda): since F is convex, F(w) - F(w*) <= kkt * ||w - w*||_1, and
/// lambda*||w*||_1 <= F(w).
double slack(const Run& reference);

/// Whether the time limit ended the reference run. Only then can another run on the same data find another
/// f*.
bool ended_by_time_limit(const Run& reference);

/// Whether the reference is as exact as the config asks, or as exact as a new run would make it.
bool serves(const Run& reference, const ExperimentConfig& config);

}  // namespace proxbench
