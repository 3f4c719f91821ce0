#include "experiments/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Of the cells of a block, [from, to) of all, those that have to be run. Interleaved: one repetition after
/// the other, the solvers of each in an order drawn from the seed, so that no solver is always first and a
/// slow spell of the machine hits all alike. A resumed sweep keeps the order, since every cell is drawn for.
std::vector<const CellState*> missing_in_order(const SweepWork& work, std::size_t from, std::size_t to) {
  Random random(work.config.seed + from);
  std::map<std::tuple<int, std::uint64_t, std::size_t>, const CellState*> drawn;
  for (std::size_t i = from; i < to; ++i) {
    const CellState& state = work.states[i];
    const bool grid = work.config.order == "grid";
    const int round = grid ? 0 : state.run.parameters.repetition;
    const std::uint64_t place = grid ? i : random.next();
    if (!state.stored) drawn.emplace(std::tuple{round, place, i}, &state);
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
  const fs::path manifest = out / "runs" / stored.name / kManifestFile;
  const WantedReference wanted{config.reference_tol, config.reference_gap, config.reference_time_limit};
  try {
    if (!fs::exists(manifest)) return false;
    const fs::path file = reference_file(out, read_record(manifest).result.data_digest, stored);
    return fs::exists(file) && serves(read_record(file), wanted);
  } catch (const Error&) {  // of another version, or damaged: it is made again
    return false;
  }
}

/// What there is to do, problem by problem.
std::vector<SweepProblem> problems_of(const SweepWork& work) {
  std::vector<SweepProblem> out;
  for (std::size_t from = 0, to = 0; from < work.states.size(); from = to) {
    const CellState& first = work.states[from];
    while (to < work.states.size() && same_problem(work.states[to].run.parameters, first.run.parameters)) ++to;
    SweepProblem problem{&first, !needs_reference(work.config, first.run.parameters),
                         missing_in_order(work, from, to)};
    if (!problem.missing.empty() ||
        !(problem.no_reference || has_reference(work.config, work.out, problem.job())))
      out.push_back(std::move(problem));
  }
  return out;
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
    if (needs_reference(config, from->run.parameters) && (force || std::none_of(from, to, [&](const CellState& state) {
          return has_reference(config, out, state.run.parameters);
        })))
      ++missing;
  }
  return missing;
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
  recover(out);
  SweepResult result;
  for (const RunParameters& cell : plan_runs(config)) {
    work.states.push_back(inspect_cell(config, out, cell, options, digests));
    if (work.states.back().stored) ++result.cached;
  }
  write_file_atomically(out / "config.ini", config.to_ini());
  announce(work, result.cached);
  work.problems = problems_of(work);
  launcher->launch(work, result);
  for (const CellState& state : work.states)
    if (const fs::path folder = out / "runs" / state.run.parameters.name; fs::exists(folder / "manifest.json"))
      result.folders.push_back(folder);
  result.interrupted = hooks.stop();
  return result;
}

}  // namespace proxbench
