#pragma once
/// What the solvers that keep w dense share: vector loops over all d coordinates, a point with everything
/// that one inference at it gives, and the test for "no further progress within rounding".
///
/// All sums run over chunks of a fixed size that are added in order, so they do not depend on threads or back
/// end.

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/types.h"
#include "core/objective.h"
#include "core/solver.h"

namespace proxbench::dense {

/// Calls body(begin, end) for every chunk of [0, n), in parallel.
void for_range(const Parallel& parallel, std::size_t n,
               const std::function<void(std::size_t, std::size_t)>& body);

/// Sum over the chunks, in order, of what body(begin, end) returns.
double sum_range(const Parallel& parallel, std::size_t n,
                 const std::function<double(std::size_t, std::size_t)>& body);

double dot(const Parallel& parallel, std::span<const double> a, std::span<const double> b);

/// y += alpha * x, and then y . z, in one walk.
double add_then_dot(const Parallel& parallel, double alpha, std::span<const double> x, std::span<double> y,
                    std::span<const double> z);

/// Max norm of the minimum-norm subgradient of F at w, from the gradient g of the smooth part; NaN where g
/// holds one.
double kkt(const Parallel& parallel, std::span<const double> w, std::span<const double> g, double lambda);

/// w as a dense vector of length d.
std::vector<double> to_dense(const SparseVector& w, std::size_t d);

/// A point and what one inference there gives.
struct Point {
  Point(const Objective& objective, const SparseVector& start);

  /// Scores, smooth part and l1 at w; the residual too where it is asked for. One pass.
  void evaluate(Objective& objective, bool with_residual = true);
  double value() const { return smooth + l1; }

  std::vector<double> w;
  SparseVector nonzeros;  ///< of w, as of the last evaluate()
  Scores scores;
  Residual residual;
  double loss = 0.0;    ///< l(w)
  double smooth = 0.0;  ///< l(w) + (mu/2)*||w||^2
  double l1 = 0.0;      ///< lambda*||w||_1
};

/// Notices when neither F nor kkt has reached a new minimum for `patience` iterations: what is left is
/// rounding.
class StallGuard {
 public:
  explicit StallGuard(std::int64_t patience) : patience_(patience) {}
  /// One iteration's F, and kkt where it is known (else infinity). True: stalled.
  bool stalled(double value, double kkt = std::numeric_limits<double>::infinity()) {
    ++since_;
    if (value < best_value_ || kkt < best_kkt_) since_ = 0;
    if (value < best_value_) best_value_ = value;
    if (kkt < best_kkt_) best_kkt_ = kkt;
    return since_ >= patience_;
  }

 private:
  std::int64_t patience_, since_ = 0;
  double best_value_ = std::numeric_limits<double>::infinity();
  double best_kkt_ = std::numeric_limits<double>::infinity();
};

/// The stopping rule of Andrew and Gao 2007, section 4: the relative change of F, averaged over the last
/// kWindow iterations, is below a bound.
class ChangeRule {
 public:
  static constexpr std::size_t kWindow = 5;
  /// `bound` 0: never.
  explicit ChangeRule(double bound) : bound_(bound) {}
  /// F at the iterates, the start included, one after the other. True: stop.
  bool met(double value);

 private:
  double bound_;
  std::vector<double> last_;  ///< the newest last, kWindow + 1 at most
};

/// The option that sets it, `change`.
OptionSpec change_option();

/// How a run over dense points opens and closes: where it starts, when it is over, and what is returned.
class Run {
 public:
  /// `change`: the bound of a ChangeRule.
  Run(const SolveProblem& problem, std::int64_t patience, double change = 0.0)
      : problem_(problem), guard_(patience), change_(change) {}

  /// Starts the clock and fills `now` and its gradient at the starting point. False: the run is over.
  bool open(Point& now, std::span<double> gradient);
  /// kkt at a point, from the gradient there.
  double kkt(const Point& at, std::span<const double> gradient) const;
  /// Ends an iteration that arrived at `now`; kkt there where it is known (else infinity). False: the run is
  /// over.
  bool step(const Point& now, double kkt);

  /// Why the run is over, once open() or step() says so.
  Status status() const { return status_; }
  /// What ends a run within an iteration that found no step from `now`: the limits, where they asked for
  /// that; else rounding.
  Status without_step() const;

  /// The result at `now`, which is left without its nonzeros.
  SolveResult result(Point& now) { return result(now, status_); }
  SolveResult result(Point& now, Status status);

 private:
  const SolveProblem& problem_;
  StallGuard guard_;
  ChangeRule change_;
  Status status_ = Status::kConverged;
  std::int64_t iterations_ = 0;
};

}  // namespace proxbench::dense
