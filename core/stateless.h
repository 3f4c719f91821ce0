#pragma once
/// Solvers that keep no state between solves: a solve is a function of the problem and the settings.

#include <functional>
#include <memory>
#include <utility>

#include "core/base/schema.h"
#include "core/solver.h"

namespace proxbench {

template <class Settings>
class Stateless final : public Solver {
 public:
  using Solve = std::function<SolveResult(const SolveProblem&, const Settings&)>;
  Stateless(Settings settings, Solve solve) : settings_(std::move(settings)), solve_(std::move(solve)) {}
  SolveResult solve(const SolveProblem& problem) override { return solve_(problem, settings_); }

 private:
  Settings settings_;
  Solve solve_;
};

/// Completes `info` of a stateless solver whose options are `rows`.
template <class Settings>
SolverInfo stateless(const Schema<Settings>& rows, typename Stateless<Settings>::Solve solve,
                     SolverInfo info) {
  info.options = rows.table();
  info.make = [rows, solve](const Options& options) {
    return std::make_unique<Stateless<Settings>>(rows.read(options), solve);
  };
  return info;
}

}  // namespace proxbench
