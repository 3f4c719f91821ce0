#pragma once
/// The inner problem with the exact Hessian:
///
///     min_d  g^T d + 1/2 d^T H d + lambda*||w + d||_1
///
/// on a working set, solved exactly by a primal-dual active-set method (Hintermueller, Ito, Kunisch 2002).
/// Each round guesses which coordinates are nonzero, with which signs, and solves a linear system on them.
/// Coordinates that come out with the other sign become zero. Zeros whose gradient exceeds lambda become
/// nonzero. The method ends when neither occurs. Far from the solution the method may fail. A few passes of
/// coordinate descent then replace it.
///
/// The model is expensive: hessian(), and n^3/3 operations for a Cholesky factor. The model is
/// meant for the end of hard solves: if outputs and positions depend strongly on each other, a few Newton
/// steps replace thousands of L-BFGS iterations on blocks. In such solves H is so ill-conditioned that it
/// needs double precision.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/objective.h"
#include "solvers/prox_newton/cholesky.h"
#include "solvers/shared/proximal/iterate.h"

namespace proxbench::prox_newton {

class NewtonModel {
 public:
  /// The most rows of H. H and its factor then take 2.3 GB.
  static constexpr std::size_t kMostRows = 12000;

  /// Estimates the operations of build() and of one Cholesky factor, as if all instances were alike.
  static double work(const Objective& objective, std::span<const Coord> index);
  /// The operations of a Cholesky factor of n rows.
  static double factor_work(std::size_t n) { return std::pow(static_cast<double>(n), 3) / 3.0; }
  /// Estimates the operations of a pass without H: an inference, the scores of a direction, and a gradient.
  /// `exponentials`: those of the inference count, too.
  static double pass_work(const proximal::Iterate& at, std::span<const Coord> index, bool exponentials);

  /// Builds H at the w with these scores, on a working set of at most kMostRows coordinates.
  /// Requires has_hessian(). Returns false if `stop` was requested. H must then be built again
  /// before use.
  bool build(const Objective& objective, const Scores& scores, const proximal::WorkingSet& set,
             const StopToken& stop = {});

  /// Sets d to the solution. w and g are the weights and the gradient on the working set. `most_rounds`
  /// bounds the linear systems, and the passes of coordinate descent if the systems fail. w + d is exactly
  /// zero where the solution is. Returns g^T d + lambda*(||w + d||_1 - ||w||_1). d is meaningless if `stop`
  /// was requested.
  double solve(std::span<const double> w, std::span<const double> g, double lambda, std::int64_t most_rounds,
               const Parallel& parallel, std::vector<double>& d, const StopToken& stop = {});

  /// The number of linear systems solved so far.
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
  std::vector<std::uint32_t> order_;  ///< the rows that the factor covers, in its order
  std::vector<std::uint32_t> place_;  ///< where each row is in order_, or kNone

  std::vector<signed char> sign_;  ///< of the solution, as known so far: -1, 0, 1
  double systems_ = 0.0;
};

}  // namespace proxbench::prox_newton
