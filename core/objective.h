#pragma once
/// F(w) = lambda*||w||_1 + (mu/2)*||w||_2^2 + l(w), l(w) = SUM over training instances of the negative
/// log-likelihood. Joins the linear map S = X W and its adjoint to an oracle. A solver sees only this.
///
/// "Smooth part" below means l(w) + (mu/2)*||w||^2; every gradient is that of the smooth part.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/design_matrix.h"
#include "core/oracle.h"
#include "core/parallel.h"
#include "core/profile.h"
#include "core/stop_token.h"
#include "core/types.h"

namespace proxbench {

/// Both matrices are borrowed and must outlive the objective. One objective is used by one thread at a time
/// (its methods run in parallel inside and share scratch memory).
class Objective {
 public:
  /// lambda > 0, mu >= 0, x.positions() == oracle.positions(); throws Error otherwise.
  Objective(const DesignMatrix& x, const Oracle& oracle, double lambda, double mu, const Parallel& parallel);

  double lambda() const { return lambda_; }
  double mu() const { return mu_; }
  Index features() const { return x_.features(); }
  Index outputs() const { return outputs_; }
  std::size_t instances() const { return oracle_.instances(); }
  /// J*K unary weights.
  Coord unary_weights() const { return unary_; }
  /// d = J*K + the oracle's extra weights.
  Coord dimension() const { return unary_ + oracle_.extra_weights(); }
  const Parallel& parallel() const { return parallel_; }
  const Oracle& oracle() const { return oracle_; }
  /// X, for solvers that walk it by rows or columns themselves.
  const DesignMatrix& x() const { return x_; }

  /// Buffers of the right shape: zero-filled, or without a column yet where the oracle collapses().
  Scores make_scores() const;
  Residual make_residual() const { return make_scores(); }

  /// S = X W for a sparse w (also used for directions). Where the oracle collapses(), `out` gets columns for
  /// the outputs of all coordinates given, also those whose value is 0: a residual inferred there has own
  /// columns for them.
  void scores(const SparseVector& w, Scores& out) const { scores(w.index, w.value, out); }
  void scores(std::span<const Coord> index, std::span<const double> value, Scores& out) const;
  /// base += alpha * direction.
  void advance(Scores& base, double alpha, const Scores& direction) const;

  /// One pass: l at the scores; fills the residual where it is not null. Counted in passes().
  double infer(const ScorePoint& at, Residual* residual);
  /// The same over some instances (Oracle::infer_some); counted as their share of a pass.
  double infer_some(std::span<const Index> instances, const ScorePoint& at, Residual* residual);
  /// sum over outputs and positions of (a - b)*(s - t), extra weights included: a inferred at s, b at t.
  double inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const;

  /// out[i] = (gradient of the smooth part) at coordinate set[i]; w[i] is the weight there. `set` ascending.
  void partial_gradient(const Residual& residual, std::span<const Coord> set, std::span<const double> w,
                        std::span<double> out) const;
  /// The whole gradient, w.size() == out.size() == dimension().
  void gradient(const Residual& residual, std::span<const double> w, std::span<double> out) const;

