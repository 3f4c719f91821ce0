#include "experiments/results/reference.h"

#include <algorithm>
#include <cmath>

namespace proxbench {
namespace {

/// Returns how the search for the certified gap ended.
std::optional<Status> gap_status(const Run& reference) {
  return reference.result.tighten ? reference.result.tighten->status : reference.result.status;
}

double wanted_gap(const RunParameters& p) {
  return std::max(p.tighten, p.gap_target);
}

}  // namespace

BestKnown best_of(const Run& reference) {
  const Certificate& c = reference.result.certificate;
  return {c.objective, reference.result.relative_kkt(), c.relative_gap(), reference.result.kkt_at_zero};
}

double slack(const Run& reference) {
  const Certificate& c = reference.result.certificate;
  const double lambda = reference.parameters.lambda;
  const double by_kkt =
      lambda > 0.0 && !std::isnan(c.kkt) ? c.kkt * (c.l1 + c.objective / lambda) : kInfinity;
  return std::isnan(c.dual) ? by_kkt : std::min(by_kkt, std::max(c.objective - c.dual, 0.0));
}

bool ended_by_time_limit(const Run& reference) {
  return reference.result.status == Status::kTimeLimit || gap_status(reference) == Status::kTimeLimit;
}

bool serves(const Run& reference, const ExperimentConfig& config) {
  const RunParameters& was = reference.parameters;
  const bool as_long = was.time_limit == 0 ||
                       (config.reference_time_limit > 0 && config.reference_time_limit <= was.time_limit);
  const auto ends = [&](std::optional<Status> how) {
    return how == Status::kStalled || (how == Status::kTimeLimit && as_long);
  };
  const double relative_kkt = reference.result.relative_kkt();
  const bool kkt_serves = std::isnan(relative_kkt) || relative_kkt <= config.reference_tol ||
                          (was.tol <= config.reference_tol && ends(reference.result.status));
  const bool gap_serves =
      config.reference_gap == 0 || reference.result.certificate.relative_gap() <= config.reference_gap ||
      (wanted_gap(was) > 0 && wanted_gap(was) <= config.reference_gap && ends(gap_status(reference)));
  return kkt_serves && gap_serves;
}

}  // namespace proxbench
