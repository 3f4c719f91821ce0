#pragma once
/// Shared by the solvers that keep w dense: vector loops over all d coordinates, a point with the results of
/// one inference there, and the test for "no further progress within rounding".
///
/// Every sum runs over chunks of a fixed size and adds them in order. So sums do not depend on the number of
/// threads or on the back end.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/options.h"
#include "core/base/types.h"
#include "core/objective.h"
#include "core/solver.h"

namespace proxbench::dense {

/// Doubles per chunk: small enough to balance the load, large enough to hide the cost of a task.
inline constexpr std::size_t kGrain = 1u << 14;

/// The sum over the chunks, in order, of the values that body(begin, end) returns.
double sum_range(const Parallel& parallel, std::size_t n,
                 const std::function<double(std::size_t, std::size_t)>& body);

/// Calls body(i) for every i in [0, n), in parallel.
template <class Body>
void for_all(const Parallel& parallel, std::size_t n, const Body& body) {
  const Chunks chunks{n, kGrain};
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    for (std::size_t i = chunks.begin(chunk), end = chunks.end(chunk); i < end; ++i) body(i);
  });
}

/// The sum of term(i) over [0, n).
template <class Term>
double sum_all(const Parallel& parallel, std::size_t n, const Term& term) {
  return sum_range(parallel, n, [&](std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += term(i);
    return sum;
  });
}

double dot(const Parallel& parallel, std::span<const double> a, std::span<const double> b);

/// Adds alpha * x to y, then returns y . z, in one walk over the vectors.
double add_then_dot(const Parallel& parallel, double alpha, std::span<const double> x, std::span<double> y,
                    std::span<const double> z);

/// The max norm of the minimum-norm subgradient of F at w. `g` is the gradient of the smooth part. Returns
/// NaN if g holds a NaN.
double kkt(const Parallel& parallel, std::span<const double> w, std::span<const double> g, double lambda);

/// Returns w as a dense vector of length d.
std::vector<double> to_dense(const SparseVector& w, std::size_t d);

/// A point, with the state there.
struct Point : SmoothState {
  Point(const Objective& objective, const SparseVector& start);

  /// Computes the scores, the smooth part and the l1 term at w, and the residual on request. Costs one pass.
  void evaluate(Objective& objective, bool with_residual = true);
  double value() const { return smooth + l1; }

  std::vector<double> w;
  SparseVector nonzeros;  ///< of w, at the last evaluate() or ScoreLine::move()
  double smooth = 0.0;    ///< l(w) + (mu/2)*||w||^2
  double l1 = 0.0;        ///< lambda*||w||_1
};

/// Notices that neither F nor kkt has reached a new minimum for `patience` iterations: rounding then hides
/// any progress. The monitor's StallRule knows no kkt and compares F only after 64, 128, 256, ... iterations,
/// so it would mostly stop the run much later.
class StallGuard {
 public:
  explicit StallGuard(std::int64_t patience) : patience_(patience) {}
  /// Takes F of one iteration, and kkt (infinity if unknown). Returns true if the run has stalled.
  bool stalled(double value, double kkt = kInfinity) {
    ++since_;
    if (value < best_value_ || kkt < best_kkt_) since_ = 0;
    if (value < best_value_) best_value_ = value;
    if (kkt < best_kkt_) best_kkt_ = kkt;
    return since_ >= patience_;
  }

 private:
  std::int64_t patience_, since_ = 0;
  double best_value_ = kInfinity;
  double best_kkt_ = kInfinity;
};

/// The stopping rule of Andrew and Gao 2007, section 4: stop if the relative change of F, averaged over the
/// last kWindow iterations, is below a bound.
class ChangeRule {
 public:
  static constexpr std::size_t kWindow = 5;
  /// A `bound` of 0 never stops a run.
  explicit ChangeRule(double bound) : bound_(bound) {}
  /// Takes F at each iterate in turn, the starting point included. Returns true if the run should stop.
  bool met(double value);

 private:
  double bound_;
  std::vector<double> last_;  ///< at most kWindow + 1 values, the newest last
};

/// The option `change`, which sets the bound of a ChangeRule.
OptionSpec change_option();

/// Opens and closes a run over dense points: the start, the decision to stop, and the result.
class Run {
 public:
  /// `change`: the bound of a ChangeRule. `patience`: that of a StallGuard.
  explicit Run(const SolveProblem& problem, double change = 0.0, std::int64_t patience = 100)
      : problem_(problem), guard_(patience), change_(change) {}

  /// Starts the clock, and fills `now` and its gradient at the starting point. Returns false if the run is
  /// over.
  bool open(Point& now, std::span<double> gradient);
  /// Returns kkt at a point, given the gradient there.
  double kkt(const Point& at, std::span<const double> gradient) const;
  /// Ends an iteration that arrived at `now`. `kkt` is the kkt at `now`, or infinity if unknown. Returns
  /// false if the run is over.
  bool step(const Point& now, double kkt);

  /// Why the run is over. Valid once open() or step() has returned false.
  Status status() const { return status_; }
  /// Iterates until the run is over. move() goes to the next iterate and its gradient, or returns false if it
  /// finds no step.
  template <class Move>
  SolveResult iterate(Point& now, const std::vector<double>& gradient, const Move& move) {
    while (move())
      if (!step(now, kkt(now, gradient))) return result(now);
    return stuck(now);
  }
  /// The result of a run whose iteration found no step: that of a limit if the run has reached one, else
  /// kStalled.
  SolveResult stuck(Point& now) const;
  /// Returns the result at `now`. Its nonzeros, which ScoreLine::open() may have replaced, are collected
  /// again and moved into the result.
  SolveResult result(Point& now) const { return result(now, status_); }
  static SolveResult result(Point& now, Status status);

 private:
  const SolveProblem& problem_;
  StallGuard guard_;
  ChangeRule change_;
  Status status_ = Status::kConverged;
};

}  // namespace proxbench::dense
