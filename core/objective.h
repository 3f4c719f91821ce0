#pragma once
/// F(w) = lambda*||w||_1 + (mu/2)*||w||_2^2 + l(w), l(w) = SUM over training instances of the loss
/// (core/loss.h). The full-batch helper on top of the linear map, the penalty, the loss and what the oracle
/// can do: values, gradients, selections, and the counting of passes and updates.
///
/// "Smooth part" below means l(w) + (mu/2)*||w||^2; every gradient is that of the smooth part. With the hinge
/// loss it is a subgradient, that of the structures which the max oracle finds, and Selection::kkt_max
/// measures nothing. What takes sums over structures (infer_some(), infer_instance(), beliefs, derivatives)
/// is for the log loss.

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

/// X and the oracle are borrowed and must outlive the objective. One objective is used by one thread at a
/// time (its methods run in parallel inside and share scratch memory).
class Objective {
 public:
  /// x.positions() == oracle.positions(), an oracle with sums (log loss) or max (hinge loss; a relaxation
  /// stands in for it, and F is then that of the relaxation), and a penalty that check() accepts; throws
  /// Error otherwise.
  Objective(const DesignMatrix& x, const Oracle& oracle, const Penalty& penalty, const Parallel& parallel,
            const Loss& loss = {});

  const LinearMap& map() const { return map_; }
  const Penalty& penalty() const { return penalty_; }
  const Loss& loss() const { return loss_; }
  /// Where the instances lie, and what is gold there.
  const Structure& structure() const { return oracle_; }
  bool has(Capability capability) const { return has_capability(oracle_, capability); }

  double lambda() const { return penalty_.lambda; }
  double mu() const { return penalty_.mu; }
  Index features() const { return map_.features(); }
  Index outputs() const { return map_.outputs(); }
  /// Of all processes; structure() has those of this one.
  std::size_t instances() const { return instances_; }
  Coord unary_weights() const { return map_.unary_weights(); }
  Coord dimension() const { return map_.dimension(); }
  const Parallel& parallel() const { return map_.parallel(); }
  const DesignMatrix& x() const { return map_.x(); }

  /// Buffers of the right shape (LinearMap::make_scores()).
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

