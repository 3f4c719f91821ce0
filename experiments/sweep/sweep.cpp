#include "experiments/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace fs = std::filesystem;

const std::vector<LauncherInfo>& launchers() {
  static const std::vector<LauncherInfo> all = {local_launcher_info(), slurm_launcher_info()};
  return all;
}

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
    hooks.tell(fmt::format("{} of {} runs are stored already", stored, all.size()));
  for (const Cell* cell : all) {
    if (cell->stored) continue;
    const std::string why = fmt::format("{}: {}", cell->name(), fmt::join(cell->why, "; "));
    if (cell->begins_anew)
      hooks.tell(why);
    else if (hooks.detail)
      hooks.detail(why);
  }
}

void Sweep::write_config() const {
  write_file_atomically(out / "config.ini", config.to_ini());
}

SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                      const Hooks& hooks) {
  const LauncherInfo& launcher = *std::ranges::find(launchers(), options.launcher, &LauncherInfo::name);
  require_own_folder(config, out);
  prepare_out(out);
  OutLock lock(out, launcher.patience_seconds);
  for (const LauncherInfo& other : launchers())
    if (other.require_idle != nullptr && other.name != launcher.name) other.require_idle(out);
  Sweep sweep{config, out, options, hooks, lock};
  SweepResult result;
  launcher.run(sweep, result);
  for (const SweepProblem& problem : sweep.problems)
    for (const Cell& cell : problem.cells) {
      if (cell.stored) ++result.cached;
      if (const fs::path folder = out / "runs" / cell.name(); fs::exists(folder / kManifestFile))
        result.folders.push_back(folder);
    }
  result.interrupted = hooks.stop();
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
  return run.failed() && run.result.failure != kDoesNotFit;
}

void warn_of_run(const Run& run, const std::optional<Run>& reference, const Hooks& hooks) {
  constexpr double kRounding = 1e-10;  // smaller relative differences of F are rounding of its sums
  const std::string &name = run.parameters.name, &reason = run.result.reason;
  if (run.failed() || !reason.empty())
    hooks.warn(fmt::format("{}: {}{}{}", name, run.status(), reason.empty() ? "" : ": ", reason));
  for (const std::string& warning : run.result.warnings)
    hooks.warn(fmt::format("{} ({}): {}", name, run.result.trainer, warning));
  if (run.result.status == Status::kDiverged) hooks.warn(name + ": diverged, so no model is stored");
  if (!reference) return;
  const double best = reference->result.certificate.objective,
               below = best - run.result.certificate.objective;
  if (!(below > kRounding * std::abs(best))) return;
  hooks.warn(fmt::format(
      "{}: ends {:.1e} (relative) below f* = {}, {}", name, below / best, best,
      below <= slack(*reference)
          ? "within what is proven of f*: smaller reference_tol and reference_gap give a better f*"
          : "MORE than the proven error of f*: F or f* is wrong"));
}

}  // namespace proxbench
