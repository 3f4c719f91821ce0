#pragma once
/// Stored results: what a run leaves on disk, and how it is read back. Plots and tables are made from this
/// alone.
///
///     OUT/config.ini               the resolved config
///     OUT/references/PROBLEM.json  f* of one data set and penalty, and how it was made
///     OUT/runs/RUN/manifest.json   what the run was and what came of it, see below
///     OUT/runs/RUN/trace.csv
///     OUT/runs/RUN/model.tsv
///     OUT/runs/RUN/path.csv, model-NUMBER.tsv    of a path, for each of its penalties
///     OUT/figures/NAME.{svg,pdf,png,gp,tsv}, OUT/tables/NAME.{md,tex,csv}
///
/// RUN = PROBLEM-LABEL-repREPETITION with PROBLEM = DATASET-lambdaLAMBDA (paths: sweep/plan.h), in characters
/// safe for file names.
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

inline constexpr const char* kManifestFile = "manifest.json";

/// Runs that somebody else holds.
using Runs = std::vector<const Run*>;

/// The runs (Run or const Run*) that have the same key together, in the order in which keys occur first:
/// pairs of key and Runs. They point into `runs`.
template <class SomeRuns, class KeyOf>
auto grouped(const SomeRuns& runs, const KeyOf& key_of) {
  using Key = std::decay_t<std::invoke_result_t<KeyOf, const Run&>>;
  std::vector<std::pair<Key, Runs>> groups;
  for (const auto& one : runs) {
    const Run* run = nullptr;
    if constexpr (std::is_pointer_v<std::decay_t<decltype(one)>>)
      run = one;
    else
      run = &one;
    const Key key = key_of(*run);
    auto found = std::ranges::find(groups, key, &std::pair<Key, Runs>::first);
    if (found == groups.end()) found = groups.insert(found, {key, {}});
    found->second.push_back(run);
  }
  return groups;
}
/// The keys alone.
template <class SomeRuns, class KeyOf>
auto distinct(const SomeRuns& runs, const KeyOf& key_of) {
  std::vector<std::decay_t<std::invoke_result_t<KeyOf, const Run&>>> keys;
  for (const auto& [key, group] : grouped(runs, key_of)) keys.push_back(key);
  return keys;
}
/// The place of a value in a list; behind all where it is not there.
template <class Value>
std::size_t place_in(const std::vector<Value>& list, const std::type_identity_t<Value>& value) {
  return static_cast<std::size_t>(std::ranges::find(list, value) - list.begin());
}

/// The one with this name. Throws Error (kUsage) "WHAT: found 'NAME' (did you mean ...?)" where there is
/// none.
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
/// Data set, penalty and loss: values of F compare where they are the same.
using ProblemKey = std::tuple<std::string, std::string, double, double, std::string>;
ProblemKey problem_key(const RunParameters& run);
inline ProblemKey problem_of(const Run& run) {
  return problem_key(run.parameters);
}
inline bool same_problem(const RunParameters& a, const RunParameters& b) {
  return problem_key(a) == problem_key(b);
}

/// "lambda = 1", "mu = 0.1", "lambda = 1, mu = 0.1"; of a path "lambda = path(max, 50, 50), mu = 0.1" and the
/// like, "hinge, mu = 1" with a hinge loss. What is 0 is left out.
std::string penalty_text(const RunParameters& run);

/// The name of a run's problem: that of the run without label and repetition.
std::string problem_name(const RunParameters& run);
/// OUT/references/PROBLEM.json.
std::filesystem::path reference_file(const std::filesystem::path& out, const std::string& problem);
/// The stored f* of this problem; none where there is none of the data, penalty and loss of `run`. Throws
/// Error where it cannot be read.
std::optional<Run> find_reference(const std::filesystem::path& out, const std::string& problem,
                                  const Run& run);

/// The name of the run's folder; of a run without one, what it would be.
std::string run_name(const Run& run);

