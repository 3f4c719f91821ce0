#include "experiments/run/tighten.h"

#include <cmath>

#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {

RunOutcome tighten(const LoadedData& data, const SparseVector& w, const RunParameters& settings,
                   Interrupt interrupt) {
  const double began = wall_seconds();
  const SolverInfo& info = solver_registry().find(kBestForL1);
  RunParameters job;
  job.solver = info.name;
  job.solver_options = info.as_reference.options;
  job.penalty = settings.penalty;
  job.loss = settings.loss;
  job.tol = 0.0;
  job.gap_target = settings.tighten;
  job.sampling_budget = 0.0;
  job.time_limit = settings.time_limit;
  job.seed = settings.seed;
  RunOutcome found = train_from(data, job, w, {.on_sample = {}, .stop = interrupt, .with_test = false});
  if (found.certificate.relative_gap() <= settings.tighten) found.status = Status::kGapReached;
  found.wall_seconds = wall_seconds() - began;
  return found;
}

void tighten(const LoadedData& data, const RunParameters& settings, RunOutcome& outcome,
             Interrupt interrupt) {
  Certificate& found = outcome.certificate;
  if (found.relative_gap() <= settings.tighten) {
    outcome.tighten = {Status::kGapReached, settings.tighten, 0, 0.0};
    return;
  }
  RunOutcome better = tighten(data, outcome.w, settings, interrupt);
  const double dual = std::fmax(found.dual, better.certificate.dual);
  if (better.certificate.objective <= found.objective && better.certificate.kkt <= found.kkt) {
    found = better.certificate;
    outcome.w = std::move(better.w);
  }
  found.dual = dual;
  if (found.relative_gap() <= settings.tighten) better.status = Status::kGapReached;
  outcome.tighten = {*better.status, settings.tighten, *better.iterations, better.wall_seconds};
}

}  // namespace proxbench
