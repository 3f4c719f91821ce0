#include "solvers/shared/dense.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/schema.h"
#include "core/kernels/kernel_table.h"

namespace proxbench::dense {

double sum_range(const Parallel& parallel, std::size_t n,
                 const std::function<double(std::size_t, std::size_t)>& body) {
  const Chunks chunks{n, kGrain};
  std::vector<double> part(chunks.count());
  parallel.for_each(chunks.count(),
                    [&](std::size_t chunk) { part[chunk] = body(chunks.begin(chunk), chunks.end(chunk)); });
  double sum = 0.0;
  for (const double p : part) sum += p;
  return sum;
}

double dot(const Parallel& parallel, std::span<const double> a, std::span<const double> b) {
  return sum_range(parallel, a.size(), [&](std::size_t begin, std::size_t end) {
    return kernels_in_use().dot(&a[begin], &b[begin], end - begin);
  });
}

double add_then_dot(const Parallel& parallel, double alpha, std::span<const double> x, std::span<double> y,
                    std::span<const double> z) {
  return sum_range(parallel, y.size(), [&](std::size_t begin, std::size_t end) {
    return kernels_in_use().add_then_dot(alpha, &x[begin], &y[begin], &z[begin], end - begin);
  });
}

double kkt(const Parallel& parallel, std::span<const double> w, std::span<const double> g, double lambda) {
  const auto raise = [](double& largest, double x) {
    if (!(x <= largest) && !std::isnan(largest)) largest = x;  // a NaN stays
  };
  const Chunks chunks{w.size(), kGrain};
  std::vector<double> part(chunks.count(), 0.0);
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    double largest = 0.0;
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
      raise(largest, std::abs(minimum_norm_subgradient(w[i], g[i], lambda)));
    part[chunk] = largest;
  });
  double largest = 0.0;
  for (const double p : part) raise(largest, p);
  return largest;
}

std::vector<double> to_dense(const SparseVector& w, std::size_t d) {
  std::vector<double> out(d, 0.0);
  for (std::size_t i = 0; i < w.nnz(); ++i) out[w.index[i]] = w.value[i];
  return out;
}

Point::Point(const Objective& objective, const SparseVector& start)
    : SmoothState(objective.make_state()), w(to_dense(start, objective.dimension())), nonzeros(start) {}

void Point::evaluate(Objective& objective, bool with_residual) {
  nonzeros.assign(w);
  objective.scores(nonzeros, scores);
  loss = objective.infer({scores}, with_residual ? &residual : nullptr);
  smooth = loss + objective.penalty().l2(nonzeros.value);
  l1 = objective.penalty().l1(nonzeros.value);
}

bool ChangeRule::met(double value) {
  last_.push_back(value);
  if (last_.size() <= kWindow) return false;
  const double change = std::abs(last_.front() - value) / (static_cast<double>(kWindow) * std::abs(value));
  last_.erase(last_.begin());
  return change < bound_;
}

bool Run::open(Point& now, std::span<double> gradient) {
  status_ = Status::kDiverged;
  if (!problem_.monitor.start(problem_.start)) return false;
  now.evaluate(problem_.objective);
  problem_.objective.gradient(now.residual, now.w, gradient);
  change_.met(now.value());
  status_ = Status::kConverged;
  return !(kkt(now, gradient) <= problem_.kkt_target());
}

double Run::kkt(const Point& at, std::span<const double> gradient) const {
  const Objective& objective = problem_.objective;
  return dense::kkt(objective.parallel(), at.w, gradient, objective.lambda());
}

bool Run::step(const Point& now, double kkt) {
  const bool go_on = problem_.monitor.step(now.nonzeros, now.loss, now.w.size());
  if (kkt <= problem_.kkt_target())
    status_ = Status::kConverged;
  else if (!go_on)
    status_ = problem_.monitor.stop_status();
  else if (change_.met(now.value()))
    status_ = Status::kSmallChange;
  else if (guard_.stalled(now.value(), kkt))
    status_ = Status::kStalled;
  else
    return true;
  return false;
}

SolveResult Run::stuck(Point& now) const {
  return result(now, problem_.monitor.out_of_time() ? problem_.monitor.stop_status() : Status::kStalled);
}

SolveResult Run::result(Point& now, Status status) {
  now.nonzeros.assign(now.w);
  return {status, std::move(now.nonzeros)};
}

OptionSpec change_option() {
  return describe(
      "change", "0",
      "ends the run once the relative change of F, averaged over 5 iterations, is below this (Andrew and "
      "Gao 2007, section 4: 1e-5); 0: never",
      {.min = 0, .max = 1, .max_open = true});
}

}  // namespace proxbench::dense
