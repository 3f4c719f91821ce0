#include "experiments/run/tighten.h"

#include <algorithm>
#include <cmath>

#include "core/data/reduction.h"
#include "experiments/run/job.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// What of w lies in the kept features, in their coordinates: the inverse of expand_features().
SparseVector onto_features(const SparseVector& w, const std::vector<Index>& kept, Index features,
                           Index outputs) {
  const Coord unary = static_cast<Coord>(features) * outputs, kept_unary = kept.size() * outputs;
  SparseVector out;
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const Coord c = w.index[i];
    if (c >= unary) {
      out.push_back(kept_unary + (c - unary), w.value[i]);
      continue;
    }
    const auto j = static_cast<Index>(c / outputs);
    const auto found = std::lower_bound(kept.begin(), kept.end(), j);
    if (found == kept.end() || *found != j) continue;
    out.push_back(static_cast<Coord>(found - kept.begin()) * outputs + c % outputs, w.value[i]);
  }
  return out;
}

}  // namespace

Tightened tighten(const LoadedData& data, const SparseVector& w, const TightenSettings& settings) {
  const double began = wall_seconds();
  const SolverInfo& info = solver_registry().find(kBestForL1);
  const Options solver_options = options_from(info.options, info.as_reference.options);
  require_needs(data, info, {settings.lambda, settings.mu}, settings.loss);
  const std::unique_ptr<Solver> solver = info.make(solver_options);
  // The minimum over the features that can enter is that over all.
  const LoadedData::Reduced& reduced = data.reduced(settings.lambda);
  Objective objective = data.objective(reduced, settings.lambda, settings.mu),
            evaluator = data.objective(reduced, settings.lambda, settings.mu);
  const Index features = data.train().x.features(), outputs = objective.outputs();
  const SparseVector start = onto_features(w, reduced.kept, features, outputs);

  MonitorOptions options;
  options.gap_target = settings.gap_target;
  options.gap_by_count = true;
  options.sampling_budget = 0.0;
  if (settings.seconds > 0.0) options.time_limit = settings.seconds;
  Monitor monitor(evaluator, objective, options);
  monitor.interrupt = settings.interrupt;
  SolveResult result = solver->solve({objective, monitor, start, 0.0, 0.0, settings.seed});
  monitor.finish(result.iterations, result.w, result.working_set);

  Tightened out;
  out.status = result.status;
  out.certificate = certify(evaluator, result.w);
  out.certificate.dual = std::fmax(out.certificate.dual, monitor.lower_bound());
  if (out.certificate.relative_gap() <= settings.gap_target) out.status = Status::kGapReached;
  out.w = expand_features(result.w, reduced.kept, features, outputs);
  out.iterations = result.iterations;
  out.seconds = wall_seconds() - began;
  return out;
}

void tighten(const LoadedData& data, const TightenSettings& settings, RunOutcome& outcome) {
  if (outcome.certificate.relative_gap() <= settings.gap_target) {
    outcome.tighten = {Status::kGapReached, settings.gap_target, 0, 0.0};
    return;
  }
  Tightened better = tighten(data, outcome.w, settings);
  Certificate& found = outcome.certificate;
  const double dual = std::fmax(found.dual, better.certificate.dual);
  if (better.certificate.objective <= found.objective && better.certificate.kkt <= found.kkt) {
    found = better.certificate;
    outcome.w = std::move(better.w);
  }
  found.dual = dual;
  if (found.relative_gap() <= settings.gap_target) better.status = Status::kGapReached;
  outcome.tighten = {better.status, settings.gap_target, better.iterations, better.seconds};
}

}  // namespace proxbench
