#pragma once
/// Randomised coordinate descent (Zhong et al. 2014, section 2.2) on the model of proximal quasi-Newton,
///
///     min_d  g^T d + 1/2 d^T B d + lambda*||w + d||_1,    B = gamma*B0 - [S Y] M [S Y]^T,
///
/// on a working set of n coordinates. A visit of a coordinate costs as much as its row of [S Y] and of B0 is
/// long.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/quasi_newton/lbfgs.h"
#include "solvers/shared/proximal/descent_kernels.h"

namespace proxbench::proximal {

/// Delta = g^T d + lambda*(||w + d||_1 - ||w||_1) (Zhong et al. 2014, section 2.3).
double predicted_change(std::span<const double> w, std::span<const double> g, std::span<const double> d,
                        double lambda);

/// The start matrix B0 of a model: rows with running products B0 d at d = 0, and its diagonal. Without rows
/// B0 = I.
struct StartMatrix {
  const BlockRow* rows = nullptr;
  std::span<const double> diagonal = {};
};

class CoordinateDescent {
 public:
  /// From d = 0, which it fills; w, g and d: n numbers each. `lbfgs` refreshed. Borrows all of it.
  void begin(const CompactLbfgs& lbfgs, const StartMatrix& start, std::span<const double> w,
             std::span<const double> g, double lambda, std::vector<double>& d);
  /// One step for each of the coordinates, in random order. Returns the largest change of a coordinate's
  /// gradient by its own step.
  double pass(Random& random);

 private:
  const CompactLbfgs* lbfgs_ = nullptr;
  const BlockRow* rows_ = nullptr;
  std::span<const double> w_, g_;
  double lambda_ = 0.0;
  std::vector<double>* d_ = nullptr;
  std::vector<double> diagonal_;  ///< of B
  AlignedVector<double> d_hat_;   ///< M [S Y]^T d
  std::vector<std::uint32_t> order_;
};

}  // namespace proxbench::proximal