  /// The Hessian of the smooth part on the coordinates `set` (ascending): row i at out + i*stride, its
  /// symmetric matrix in full. Only where the oracle has covariances(). `stride` at least set.size(). False:
  /// given up for the token, and `out` holds nothing of use.
  bool hessian(const Scores& scores, std::span<const Coord> set, double* out, std::size_t stride,
               const StopToken& stop = {}) const;

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
  };
  void select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                       Selection& out) const {
    select_gradient(residual, w, threshold, threshold, out);
  }
  /// The same, and out.index has in it those with |g| > `rough_threshold`, too, whose gradients may be off by
  /// roundings to single precision.
  void select_gradient(const Residual& residual, const SparseVector& w, double threshold,
                       double rough_threshold, Selection& out) const;
  /// The same from a selection at the same w, of any objective with this smooth part, that has all
  /// coordinates with |g| > `complete_above`; that at most `threshold` and lambda.
  void select_gradient(const Selection& known, double complete_above, double threshold, Selection& out) const;

  /// From now on all other coordinates count as proven to be zero: select_gradient() does not look at them,
  /// and gradient() gives 0 there. `candidates` ascending; must hold the support of every w that is used.
  void restrict_to(std::vector<Coord> candidates);
  /// Null where not restricted.
  const std::vector<Coord>* candidates() const { return candidates_ ? &*candidates_ : nullptr; }

  /// lambda*|w|_1 and (mu/2)*|w|^2 over the given weights.
  double l1(std::span<const double> w) const;
  double l2(std::span<const double> w) const;

  /// Inferences over all training instances so far (a pass); monitors use objectives of their own.
  double passes() const { return passes_; }

  /// From now on what the methods do is timed and counted there, by phase, and so are all loops of
  /// parallel(); null: nothing is. It must outlive the objective or be taken away.
  void time_phases(Profile* profile) {
    profile_ = profile;
    parallel_.time_loops(profile);
  }

 private:
  /// Calls row(chunk, feature, g, step), where g[k*step] is the gradient of output k, for every feature that
  /// has some |g| > bound or a NaN, or that wanted(feature), and some candidate where restricted; in
  /// parallel, features ascending within a chunk.
  template <class Wanted, class Row>
  void for_each_gradient_row(const Residual& residual, double bound, const Wanted& wanted,
                             const Row& row) const;
  void record(Coord c, double w, double g, double threshold, Selection& selection) const;
  /// visit(coordinate) for the coordinates from `begin` to before `end`, the candidates among them where
  /// restricted; ascending.
  template <class Visit>
  void for_each_candidate(Coord begin, Coord end, const Visit& visit) const;
  /// row(chunk, feature, g) for every active feature, in parallel, features ascending within a chunk; g is
  /// what gradients(features, g) adds to zeros: `width` doubles for each feature.
  template <class Gradients, class Row>
  void for_each_feature(std::size_t width, const Gradients& gradients, const Row& row) const;
  bool few_near(const Residual& residual, const SparseVector& w, double quiet, double rough_threshold,
                std::vector<Coord>& near, Selection& rough) const;
  double row_work() const;
  double gather_work(std::span<const Coord> coordinates) const;
  std::vector<double> fill_single_rows(const Residual& residual) const;
  void fill_rows(const Residual& residual) const;
  void gradient_rows(std::span<const Index> features, std::size_t width, double* gradient) const;
  void gradient_rows_collapsed(std::span<const Index> features, std::span<double> gradient) const;
  double gold_count(Index feature, Index output) const;
  struct LocalCoordinates;
  void cut_features();
  std::size_t feature_chunks() const { return feature_chunk_begin_.size() - 1; }

  const DesignMatrix& x_;
  const Oracle& oracle_;
  double lambda_, mu_;
  Parallel parallel_;
  Index outputs_;
  Coord unary_;
  double passes_ = 0.0;
  Profile* profile_ = nullptr;
  std::optional<std::vector<Coord>> candidates_;
  std::vector<Index> active_features_;        ///< those with a candidate, ascending; all where not restricted
  std::vector<Index> feature_chunk_begin_;    ///< these cut into chunks of about equal nonzeros
  mutable AlignedVector<double> rows_;        ///< R by position, for full gradients
  mutable AlignedVector<float> single_rows_;  ///< the same in single precision
  mutable CompactRows compact_rows_;          ///< the same where the oracle collapses()
};

/// Coordinate c of the minimum-norm subgradient of F, from the smooth part's gradient g and weight w there
/// (Zhong et al. 2014, equation 16).
inline double minimum_norm_subgradient(double w, double g, double lambda) {
  if (g != g) return g;  // a NaN must not look like an optimum
  if (w > 0) return g + lambda;
  if (w < 0) return g - lambda;
  if (g > lambda) return g - lambda;
  if (g < -lambda) return g + lambda;
  return 0.0;
}

/// sign(x) * max(|x| - t, 0).
inline double soft_threshold(double x, double t) {
  return x > t ? x - t : (x < -t ? x + t : 0.0);
}

}  // namespace proxbench
