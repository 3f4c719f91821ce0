#pragma once
/// The inner problem with the exact Hessian:
///
///     min_d  g^T d + 1/2 d^T H d + lambda*||w + d||_1
///
/// on a working set, solved exactly by a primal-dual active-set method (Hintermueller, Ito, Kunisch 2002): a
/// linear system on the coordinates taken for nonzero, with their signs taken for known; those that come out
/// with the other sign become zero, zeros whose gradient exceeds lambda become nonzero, until none does. Far
/// from the solution that may fail; then a few passes of coordinate descent take its place.
///
/// Expensive (Objective::hessian(), and n^3/3 operations for a Cholesky factor), so for the end of hard
/// solves: where outputs and positions depend on each other so much that L-BFGS on blocks takes thousands of
/// iterations, a few of these do. All in double precision: where it is needed H is too ill-conditioned for
/// less.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/objective.h"
#include "solvers/prox_newton/cholesky.h"

namespace proxbench::prox_newton {

class NewtonModel {
 public:
  /// Rows that H may have; with its factor it takes 2.3 GB then.
  static constexpr std::size_t kMostRows = 12000;

  /// Operations that build() and a factor take; roughly, as if all instances were alike.
  static double work(const Objective& objective, std::span<const Coord> index);
  /// The same of a pass without H: an inference (Oracle::inference_flops()), the scores of a direction, a
  /// gradient.
  static double pass_work(const Objective& objective, std::span<const Coord> index, double inference_flops);

  /// At the w with these scores. `index`: the working set, ascending, of kMostRows at most. Requires
  /// Objective::has_hessian(). Returns false if the token stopped it; then it must be built again before use.
  bool build(const Objective& objective, const Scores& scores, std::span<const Coord> index,
             const StopToken& stop = {});

  /// w, g: of the working set. `most_rounds`: linear systems at most, and passes of coordinate descent where
  /// they fail. Fills d; w + d is exactly zero where the solution is. Returns
  /// g^T d + lambda*(||w + d||_1 - ||w||_1). Where the token asks to stop, d is of no use.
  double solve(std::span<const double> w, std::span<const double> g, double lambda, std::int64_t most_rounds,
               const Parallel& parallel, std::vector<double>& d, const StopToken& stop = {});

  /// Linear systems solved so far.
  double systems() const { return systems_; }

 private:
  const double* row(std::size_t i) const { return matrix_.data() + i * padded(size_); }
  void multiply(std::span<const double> x, const Parallel& parallel, std::vector<double>& out) const;
  bool factor(const Parallel& parallel, const StopToken& stop);
  bool append(std::size_t j);
  bool settle_signs(std::span<const double> w, std::span<const double> g, double lambda,
                    std::int64_t most_rounds, const Parallel& parallel, std::vector<double>& d,
                    const StopToken& stop);
  void descend(std::span<const double> w, std::span<const double> g, double lambda, std::int64_t most_passes,
               std::vector<double>& d, const StopToken& stop) const;
  bool bring_up_to_date(const Parallel& parallel, const StopToken& stop);

  std::size_t size_ = 0;
  AlignedVector<double> matrix_;  ///< rows of padded(size_)
  Cholesky cholesky_;
  std::vector<std::uint32_t> order_;  ///< the rows that it is on, as they came
  std::vector<std::uint32_t> place_;  ///< of each row in order_, or kNone

  std::vector<signed char> sign_;  ///< -1, 0, 1: of the solution, as far as it is known
  double systems_ = 0.0;
};

}  // namespace proxbench::prox_newton