  /// One pass: l at the scores; fills the residual where it is not null. Counted in passes().
  double infer(const ScorePoint& at, Residual* residual);
  /// The same over some instances (SumOracle::infer_some); counted as their share of a pass.
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual);
  /// InstanceOracle::infer_instance(), counted as its share of a pass. Only where the oracle has it.
  double infer_instance(Index instance, const double* scores, std::span<const double> extra, double* residual,
                        std::span<double> extra_residual, InstanceOracle::Workspace& work);
  /// BeliefOracle::infer_beliefs(), counted as its share of a pass. Several threads may call it at once. Only
  /// where the oracle has it.
  double infer_beliefs(Index instance, const double* scores, std::span<const double> extra,
                       double* log_beliefs);
  /// InstanceMaxOracle::best_structure() with the loss's cost, counted as its share of a pass. Several
  /// threads may call it at once. Only where the oracle has it.
  InstanceMaxOracle::Value best_structure(Index instance, const double* scores, std::span<const double> extra,
                                          std::span<Index> outputs, InstanceMaxOracle::Workspace& work);
  /// What else it can do. Only where the oracle has it.
  const InstanceMaxOracle& structures() const { return *oracle_.instance_max(); }
  /// What its structures are made of. Only where the oracle has it.
  const FactorOracle& factors() const { return *oracle_.factors(); }
  /// Counts searches over all factors of so many instances, in passes().
  void count_searches(double instances) { passes_ += instances / static_cast<double>(this->instances()); }
  /// MaxOracle::maximise() of the hinge loss; not counted.
  MaxOracle::Sums hinge(const Scores& scores, Residual* residual = nullptr) const;
  /// What else beliefs can do. Only where the oracle has them.
  const BeliefOracle& beliefs() const { return *oracle_.beliefs(); }
  /// SumOracle::instance_terms(); not counted.
  void instance_terms(const Scores& scores, std::span<InstanceTerms> terms) const;
  /// SumOracle::inference_flops() or MaxOracle::max_flops() of a pass.
  double inference_flops(const ScorePoint& at, bool residual) const;

  /// out[i] = (gradient of the smooth part) at coordinate set[i]; w[i] is the weight there. `set` ascending.
  void partial_gradient(const Residual& residual, std::span<const Coord> set, std::span<const double> w,
                        std::span<double> out) const;
  /// The whole gradient, w.size() == out.size() == dimension().
  void gradient(const Residual& residual, std::span<const double> w, std::span<double> out) const;

  /// The Hessian of the smooth part on the coordinates `set` (ascending): row i at out + i*stride, its
  /// symmetric matrix in full. Only where the oracle has covariances. `stride` at least set.size(). False:
  /// given up for the token, and `out` holds nothing of use.
  bool hessian(const Scores& scores, std::span<const Coord> set, double* out, std::size_t stride,
               const StopToken& stop = {}) const;

  /// The Hessian of the smooth part at one point, for its products with vectors: what the oracle keeps of the
  /// point, and buffers of a direction. Only where the oracle has derivatives.
  struct Curvature {
    std::unique_ptr<DerivativeOracle::Messages> messages;  ///< null: no point yet
    Scores direction;
    Residual change;
  };
  Curvature make_curvature() const { return {nullptr, make_scores(), make_residual()}; }
  /// One pass: infer() with a residual; the curvature is then that at this point.
  double infer(const ScorePoint& at, Residual& residual, Curvature& curvature);
  /// out = (H v) on the coordinates `set` (ascending), v zero elsewhere: the partial adjoint of the
  /// residual's derivative along the scores of v, plus mu*v. The derivative is counted as one pass.
  void hessian_product(Curvature& at, std::span<const Coord> set, std::span<const double> v,
                       std::span<double> out);
  /// The same on all coordinates, v.size() == out.size() == dimension(); v zero outside candidates().
  void hessian_product(Curvature& at, std::span<const double> v, std::span<double> out);

  /// Forms the gradient one feature at a time, in O(K) memory a thread, and keeps the coordinates with
  /// |g| > threshold and all of the support of w (sorted). Returns the max norm and the l1 norm of the
  /// minimum-norm subgradient of F over ALL coordinates.
  struct Selection {
    std::vector<Coord> index;    ///< ascending
    std::vector<double> weight;  ///< w there
    std::vector<double> gradient;
    double kkt_max = 0.0;
    double kkt_l1 = 0.0;
    /// Of the gradient of l alone, over all coordinates: its max norm where that exceeds lambda (else
    /// anything up to lambda), and the sum of (|g| - lambda)^2 over |g| > lambda. What dual.h needs.
    double gradient_max = 0.0;
    double excess_squares = 0.0;
    /// The sum of squares of the minimum-norm subgradient of F over all coordinates.
    double kkt_squares = 0.0;
    /// The gradient of the smooth part is at most this at what is not in `index`.
    double complete_above = 0.0;
  };
  void select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                       Selection& out) const;
  /// The same from a selection at the same w, of any objective with this smooth part, that has all
  /// coordinates with |g| > `complete_above`; that at most `threshold` and lambda.
  void select_gradient(const Selection& known, double complete_above, double threshold, Selection& out) const;

  /// From now on all other coordinates count as proven to be zero: select_gradient() does not look at them,
  /// and gradient() gives 0 there. `candidates` ascending; must hold the support of every w that is used.
  void restrict_to(std::vector<Coord> candidates);
  /// Null where not restricted.
  const std::vector<Coord>* candidates() const { return candidates_ ? &*candidates_ : nullptr; }

  /// lambda*|w|_1 and (mu/2)*|w|^2 over the given weights.
  double l1(std::span<const double> w) const { return penalty_.l1(w); }
  double l2(std::span<const double> w) const { return penalty_.l2(w); }

  /// Inferences over all training instances so far (a pass); monitors use objectives of their own.
  double passes() const {
    return passes_ + static_cast<double>(single_calls_.load()) / static_cast<double>(instances());
  }

  /// Counts a change of w, or of a dual solver's variables, that was made by so many of the instances.
  void count_updates(double instances) { updated_ = updated_.value_or(0.0) + instances; }
  /// Updates by all training instances so far; none where a solver counts none: each of its iterations is
  /// one.
  std::optional<double> updates() const {
    return updated_ ? std::optional(*updated_ / static_cast<double>(instances())) : std::nullopt;
  }

  /// From now on what the methods do is timed and counted there, by phase, and so are all loops of
  /// parallel(); null: nothing is. It must outlive the objective or be taken away.
  void time_phases(Profile* profile) {
    profile_ = profile;
    map_.time_phases(profile);
  }

 private:
  void record(Coord c, double w, double g, double threshold, Selection& selection) const;
  /// visit(coordinate) for the coordinates from `begin` to before `end`, the candidates among them where
  /// restricted; ascending.
  template <class Visit>
  void for_each_candidate(Coord begin, Coord end, const Visit& visit) const;
  std::optional<std::vector<Coord>> find_near(const Residual& residual, const SparseVector& w,
                                              double quiet) const;
  void differentiate(Curvature& at);
  double own_flops(const ScorePoint& at, bool residual) const {
    return loss_.hinge() ? max_->max_flops(at) : oracle_.sum()->inference_flops(at, residual);
  }
  Work inference_work(const ScorePoint& at, const Residual* residual, std::size_t positions) const;
  struct LocalCoordinates;
  template <class Add>
  void sum_parts(std::size_t n, std::size_t stride, double* out, const StopToken& stop, const Add& add) const;

  const Oracle& oracle_;
  const MaxOracle* max_;  ///< of the hinge loss
  std::size_t instances_;
  Penalty penalty_;
  Loss loss_;
  LinearMap map_;
  double passes_ = 0.0;
  std::atomic<std::uint64_t> single_calls_ = 0;  ///< of one instance each
  std::optional<double> updated_;                ///< instances
  Profile* profile_ = nullptr;
  std::optional<std::vector<Coord>> candidates_;
};

}  // namespace proxbench
