#include "core/monitor/observers.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/certificates/certificate.h"
#include "core/certificates/rounding.h"

namespace proxbench {

namespace {

/// A solver's loss and the one found at its iterate come from the same kernels, so they may differ by the
/// rounding of both. For solvers that advance scores in ways of their own, this many times that is accepted.
/// The loss of another iterate, or one that includes penalties, is off by far more.
constexpr double kAuditRoundings = 100.0;

}  // namespace

void LightObserver::observe(const Observed& at, Sample& sample) {
  sample.seconds = clock_.seconds();
  sample.cpu_seconds = clock_.cpu_seconds();
  sample.iteration = at.iteration;
  sample.passes = solver_.counts().passes();
  sample.updates = solver_.counts().updates().value_or(static_cast<double>(at.iteration));
  sample.nnz = at.w.nnz();
  sample.working_set = at.working_set;
  sample.loss = at.found != nullptr ? at.found->loss : at.given_loss;
  sample.objective = evaluator_.value(sample.loss, at.w.value);
}

/// Scores that were advanced are off by at most 2^-53 * advanced in norm, and advanced <= kMostAdvanced *
/// norm (OutputColumns). An error e of the scores changes the loss by at most 2 max |e| at each position, and
/// these add up to at most 2 sqrt(positions) times the norm of e.
void AuditObserver::observe(const Observed& at, Sample& sample) {
  if (at.found == nullptr || !std::isfinite(at.given_loss)) return;
  const double off = std::abs(at.given_loss - sample.loss);
  if (off > 0.0) {
    const double drift = 2.0 * std::sqrt(static_cast<double>(evaluator_.map().x().whole_positions())) *
                         kUnitRoundoff * Scores::kMostAdvanced * evaluator_.map().norm(*at.scores);
    const double allowed = kAuditRoundings * (at.found->rounding + drift);
    if (!(off <= allowed))
      throw Error("iteration ", at.iteration, ": the solver gave the loss ", number_text(at.given_loss),
                  ", but at its iterate the loss is ", number_text(sample.loss),
                  ": expected a difference of at most ", number_text(allowed));
  }
  ++audits_.count;
  audits_.largest = std::max(audits_.largest, off / std::max(1.0, std::abs(sample.loss)));
}

void KktObserver::observe(const Observed& at, Sample& sample) {
  if (at.with_kkt) sample.kkt = at.found->kkt;
}

void BoundObserver::observe(const Observed& at, Sample& sample) {
  if (at.found != nullptr && sample.objective < smallest_) {
    smallest_ = sample.objective;
    smallest_rounding_ = at.found->rounding;
    smallest_iteration_ = at.iteration;
  }
  if (at.with_bound) {
    last_ = at.found->dual;
    rounding_ = at.found->rounding;
    raise(last_, "the gradient");
    if (point_ != nullptr) {
      const double value = point_->value(evaluator_);
      raise(value, "the solver's dual point");
      last_ = std::fmax(last_, value);
      if (const double gap = std::max(sample.objective - value, rounding_); std::isfinite(gap))
        sample.dual_gap = gap;
      sample.estimated_gap = point_->estimated_gap();
      sample.infeasibility = point_->infeasibility();
    }
    check();
  }
  if (std::isfinite(best_) && std::isfinite(sample.objective) && std::isfinite(rounding_))
    sample.gap = std::max(sample.objective - best_, rounding_);
}

void BoundObserver::value_dual_point() {
  if (point_ != nullptr) raise(point_->value(evaluator_), "the solver's dual point");
}

void BoundObserver::raise(double bound, const char* from) {
  if (!std::isfinite(bound) || !(bound > best_)) return;
  best_ = bound;
  from_ = from;
}

void BoundObserver::check() const {
  if (!(best_ > smallest_ + smallest_rounding_)) return;
  throw Error("the lower bound ", number_text(best_), " on min F, from ", from_,
              ", is above F = ", number_text(smallest_), " at iteration ", smallest_iteration_,
              ", which is known to ", number_text(smallest_rounding_), ": one of the two is wrong");
}

void AccuracyObserver::observe(const Observed& at, Sample& sample) {
  cost_ = 0.0;
  if (!at.with_accuracy) return;
  const double began = clock_.now();
  test_.measure(at.w, sample);
  cost_ = clock_.now() - began;
  schedule_.measured_accuracy(cost_);
}

}  // namespace proxbench
