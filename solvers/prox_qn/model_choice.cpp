#include "solvers/prox_qn/model_choice.h"

#include <utility>

namespace proxbench::prox_qn {

namespace {

/// Where full gradients are cheap, or all violators enter, the blocks wait for an epoch that brought F down
/// by less than this.
constexpr double kSlowEpoch = 0.1;
/// A step cut by more than this says that the blocks do not hold here: gamma*D serves for kFirstRest
/// iterations, twice as many the next time.
constexpr double kFarTooLong = 0.06;
/// Predicted decrease, relative to F, below which the length of steps says nothing: rounding decides it.
constexpr double kWithinRounding = 1e-9;
/// The Hessian is made anew where a step with an older one leaves more than this share of the subgradient.
constexpr double kOldHessian = 0.7;
/// The Hessian is made anew for other coordinates where they violate the optimality conditions by so many
/// times as much as those it is on.
constexpr double kMissing = 2.0;

}  // namespace

ModelChoice::ModelChoice(const Settings& settings, const Objective& objective, std::uint64_t seed, bool dear,
                         std::size_t history_capacity)
    : settings_(settings),
      dear_(dear),
      // Not where pairs are taken along: they would be lost.
      newton_allowed_(settings.newton && history_capacity == 0 && objective.has(Capability::kCovariance)),
      inner_(settings, seed),
      diagonal_(settings, inner_),
      blocks_(settings, inner_, history_capacity),
      passes_before_newton_(objective.passes()) {}

void ModelChoice::carry_in(CarriedPairs&& carried, WorkingSet& set) {
  blocks_.carry_in(std::move(carried), set);
  current_ = &blocks_;
}

/// Taking turns like this costs at most twice what the better of both methods does.
bool ModelChoice::newton_is_next(const Iterate& at, bool hessian_brought_nothing) const {
  if (newton()) return !hessian_brought_nothing;
  if (!newton_allowed_ || !at.set.chosen || at.set.size() > NewtonModel::kMostRows) return false;
  const double passes = at.objective.passes() - passes_before_newton_;
  return passes * NewtonModel::pass_work(at.objective, at.set.index, at.inference_flops()) >=
         NewtonModel::work(at.objective, at.set.index);
}

bool ModelChoice::hessian_is_old(double before, double after) const {
  return newton() && after > kOldHessian * before;
}

bool ModelChoice::hessian_misses(double largest_on_it, double largest) {
  return !(largest <= kMissing * largest_on_it);
}

void ModelChoice::start(Iterate& at, bool newton, std::int64_t iteration, bool progressed) {
  if (this->newton()) passes_before_newton_ = at.objective.passes();
  if (!newton) return start_quasi_newton(at, iteration, progressed);
  switch_to(newton_);
  if (newton_.build(at.objective, at.scores(), at.set.index, at.stop)) hessians_ += 1.0;
}

void ModelChoice::start_quasi_newton(Iterate& at, std::int64_t iteration, bool progressed) {
  if (blocks() && blocks_.has_pairs() && progressed && blocks_fit(at)) return blocks_.start_again(at);
  inner_.set_inference_flops(at.inference_flops());
  const bool slow = epoch_value_ - at.value <= kSlowEpoch * at.value;
  epoch_value_ = at.value;
  if ((slow || (dear_ && settings_.growing)) && iteration >= retry_at_ && blocks_fit(at))
    return use_blocks(at);
  const bool again = current_ == &diagonal_;
  switch_to(diagonal_);
  if (iteration == 1)
    diagonal_.start_first(at);
  else if (again)
    diagonal_.start_again(at);
  else
    diagonal_.start_after_other(at);
}

void ModelChoice::refresh(const Iterate& at, std::int64_t iteration) {
  if (!newton() && iteration == retry_at_ && blocks_fit(at))
    use_blocks(at);
  else if (blocks() && blocks_.stale(at.value))
    blocks_.start(at);
}

void ModelChoice::use_blocks(const Iterate& at) {
  switch_to(blocks_);
  blocks_.start(at);
}

void ModelChoice::switch_to(Model& next) {
  if (&next != current_) current_->stop();
  current_ = &next;
}

void ModelChoice::judge_length(double alpha, double slope, const Iterate& at, std::int64_t iteration) {
  if (!blocks() || !(-slope > kWithinRounding * at.value)) return;
  if (alpha >= kFarTooLong) return blocks_.adapt_damping(alpha);
  retry_at_ = iteration + rest_;
  rest_ *= 2;
  switch_to(diagonal_);
  diagonal_.start_after_other(at);
}

}  // namespace proxbench::prox_qn
