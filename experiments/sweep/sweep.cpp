#include "experiments/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/random.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Of the cells of a problem, those that have to be run. Interleaved: one repetition after the other, the
/// solvers of each in an order drawn from `seed`, so that no solver is always first and a slow spell of the
/// machine hits all alike. A resumed sweep keeps the order, since every cell is drawn for.
std::vector<const CellState*> missing_in_order(const ExperimentConfig& config,
                                               const std::vector<const CellState*>& cells,
                                               std::uint64_t seed) {
  Random random(seed);
  std::map<std::tuple<int, std::uint64_t, std::size_t>, const CellState*> drawn;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool grid = config.order == "grid";
    const int round = grid ? 0 : cells[i]->run.parameters.repetition;
    const std::uint64_t place = grid ? i : random.next();
    if (!cells[i]->stored) drawn.emplace(std::tuple{round, place, i}, cells[i]);
  }
  std::vector<const CellState*> out;
  for (const auto& [place, cell] : drawn) out.push_back(cell);
  return out;
}

/// Whether a run has an f* to compare with.
bool needs_reference(const ExperimentConfig& config, const RunParameters& cell) {
  return cell.path.empty() && config.has_reference();
}

/// Whether a reference that serves is stored for a stored run, whose manifest knows its data.
bool has_reference(const ExperimentConfig& config, const fs::path& out, const RunParameters& stored) {
  const WantedReference wanted{config.reference_tol, config.reference_gap, config.reference_time_limit};
  std::string problem;
  const std::optional<Run> run = find_record(out / "runs" / stored.name / kManifestFile, problem);
  if (!run) return false;
  const std::optional<Run> reference =
      find_record(reference_file(out, run->result.data_digest, stored), problem);
  return reference && serves(*reference, wanted);
}

void announce(const SweepWork& work, std::size_t stored) {
  if (stored > 0)
    work.hooks.tell(fmt::format("{} of {} runs are stored already", stored, work.states.size()));
  for (const CellState& state : work.states) {
    if (state.stored) continue;
    const std::string why = fmt::format("{}: {}", state.run.parameters.name, fmt::join(state.why, "; "));
    if (state.begins_anew)
      work.hooks.tell(why);
    else if (work.hooks.detail)
      work.hooks.detail(why);
  }
}

}  // namespace

std::size_t missing_references(const ExperimentConfig& config, const fs::path& out, bool force,
                               const std::vector<CellState>& states) {
  std::size_t missing = 0;
  for (auto from = states.begin(), to = from; from != states.end(); from = to) {
    to = std::find_if(from, states.end(), [&](const CellState& state) {
      return !same_problem(state.run.parameters, from->run.parameters);
    });
    const bool stored = std::any_of(from, to, [&](const CellState& state) {
      return has_reference(config, out, state.run.parameters);
    });
    if (needs_reference(config, from->run.parameters) && (force || !stored)) ++missing;
  }
  return missing;
}

void SweepWork::inspect(const std::string& only) {
  const std::vector<RunParameters> plan = plan_runs(config);
  states.reserve(plan.size());
  for (std::size_t from = 0, to = 0; from < plan.size(); from = to) {
    const RunParameters& first = plan[from];
    while (to < plan.size() && same_problem(plan[to], first)) ++to;
    SweepProblem problem{.name = problem_name(first),
                         .no_reference = !needs_reference(config, first),
                         .cells = {},
                         .missing = {}};
    if (!only.empty() && problem.name != only) continue;
    for (std::size_t i = from; i < to; ++i) {
      states.push_back(inspect_cell(config, out, plan[i], options, digests));
      problem.cells.push_back(&states.back());
    }
    problem.missing = missing_in_order(config, problem.cells, config.seed + from);
    problem.lacks_reference = !problem.no_reference && !has_reference(config, out, first);
    problems.push_back(std::move(problem));
  }
}

void SweepWork::write_config() const {
  write_file_atomically(out / "config.ini", config.to_ini());
}

SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                      const SweepHooks& hooks) {
  const LauncherInfo& info = find_launcher(options.launcher);
  prepare_out(out);
  OutLock lock(out, info.patience_seconds);
  Digests digests(config);
  SweepWork work{config, out, options, hooks, digests, lock};
  const std::unique_ptr<Launcher> launcher = info.make();
  launcher->prepare(work);
  work.inspect();
  SweepResult result;
  for (const CellState& state : work.states)
    if (state.stored) ++result.cached;
  announce(work, result.cached);
  launcher->launch(work, result);
  for (const CellState& state : work.states)
    if (const fs::path folder = out / "runs" / state.run.parameters.name;
        fs::exists(folder / "manifest.json"))
      result.folders.push_back(folder);
  result.interrupted = hooks.stop();
  return result;
}

}  // namespace proxbench
