#include "experiments/sweep/sweep.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "core/base/random.h"
#include "experiments/base/files.h"
#include "experiments/results/results.h"
#include "experiments/results/store.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
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
    const int round = grid ? 0 : cells[i]->cell.repetition;
    const std::uint64_t place = grid ? i : random.next();
    if (!cells[i]->stored) drawn.emplace(std::tuple{round, place, i}, cells[i]);
  }
  std::vector<const CellState*> out;
  for (const auto& [place, cell] : drawn) out.push_back(cell);
  return out;
}

/// Whether a reference that serves is stored for a stored run, whose manifest knows its data.
bool has_reference(const SweepWork& work, const PlannedRun& stored) {
  const ExperimentConfig& config = work.config;
  const Json manifest = json_of(work.out / "runs" / stored.name() / "manifest.json");
  if (!manifest.is_object() || manifest.value("data_digest", Json()).is_null()) return false;
  const fs::path file =
      reference_file(work.out, manifest.value("data_digest", ""), stored.lambda, config.mu, config.loss);
  std::error_code ignored;
  return fs::exists(file, ignored) && read_reference(file).serves({config.reference_tol, config.reference_gap,
                                                                   config.reference_time_limit});
}

void announce(const SweepWork& work, std::size_t stored) {
  if (stored > 0)
    work.hooks.tell(fmt::format("{} of {} runs are stored already", stored, work.states.size()));
  for (const CellState& state : work.states) {
    if (state.stored) continue;
    const std::string why = fmt::format("{}: {}", state.cell.name(), fmt::join(state.why, "; "));
    if (state.begins_anew)
      work.hooks.tell(why);
    else if (work.hooks.detail)
      work.hooks.detail(why);
  }
}

}  // namespace

void SweepWork::inspect(const std::string& only) {
  const std::vector<PlannedRun> plan = plan_runs(config);
  states.reserve(plan.size());
  for (std::size_t from = 0, to = 0; from < plan.size(); from = to) {
    const PlannedRun& first = plan[from];
    while (to < plan.size() && plan[to].same_problem(first)) ++to;
    if (!only.empty() && first.problem_name() != only) continue;
    SweepProblem problem{.name = first.problem_name(),
                         .data = first.data,
                         .lambda = first.lambda,
                         .path = first.path != nullptr,
                         .cells = {},
                         .missing = {},
                         .lacks_reference = false};
    for (std::size_t i = from; i < to; ++i) {
      states.push_back(inspect_cell(config, out, plan[i], options, digests));
      problem.cells.push_back(&states.back());
    }
    problem.missing = missing_in_order(config, problem.cells, config.seed + from);
    problem.lacks_reference = !problem.path && !has_reference(*this, first);
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
  rebuild_index(out);
  for (const CellState& state : work.states)
    if (const fs::path folder = out / "runs" / state.cell.name(); fs::exists(folder / "manifest.json"))
      result.folders.push_back(folder);
  result.interrupted = hooks.stop();
  return result;
}

}  // namespace proxbench
