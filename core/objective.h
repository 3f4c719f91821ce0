#pragma once
/// F(w) = lambda*||w||_1 + (mu/2)*||w||_2^2 + l(w), where l(w) is the SUM over training instances of the loss
/// (core/loss.h). Objective is the full-batch view of it: values, gradients and selections.
///
/// What else there is: products with the Hessian (core/curvature.h), the Hessian as a matrix
/// (core/hessian.h), inference on single instances (core/instance_inference.h), and the certificate
/// (core/certificates/certificate.h).
///
/// "Smooth part" below means l(w) + (mu/2)*||w||^2, and every gradient is that of the smooth part. With the
/// hinge loss it is a subgradient, given by the structures that the max oracle finds, and Selection::kkt_max
/// measures nothing. infer_some() is for the log loss.

#include <optional>
#include <span>
#include <vector>

#include "core/base/profile.h"
#include "core/base/types.h"
#include "core/counts.h"
#include "core/linear_map.h"
#include "core/loss.h"
#include "core/oracle.h"
#include "core/penalty.h"

namespace proxbench {

/// The smooth part at a point: the scores there, the residual that inference finds, and the loss.
struct SmoothState {
  Scores scores;
  Residual residual;
  double loss = 0.0;
};

/// X and the oracle are borrowed and must outlive the objective. Use one objective from one thread at a time:
/// its methods run in parallel inside and share scratch memory.
class Objective {
 public:
  /// Throws Error unless x.positions() == oracle.positions(), check() accepts the penalty, and the oracle has
  /// sums (log loss) or max (hinge loss). A relaxation may replace max, and F is then that of the relaxation.
  Objective(const DesignMatrix& x, const Oracle& oracle, const Penalty& penalty, const Parallel& parallel,
            const Loss& loss = {});

  const LinearMap& map() const { return map_; }
  /// Structures and capabilities. Its inference is not counted.
  const Oracle& oracle() const { return oracle_; }
  /// For the hinge loss: the max over structures, or over the relaxation if there is no max. Not counted.
  const MaxOracle* max() const { return max_; }
  const Penalty& penalty() const { return penalty_; }
  double lambda() const { return penalty_.lambda; }
  double mu() const { return penalty_.mu; }
  const Loss& loss() const { return loss_; }
  const Parallel& parallel() const { return map_.parallel(); }
  Index outputs() const { return map_.outputs(); }
  Coord unary_weights() const { return map_.unary_weights(); }
  Coord dimension() const { return map_.dimension(); }
  /// The number of instances of all processes. oracle() has only those of this process.
  std::size_t instances() const { return instances_; }
  /// The work done through this objective. Monitors use objectives of their own.
  Counts& counts() { return counts_; }
  const Counts& counts() const { return counts_; }

  /// Make buffers of the right shape (LinearMap::make_scores()).
  Scores make_scores() const { return map_.make_scores(); }
  Residual make_residual() const { return map_.make_scores(); }
  SmoothState make_state() const { return {make_scores(), make_residual()}; }

  /// LinearMap::apply().
  void scores(const SparseVector& w, Scores& out) const { map_.apply(w, out); }
  void scores(std::span<const Coord> index, std::span<const double> value, Scores& out) const {
    map_.apply(index, value, out);
  }

  /// Makes one pass and returns l at the scores. Fills the residual if it is not null.
  double infer(const ScorePoint& at, Residual* residual);
  /// Does the same for some instances (SumOracle::infer_some()), as their share of a pass.
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual);
  /// F, given l and the weights.
  double value(double loss, std::span<const double> w) const {
    return loss + penalty_.l1(w) + penalty_.l2(w);
  }
  /// Fills the state at w with one pass, and returns F.
  double evaluate(const SparseVector& w, SmoothState& at) {
    scores(w, at.scores);
    at.loss = infer({at.scores}, &at.residual);
    return value(at.loss, w.value);
  }
  /// SumOracle::inference_flops() or MaxOracle::max_flops() of a pass, summed over all processes.
  double inference_flops(std::size_t columns, bool residual) const;

