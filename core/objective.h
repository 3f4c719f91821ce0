#pragma once
/// F(w) = lambda*||w||_1 + (mu/2)*||w||_2^2 + l(w), where l(w) is the SUM over training instances of the loss
/// (core/loss.h). Objective is the full-batch helper on top of the linear map, the penalty, the loss and the
/// capabilities of the oracle. It computes values, gradients and selections, and counts passes and updates.
///
/// "Smooth part" below means l(w) + (mu/2)*||w||^2, and every gradient is that of the smooth part. With the
/// hinge loss it is a subgradient, given by the structures that the max oracle finds, and Selection::kkt_max
/// measures nothing. Functions that need sums over structures (infer_some(), infer_instance(), beliefs,
/// derivatives) are for the log loss.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/profile.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "core/linear_map.h"
#include "core/loss.h"
#include "core/oracle.h"
#include "core/penalty.h"

namespace proxbench {

/// X and the oracle are borrowed and must outlive the objective. Use one objective from one thread at a time:
/// its methods run in parallel inside and share scratch memory.
class Objective {
 public:
  /// Throws Error unless x.positions() == oracle.positions(), check() accepts the penalty, and the oracle has
  /// sums (log loss) or max (hinge loss). A relaxation may replace max, and F is then that of the relaxation.
  Objective(const DesignMatrix& x, const Oracle& oracle, const Penalty& penalty, const Parallel& parallel,
            const Loss& loss = {});

  const LinearMap& map() const { return map_; }
  const Penalty& penalty() const { return penalty_; }
  const Loss& loss() const { return loss_; }
  /// The boundaries of the instances, and the gold structures.
  const Structure& structure() const { return oracle_; }
  bool has(Capability capability) const { return has_capability(oracle_, capability); }

  double lambda() const { return penalty_.lambda; }
  double mu() const { return penalty_.mu; }
  Index features() const { return map_.features(); }
  Index outputs() const { return map_.outputs(); }
  /// The number of instances of all processes. structure() has only those of this process.
  std::size_t instances() const { return instances_; }
  Coord unary_weights() const { return map_.unary_weights(); }
  Coord dimension() const { return map_.dimension(); }
  const Parallel& parallel() const { return map_.parallel(); }
  const DesignMatrix& x() const { return map_.x(); }

  /// Make buffers of the right shape (LinearMap::make_scores()).
  Scores make_scores() const { return map_.make_scores(); }
  Residual make_residual() const { return map_.make_scores(); }

  /// LinearMap::apply(), advance() and inner().
  void scores(const SparseVector& w, Scores& out) const { map_.apply(w, out); }
  void scores(std::span<const Coord> index, std::span<const double> value, Scores& out) const {
    map_.apply(index, value, out);
  }
  void advance(Scores& base, double alpha, const Scores& direction) const {
    map_.advance(base, alpha, direction);
  }
  double inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const {
    return map_.inner(a, b, s, t);
  }

