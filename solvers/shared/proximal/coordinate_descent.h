#pragma once
/// Randomised coordinate descent (Zhong et al. 2014, section 2.2) on the model of proximal quasi-Newton,
///
///     min_d  g^T d + 1/2 d^T B d + lambda*||w + d||_1,    B = gamma*B0 - [S Y] M [S Y]^T,
///
/// on a working set of n coordinates. A visit of a coordinate costs time proportional to the length of its
/// rows of [S Y] and B0.

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

/// The start matrix B0 of a model: its rows, with the running products B0 d at d = 0, and its diagonal. If
/// `rows` is null, B0 = I.
struct StartMatrix {
  const BlockRow* rows = nullptr;
  std::span<const double> diagonal = {};
};

class CoordinateDescent {
 public:
  /// Starts at d = 0 and resizes d to n. w and g have length n. `lbfgs` must be refreshed. Borrows all
  /// arguments.
  void begin(const CompactLbfgs& lbfgs, const StartMatrix& start, std::span<const double> w,
             std::span<const double> g, double lambda, std::vector<double>& d);
  /// Takes one step in each coordinate, in random order. Returns the largest change of a coordinate's
  /// gradient that its own step caused.
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