/// Runs of more than one machine, whose times are not to be mixed.
bool several_machines(const std::vector<Run>& runs);
/// "unknown machine" where it was not told.
std::string machine_name(const Run& run);
/// The label, with "[CRFsuite 0.12.2]" behind that of a program of its own.
std::string shown_label(const Run& run);
/// What runs are told apart by in tables and figures: shown_label(), or "label @ machine" among several
/// machines (a label that says so already stays as it is).
std::string series_name(const Run& run, bool among_several_machines);

/// Throws Error (kUsage) that names the runs whose timings are not comparable, where there are any;
/// `instead`: what the user can do.
void require_comparable(const std::vector<Run>& runs, const std::string& instead);

/// Throws Error (kUsage) with a did-you-mean for a label that no run has.
void require_labels(const std::vector<Run>& runs, const std::vector<std::string>& labels);

/// All runs below OUT/runs, with the f* that OUT/references holds now (it may have been
/// made again, tighter, since a run was stored; where it is gone, that of the run's record), sorted by data
/// set and label in the order of the presentation, and by penalty and repetition, paths behind the others of
/// their data set. A run that failed may have no trace, and where its process died while it wrote one, the
/// half line at its end is left out. Throws Error with file and line where a file is malformed, or where the
/// folder holds no run.
std::vector<Run> read_all_runs(const std::filesystem::path& out, const Presentation& presentation = {});
/// For what is made of single penalties: throws Error where there are none, of results that hold paths alone.
void require_single_penalties(const std::vector<Run>& runs, const std::filesystem::path& out);

/// Removes the runs whose data set or solver the presentation does not name, as an earlier config may have
/// left them: tables and figures show what the config asks for. Returns one line that names what was left
/// out, or nothing. All stay if it names none. Throws Error where none is left.
std::string leave_out_strangers(const std::filesystem::path& out, const Presentation& presentation,
                                std::vector<Run>& runs);

/// One of them; `run_folder` is OUT/runs/RUN.
Run read_run(const std::filesystem::path& out, const std::filesystem::path& run_folder);
/// The record in a file, without trace. Throws Error that names it.
Run read_record(const std::filesystem::path& file);
/// The same; none if there is no such file or it cannot be read, with `problem` "missing" or the error.
std::optional<Run> find_record(const std::filesystem::path& file, std::string& problem);
void write_record(const std::filesystem::path& file, const Run& run);
/// What stands in a folder, sorted, but names that begin with a dot; nothing where there is no such folder.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);
/// The folders of complete runs below OUT/runs, sorted.
std::vector<std::filesystem::path> run_folders(const std::filesystem::path& out);

/// Throws Error, with file and line, where it is malformed.
std::vector<Sample> read_trace(const std::filesystem::path& file);

/// The paths among stored runs, which are taken out of them.
std::vector<Run> take_paths(std::vector<Run>& runs);

/// (F - f*) / |f*|.
double relative_difference(double objective, double reference);

/// Bound on (f - min F)/f at the run's reference w, the smaller of two: its certified gap; and F being
/// convex, F(w) - min F <= kkt*(||w||_1 + ||w*||_1), where lambda*||w||_1 <= F(w), together 2*kkt/lambda. At
/// least 1e-15, which is rounding. NaN where the run lacks a reference, or both. A difference to f* below it
/// says nothing.
double reference_bound(const Run& run);

/// What a run paid until a target: more than `from` and no more than `to`.
struct CostRange {
  double from, to;
};
/// Whether the two are more than a tenth of the second apart, so that one number would say too much.
bool is_wide(const CostRange& range);
/// `cost` at the first sample with (objective - f*)/|f*| <= target, and at the sample before it (at the first
/// of all twice that of the first): nothing is interpolated. Infinity twice where there is none. NaN twice
/// where the run has no f*.
CostRange cost_to_target(const Run& run, double target, double (*cost)(const Sample&));
/// A test metric; NaN where it was not measured.
double metric_at(const Sample& sample, const std::string& name);

}  // namespace proxbench