  /// Makes one pass and returns l at the scores. Fills the residual if it is not null. Counted in passes().
  double infer(const ScorePoint& at, Residual* residual);
  /// Does the same for some instances (SumOracle::infer_some()). Counted as their share of a pass.
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual);
  /// InstanceOracle::infer_instance(), counted as its share of a pass. Requires that capability.
  double infer_instance(Index instance, const double* scores, std::span<const double> extra, double* residual,
                        std::span<double> extra_residual, InstanceOracle::Workspace& work);
  /// The oracle's inference on single instances. Calls through it are not counted. Null if the oracle lacks
  /// this capability.
  const InstanceOracle* single_instances() const { return oracle_.instance(); }
  /// BeliefOracle::infer_beliefs(), counted as its share of a pass. Several threads may call it at once.
  /// Requires that capability.
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs);
  /// InstanceMaxOracle::best_structure() with the cost of the loss, counted as its share of a pass. Several
  /// threads may call it at once. Requires that capability.
  InstanceMaxOracle::Value best_structure(Index instance, const double* scores, std::span<const double> extra,
                                          std::span<Index> outputs, InstanceMaxOracle::Workspace& work);
  /// The oracle's interface for structures. Calls through it are not counted. Requires InstanceMaxOracle.
  const InstanceMaxOracle& structures() const { return *oracle_.instance_max(); }
  /// The factors of the oracle's structures. Requires that capability.
  const FactorOracle& factors() const { return *oracle_.factors(); }
  /// Counts in passes() that all factors of `instances` instances were searched.
  void count_searches(double instances) { passes_ += instances / static_cast<double>(this->instances()); }
  /// MaxOracle::maximise() for the hinge loss. Not counted.
  MaxOracle::Sums hinge(const Scores& scores, Residual* residual = nullptr) const;
  /// The interface for the other methods of BeliefOracle. Requires that capability.
  const BeliefOracle& beliefs() const { return *oracle_.beliefs(); }
  /// SumOracle::instance_terms(). Not counted.
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms) const;
  /// How exact infer() is on an instance: what the oracle states, else plain_rounding().
  InferenceRounding inference_rounding(Index instance) const {
    const auto stated = loss_.hinge() ? max_->max_rounding(instance) : oracle_.sum()->sum_rounding(instance);
    return stated ? *stated : plain_rounding(oracle_.length(instance), oracle_.outputs());
  }
  /// SumOracle::spread_drift() for each extra weight; zeros for a hinge loss, whose residuals have no drift.
  std::vector<double> drift_of_extra(std::span<const double> by_output) const {
    std::vector<double> out(oracle_.extra_weights(), 0.0);
    if (!loss_.hinge() && !out.empty()) oracle_.sum()->spread_drift(by_output, out);
    return out;
  }
  /// SumOracle::inference_flops() or MaxOracle::max_flops() of a pass, summed over all processes.
  double inference_flops(const ScorePoint& at, bool residual) const;

  /// out[i] = coordinate set[i] of the gradient of the smooth part. w[i] is the weight there. `set` must
  /// ascend.
  void partial_gradient(const Residual& residual, std::span<const Coord> set, std::span<const double> w,
                        std::span<double> out) const;
  /// Computes the whole gradient; w.size() == out.size() == dimension().
  void gradient(const Residual& residual, std::span<const double> w, std::span<double> out) const;

  /// Computes the Hessian of the smooth part on the coordinates `set`, which must ascend: row i of the full
  /// symmetric matrix at out + i*stride, stride >= set.size(). Requires has_hessian(). Returns false if
  /// `stop` was requested. The contents of `out` are then undefined.
  bool hessian(const Scores& scores, std::span<const Coord> set, double* out, std::size_t stride,
               const StopToken& stop = {}) const;

  /// Whether hessian() is available: the oracle has covariances, or the outputs of different positions are
  /// independent, so that their covariances follow from the marginals.
  bool has_hessian() const { return has(Capability::kCovariance) || independent_positions(); }

  /// The Hessian of the smooth part at one point, for products with vectors: what the oracle stores about the
  /// point, and buffers for a direction. Requires an oracle with derivatives.
  struct Curvature {
    std::unique_ptr<DerivativeOracle::Messages> messages;  ///< null: there is no point yet
    Scores direction;
    Residual change;
  };
  Curvature make_curvature() const { return {nullptr, make_scores(), make_residual()}; }
  /// Makes one pass: infer() with a residual. `curvature` then belongs to this point.
  double infer(const ScorePoint& at, Residual& residual, Curvature& curvature);
  /// out = H v on the coordinates `set`, which must ascend, for a v that is zero elsewhere. This is the
  /// partial adjoint of the derivative of the residual along the scores of v, plus mu*v. The derivative
  /// counts as one pass.
  void hessian_product(Curvature& at, std::span<const Coord> set, std::span<const double> v,
                       std::span<double> out);
  /// Does the same for all coordinates; v.size() == out.size() == dimension(). v must be zero outside
  /// candidates().
  void hessian_product(Curvature& at, std::span<const double> v, std::span<double> out);

  /// select_gradient() forms the gradient one feature at a time, in O(K) memory per thread. It keeps the
  /// coordinates with |g| > threshold and the whole support of w, whose indices must ascend. It also finds
  /// the max norm and the l1 norm of the minimum-norm subgradient of F over ALL coordinates.
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
    /// Coordinates outside `index` have a gradient of the smooth part of at most this size.
    double complete_above = 0.0;
  };
  void select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                       Selection& out) const;
  /// Does the same from a known selection at the same w, made by any objective with this smooth part. `known`
  /// must have all coordinates with |g| > `complete_above`, which must be at most `threshold` and at most
  /// lambda.
  void select_gradient(const Selection& known, double complete_above, double threshold, Selection& out) const;

  /// From now on, all other coordinates count as proven to be zero: select_gradient() ignores them, and
  /// gradient() gives 0 there. `candidates` must ascend and contain the support of every w that is used.
  void restrict_to(std::vector<Coord> candidates);
  /// Null if not restricted.
  const std::vector<Coord>* candidates() const { return candidates_ ? &*candidates_ : nullptr; }

  /// lambda*|w|_1 and (mu/2)*|w|^2 over the given weights.
  double l1(std::span<const double> w) const { return penalty_.l1(w); }
  double l2(std::span<const double> w) const { return penalty_.l2(w); }

  /// Inferences over all training instances so far. One such inference is a pass. Monitors use objectives of
  /// their own.
  double passes() const {
    return passes_ + static_cast<double>(single_calls_.load()) / static_cast<double>(instances());
  }

  /// Counts that `instances` of the instances made one change of w, or of the variables of a dual solver.
  void count_updates(double instances) { updated_ = updated_.value_or(0.0) + instances; }
  /// The number of updates by all training instances so far. Empty if the solver counts none: then each of
  /// its iterations is one.
  std::optional<double> updates() const {
    return updated_ ? std::optional(*updated_ / static_cast<double>(instances())) : std::nullopt;
  }

  /// Times the methods and all loops of parallel() from now on, and counts their work in `profile` by phase.
  /// Null stops this. The profile must outlive the objective, or be removed by passing null.
  void time_phases(Profile* profile) {
    profile_ = profile;
    map_.time_phases(profile);
  }

 private:
  void record(Coord c, double w, double g, double threshold, Selection& selection) const;
  /// Calls visit(coordinate) for the coordinates in [begin, end), ascending. If restricted, it visits only
  /// candidates.
  template <class Visit>
  void for_each_candidate(Coord begin, Coord end, const Visit& visit) const;
  std::optional<std::vector<Coord>> find_near(const Residual& residual, const SparseVector& w,
                                              double quiet) const;
  void differentiate(Curvature& at);
  double own_flops(const ScorePoint& at, bool residual) const {
    return loss_.hinge() ? max_->max_flops(at) : oracle_.sum()->inference_flops(at, residual);
  }
  Work inference_work(const ScorePoint& at, const Residual* residual, std::size_t positions) const;
  /// Whether each instance is one position, every output has a column, and there are no extra weights.
  bool independent_positions() const {
    return has(Capability::kSum) && oracle_.collapsed() == nullptr && oracle_.extra_weights() == 0 &&
           oracle_.positions() + 1 == oracle_.begin().size();
  }
  struct LocalCoordinates;
  struct ActiveCoordinate;
  void add_positions(const Residual& residual, std::span<const Coord> set,
                     std::span<const std::uint32_t> of_feature, double* matrix, std::size_t stride,
                     const StopToken& stop) const;

  const Oracle& oracle_;
  const MaxOracle* max_;  ///< for the hinge loss
  std::size_t instances_;
  Penalty penalty_;
  Loss loss_;
  LinearMap map_;
  double passes_ = 0.0;
  std::atomic<std::uint64_t> single_calls_ = 0;  ///< calls for one instance each
  std::optional<double> updated_;                ///< in instances
  Profile* profile_ = nullptr;
  std::optional<std::vector<Coord>> candidates_;
};

}  // namespace proxbench
