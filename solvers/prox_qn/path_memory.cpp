#include "solvers/prox_qn/path_memory.h"

namespace proxbench::prox_qn {

namespace {

/// Solves that the pairs taken along come from: older ones cost more than they bring.
constexpr std::size_t kSolvesCarried = 3;

}  // namespace

void PathMemory::begin(const SolveProblem& problem) {
  if (!problem.in_sequence) *this = {};
  if (!pairs) return;
  pairs->history.next_solve(kSolvesCarried);
  if (pairs->history.size() == 0) pairs.reset();
}

std::size_t PathMemory::history_capacity(const SolveProblem& problem, const Settings& settings) {
  return problem.in_sequence && settings.blocks ? PairHistory::capacity(problem.objective, settings.memory)
                                                : 0;
}

void PathMemory::keep_foretold(const KnownStart& known, double next_lambda, Objective::Selection& selection) {
  keep_foretold_violators(last_start_, lambda, next_lambda, selection);
  last_start_ = {lambda, known.selection.index, known.selection.gradient};
}

}  // namespace proxbench::prox_qn
