#pragma once
/// The inner problem of proximal quasi-Newton (Zhong et al. 2014, section 2.2) on a working set of n
/// coordinates:
///
///     min_d  g^T d + 1/2 d^T B d + lambda*||w + d||_1,    B = gamma*B0 - [S Y] M [S Y]^T,
///
/// by randomised coordinate descent, solved inexactly. Where `subspace` says so, a pass that leaves nearly
/// all zeros zero is followed by conjugate gradients on the face that it has found: the coordinates with w +
/// d not zero, their signs held. There the problem is a linear system, which conjugate gradients solve on all
/// threads. Preconditioned with the inverses of B0's blocks they come to its solution in 10 to 40 products
/// (pairs are what is left), where blocks are too large for that with the diagonal in hundreds. Coordinates
/// whose sign the solution would change become zero; where that does not bring the model down, the step ends
/// at the first of them. The next pass over all coordinates tells whether the face was the right one.
///
/// Products on the face are in single precision, half the bytes. No digit of the result is lost: the right
/// side of each system comes from products in double precision (iterative refinement), the next pass measures
/// in double precision what is left of it, and the outer iteration corrects B itself by gradients in double
/// precision.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/quasi_newton/lbfgs.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "solvers/prox_qn/models/block_metric.h"
#include "solvers/prox_qn/models/block_subset.h"

namespace proxbench {

/// When to leave the inner problem: nothing moved its own gradient in a pass over all coordinates by more
/// than `tolerance` times what the first pass did (0: never), or `visits` coordinates were visited, or `stop`
/// was requested: then what solve() gives is of no use.
struct InnerLimits {
  double tolerance;
  std::uint64_t visits;
  bool subspace;
  bool curvature = true;  ///< whether curvature() is wanted
  StopToken stop = {};
};

/// Delta = g^T d + lambda*(||w + d||_1 - ||w||_1) (Zhong et al. 2014, section 2.3).
double predicted_change(std::span<const double> w, std::span<const double> g, std::span<const double> d,
                        double lambda);

class InnerProblem {
 public:
  /// `metric` null: B0 = I. `lbfgs` refreshed. w, g: n numbers each. Fills d; w + d is exactly zero where the
  /// solution is. Returns g^T d + lambda*(||w + d||_1 - ||w||_1).
  double solve(const CompactLbfgs& lbfgs, BlockMetric* metric, std::span<const double> w,
               std::span<const double> g, double lambda, const InnerLimits& limits, Random& random,
               const Parallel& parallel, std::vector<double>& d);

  /// Passes of coordinate descent and iterations of conjugate gradients so far.
  double passes() const { return passes_; }
  /// d^T B d of the last solution; 0 where the limits did not want it.
  double curvature() const { return curvature_; }

 private:
  struct Model;
  /// A coordinate of the face whose sign would change, and the share of the step at which it is zero.
  struct Crossing {
    std::size_t place;
    double at;
  };
  std::uint64_t minimise_on_face(const Model& model, std::uint64_t most, double tolerance,
                                 const StopToken& stop);
  void take_face(const Model& model);
  std::uint64_t conjugate_gradients(const Model& model, std::uint64_t most, double tolerance,
                                    const StopToken& stop);
  std::optional<Crossing> first_to_cross(const Model& model) const;
  void hold_signs(const Model& model, const Crossing& first);
  void take_step(const Model& model);
  void precondition(const Model& model, std::vector<double>& out);
  void multiply_on_face(const Model& model, std::span<const double> x, std::vector<double>& out);

  std::vector<double> diagonal_;
  AlignedVector<double> d_hat_;  ///< M [S Y]^T d
  std::vector<std::uint32_t> order_, active_;
  double passes_ = 0.0, curvature_ = 0.0;

  std::vector<std::uint32_t> face_;  ///< coordinates, ascending; those below are aligned with it
  BlockSubset subset_;
  AlignedVector<float> q_;  ///< rows of [S Y], each column divided by its scale_
  AlignedVector<float> x_, rows_product_, weights_, partial_;
  std::vector<double> scale_;
  std::vector<double> residual_, preconditioned_, direction_, product_, step_, step_product_;
};

}  // namespace proxbench