  /// out[i] = coordinate set[i] of the gradient of the smooth part. w[i] is the weight there. `set` must
  /// ascend.
  void partial_gradient(const Residual& residual, std::span<const Coord> set, std::span<const double> w,
                        std::span<double> out) const;
  /// Computes the whole gradient; w.size() == out.size() == dimension().
  void gradient(const Residual& residual, std::span<const double> w, std::span<double> out) const;

  /// select_gradient() forms the gradient one feature at a time, in O(K) memory per thread. It keeps the
  /// coordinates with |g| > threshold and the whole support of w, whose indices must ascend. If the threshold
  /// is infinite, it keeps none. It also finds the max norm and the l1 norm of the minimum-norm subgradient
  /// of F over ALL coordinates.
  struct Selection {
    std::vector<Coord> index;    ///< ascending
    std::vector<double> weight;  ///< w there
    std::vector<double> gradient;
    double kkt_max = 0.0;
    double kkt_l1 = 0.0;
    /// These two are about the gradient g of l itself, over all coordinates, for dual.h. gradient_max is the
    /// max norm of g if that exceeds lambda, and otherwise anything up to lambda. excess_squares is the sum
    /// of (|g_j| - lambda)^2 over |g_j| > lambda.
    double gradient_max = 0.0;
    double excess_squares = 0.0;
    /// The sum of squares of the minimum-norm subgradient of F over all coordinates.
    double kkt_squares = 0.0;
    /// <w, g + mu*w>, and the sum of the sizes of its terms.
    double along = 0.0, along_sizes = 0.0;
    /// Coordinates outside `index` have a gradient of the smooth part of at most this size.
    double complete_above = 0.0;
  };
  void select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                       Selection& out) const;
  /// Does the same from a known selection at the same w, made by any objective with this smooth part. `known`
  /// must have all coordinates with |g| > `complete_above`, which must be at most `threshold` and at most
  /// lambda.
  void reselect(const Selection& known, double complete_above, double threshold, Selection& out) const;

  /// From now on, all other coordinates count as proven to be zero: select_gradient() ignores them, and
  /// gradient() gives 0 there. `candidates` must ascend and contain the support of every w that is used.
  void restrict_to(std::vector<Coord> candidates);
  /// Null if not restricted.
  const std::vector<Coord>* candidates() const { return candidates_ ? &*candidates_ : nullptr; }

  /// Times the methods and all loops of parallel() from now on, and counts their work in `profile` by phase.
  /// Null stops this. The profile must outlive the objective, or be removed by passing null.
  void time_phases(Profile* profile) {
    profile_ = profile;
    map_.time_phases(profile);
  }
  /// Assigns the time of an inference over some positions to its phase, until the end of the scope.
  [[nodiscard]] auto time_inference(const ScorePoint& at, const Residual* residual,
                                    std::size_t positions) const {
    return PhaseTimer(profile_, Phase::kInference,
                      [this, at, residual, positions] { return inference_work(at, residual, positions); });
  }

 private:
  void record(Coord c, double w, double g, double threshold, Selection& selection) const;
  /// Calls visit(coordinate) for the coordinates in [begin, end), ascending. If restricted, it visits only
  /// candidates.
  template <class Visit>
  void for_each_candidate(Coord begin, Coord end, const Visit& visit) const;
  double own_flops(std::size_t columns, bool residual) const {
    return loss_.hinge() ? max_->max_flops() : oracle_.sum()->inference_flops(columns, residual);
  }
  Work inference_work(const ScorePoint& at, const Residual* residual, std::size_t positions) const;
  const Oracle& oracle_;
  const MaxOracle* max_;  ///< for the hinge loss
  std::size_t instances_;
  Penalty penalty_;
  Loss loss_;
  LinearMap map_;
  Counts counts_;
  Profile* profile_ = nullptr;
  std::optional<std::vector<Coord>> candidates_;
};

/// Sets w = soft_threshold(v - g/a, lambda/a) from a selection with weights v and gradient g. Returns the
/// squared length of the step, ||w - v||^2. Other coordinates of w are 0.
double proximal_step(const Objective::Selection& from, double a, double lambda, SparseVector& w);

}  // namespace proxbench
