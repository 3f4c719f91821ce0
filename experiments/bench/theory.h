#pragma once
/// The theory of Zhong et al. (2014) in numbers: how fast iterates converge outside the null space of the
/// Hessian (Theorem 1), and that null space itself (Theorem 3).
///
/// The error of w_t is e_t = ||m(w_t) - m(w*)||, where m holds the marginals of all outputs at all positions.
/// It vanishes if w_t and w* differ only by a vector of the null space. With exact inner solutions and a unit
/// step s_t, the subgradient at w_{t+1} is (H - B_t) s_t up to second order. Its max norm divided by
/// ||m(w_{t+1}) - m(w_t)|| is the Dennis-More ratio, up to the choice of norms.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/curvature.h"
#include "core/data/hierarchy.h"
#include "core/monitor/monitor.h"
#include "core/objective.h"
#include "core/wrapped_oracle.h"
#include "experiments/results/theory_record.h"

namespace proxbench::theory {

/// All marginals, one output after the other.
using Marginals = std::vector<double>;

/// Keeps the marginals of the last inference with a residual: those at the iterate that a solver gives to the
/// monitor.
class MarginalsOracle final : public WrappedOracle {
 public:
  using WrappedOracle::WrappedOracle;
  double infer(const ScorePoint& at, Residual* residual, const Parallel& parallel) const override;
  double infer_and_keep(const ScorePoint& at, Residual& residual, std::unique_ptr<Messages>& kept,
                        const Parallel& parallel) const override;
  const Marginals& last() const { return last_; }

 private:
  void keep(const Residual& residual) const;
  mutable Marginals last_;
};

double distance(const Marginals& a, const Marginals& b);

/// Returns kkt at an iterate, divided by the distance of its marginals `now` from the marginals `before` of
/// the previous iterate. Returns NaN if `before` is empty: there is no previous iterate.
double dennis_more(double kkt, const Marginals& now, const Marginals& before);

/// Makes the record of a solver from its iterations, and computes their `ratio` and `order`. `nnz` is the
/// number of nonzeros of w*. The support has settled at the iteration from which w keeps that number to the
/// end. From there on, a step that takes a single pass counts as a unit step.
TheoryArm make_arm(const std::string& label, std::vector<TheoryIteration> iterations, std::uint64_t nnz);

/// Returns directions of Theorem 3's null space that do not depend on X, with their names. "from nodes to
/// their children": for each feature, draws a random r for each inner node of the hierarchy, and sets v = r
/// of the parent minus r of the node. Its sum along each path from the root is the same, so no label gains on
/// another. Without a hierarchy: "constant over labels". "constant transitions": 1 on the extra weights, if
/// these are one for each pair of neighbouring labels.
std::vector<std::pair<std::string, std::vector<double>>> null_directions(const Objective& objective,
                                                                         const Hierarchy* hierarchy,
                                                                         std::uint64_t seed);

/// Returns ||H v|| / ||v|| at the curvature's point.
double stretch(Curvature& at, const std::vector<double>& v);
/// Returns the curvature at w.
Curvature curvature_at(Objective& objective, const SparseVector& w);

/// Returns the Hessian at w on these coordinates, computed from covariances, or otherwise from products with
/// unit vectors.
Eigen::MatrixXd hessian_on(Objective& objective, const SparseVector& w, const std::vector<Coord>& face);

/// Returns the rank and the eigenvalues of the Hessian on a face.
TheoryFace spectrum(const Eigen::MatrixXd& hessian);

/// The positive control of Theorem 1: exact Newton steps without a line search on the face of w*. They start
/// at w* with normal noise of 1/50, and end when the error stops falling. `objective` must use `oracle`.
std::vector<TheoryIteration> newton_on_face(Objective& objective, const MarginalsOracle& oracle,
                                            const SparseVector& best);

}  // namespace proxbench::theory
