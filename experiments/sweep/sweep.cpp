#include "experiments/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/results/results.h"
#include "experiments/run/plugins.h"
#include "experiments/sweep/make_runs.h"
#include "experiments/sweep/out_folder.h"

namespace proxbench {
void Sweep::find_missing() {
  problems = inspect(config, out, options);
  if (const std::string replaced = replacement_text(problems);
      !replaced.empty() && !options.replace && !options.force)
    throw Error::usage(fmt::format(
        "{}: {}; expected --replace, which makes these runs again, or --out DIR for another folder",
        out.string(), replaced));
  std::vector<const Cell*> all;
  for (const SweepProblem& problem : problems)
    for (const Cell& cell : problem.cells) all.push_back(&cell);
  if (const auto stored = std::ranges::count_if(all, &Cell::stored); stored > 0)
    progress.inform(fmt::format("{} of {} runs are stored already", stored, all.size()));
  for (const Cell* cell : all) {
    if (cell->stored) continue;
    const std::string why = fmt::format("{}: {}", cell->name(), fmt::join(cell->why, "; "));
    if (cell->starts_again)
      progress.inform(why);
    else if (progress.detail)
      progress.detail(why);
  }
}

void Sweep::write_config() const {
  write_file_atomically(out / "config.ini", config.to_ini());
}

std::vector<fs::path> Sweep::stored_folders() const {
  std::vector<fs::path> folders;
  for (const SweepProblem& problem : problems)
    for (const Cell& cell : problem.cells)
      if (const fs::path folder = out / "runs" / cell.name(); fs::exists(folder / kManifestFile))
        folders.push_back(folder);
  return folders;
}

bool has_other_settings(const ExperimentConfig& config, const fs::path& out) {
  const fs::path file = out / "config.ini";
  if (!fs::exists(file)) return false;
  ExperimentConfig asked = config, stored = load_config(file, {}, require_plugin, false);
  for (ExperimentConfig* one : {&asked, &stored}) {
    one->slurm = {};
    one->plot = {};
    one->plugins = {};  // the key of a run has their content
  }
  return asked.to_ini() != stored.to_ini();
}

namespace {

/// Removes what a killed process left of these runs, or stores a run that is complete.
void recover_problem(const fs::path& out, const SweepOptions& options, const ExperimentConfig& config) {
  std::vector<std::string> names;
  for (const RunParameters& run : plan_runs(config))
    if (problem_name(run) == options.only)
      for (const char* prefix : {"", "data-", "reference-"}) names.push_back(prefix + run.name);
  recover_runs(out, names);
}

void run_problem(Sweep& sweep, SweepResult& result) {
  const auto& [config, out, options, progress, problems] = sweep;
  if (!options.replace && !options.force && has_other_settings(config, out))
    throw Error::usage(
        fmt::format("{}: found another config, expected that of this command, `proxbench run` without "
                    "--only, or --replace; "
                    "nothing was stored",
                    (out / "config.ini").string()));
  OutLock lock(out, OutLock::problem(options.only));
  if (!lock.try_take())
    return progress.inform(options.only + ": another `proxbench run` makes its runs; there is nothing to do");
  recover_problem(out, options, config);
  sweep.find_missing();
  if (!options.key.empty()) require_key(problems.front(), options.key);
  if (problems.front().complete()) return progress.inform(options.only + ": nothing is missing");
  if (options.key.empty() || !fs::exists(out / "config.ini")) sweep.write_config();
  make_runs(sweep, result);
}

void run_all(Sweep& sweep, SweepResult& result) {
  const OutLock plan(sweep.out), problems(sweep.out, 0.0, OutLock::kAllProblems);
  recover(sweep.out);
  sweep.find_missing();
  sweep.write_config();
  make_runs(sweep, result);
}

}  // namespace

SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                      const Progress& progress) {
  require_own_folder(config, out);
  if (!options.only.empty()) require_known("--only", options.only, problem_names(plan_runs(config)));
  prepare_out(out);
  Sweep sweep{config, out, options, progress};
  SweepResult result;
  (options.only.empty() ? run_all : run_problem)(sweep, result);
  for (const SweepProblem& problem : sweep.problems)
    result.cached += static_cast<std::size_t>(std::ranges::count_if(problem.cells, &Cell::stored));
  result.folders = sweep.stored_folders();
  result.interrupted = progress.stop();
  return result;
}

void require_own_folder(const ExperimentConfig& config, const fs::path& out) {
  const fs::path file = out / "config.ini";
  if (const std::string name = stored_experiment(file); !name.empty() && name != config.name)
    throw Error::usage(fmt::format(
        "{}: found the results of experiment '{}', expected those of '{}'; --out DIR takes another folder",
        file.string(), name, config.name));
}

bool failed_run(const Run& run) {
  return run.failed() && run.status() != kDoesNotFit;
}

void warn_of_run(const Run& run, const std::optional<Run>& reference, const Progress& progress) {
  constexpr double kRounding = 1e-10;  // smaller relative differences of F are rounding of its sums
  const std::string &name = run.parameters.name, &reason = run.result.reason;
  if (run.failed() || !reason.empty())
    progress.warn(fmt::format("{}: {}{}{}", name, run.status(), reason.empty() ? "" : ": ", reason));
  for (const std::string& warning : run.result.warnings)
    progress.warn(fmt::format("{} ({}): {}", name, run.result.trainer, warning));
  if (!reference) return;
  const double best = reference->result.certificate.objective,
               below = best - run.result.certificate.objective;
  if (!(below > kRounding * std::abs(best))) return;
  progress.warn(fmt::format(
      "{}: ends {:.1e} (relative) below f* = {}, {}", name, below / best, best,
      below <= slack(*reference)
          ? "within what is proven of f*: smaller reference_tol and reference_gap give a better f*"
          : "MORE than the proven error of f*: F or f* is wrong"));
}

}  // namespace proxbench
