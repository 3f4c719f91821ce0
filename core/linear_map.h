#pragma once
/// The linear map S = X W from weights to scores, and its adjoint X^T R from residuals to gradients. It knows
/// features and the layout of scores; what a structure makes of the scores is an oracle's.
///
/// X is kept by position and by feature (core/data/design_matrix.h): whole maps and gradients go by the
/// cheaper of both ways, parts over a working set by feature (Zhong et al. 2014, section 2.3).

#include <functional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/profile.h"
#include "core/base/sum.h"
#include "core/base/types.h"
#include "core/data/design_matrix.h"
#include "core/oracle.h"
#include "core/scores.h"

namespace proxbench {

/// X and the oracle are borrowed and must outlive the map. One map is used by one thread at a time (its
/// methods run in parallel inside and share scratch memory).
class LinearMap {
 public:
  /// Where processes share the positions, a full gradient is summed over them so many numbers at a time, or
  /// one chunk of features for each process where that is more.
  static constexpr std::size_t kGradientsInPiece = std::size_t{1} << 17;

  /// Takes the layout of scores from the oracle. Throws Error unless both have the same number of positions.
  LinearMap(const DesignMatrix& x, const Oracle& oracle, const Parallel& parallel);

  /// X, for what walks it by rows or columns itself.
  const DesignMatrix& x() const { return x_; }
  Index features() const { return x_.features(); }
  Index outputs() const { return outputs_; }
  /// J*K unary weights; those of the oracle's own follow.
  Coord unary_weights() const { return unary_; }
  std::size_t extra_weights() const { return extra_weights_; }
  /// d = J*K + the oracle's extra weights.
  Coord dimension() const { return unary_ + extra_weights_; }
  const Parallel& parallel() const { return parallel_; }
  /// Over which sums over positions are made.
  const LeafTree& tree() const { return tree_; }
  /// instance_chunks() of the instances (core/base/sum.h).
  std::span<const Index> instance_chunks() const { return instance_chunks_; }
  /// Whether scores have columns for some outputs only (core/oracle.h).
  bool collapses() const { return collapsed_ != nullptr; }
  /// Of X (core/data/typical_value.h).
  double typical_value() const { return typical_value_; }

  /// Buffers of the right shape: zero-filled, or without a column yet where outputs collapse (core/oracle.h).
  Scores make_scores() const;

  /// S = X W for a sparse w (also used for directions). Where outputs collapse, `out` gets columns for the
  /// outputs of all coordinates given, also those whose value is 0: a residual inferred there has own columns
  /// for them.
  void apply(std::span<const Coord> index, std::span<const double> value, Scores& out) const;
  void apply(const SparseVector& w, Scores& out) const { apply(w.index, w.value, out); }
  /// base += alpha * direction.
  void advance(Scores& base, double alpha, const Scores& direction) const;
  /// sum over outputs and positions of (a - b)*(s - t), extra weights included: a inferred at s, b at t.
  double inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const;

  /// out[i] = coordinate set[i] of the adjoint of R: of X^T R, or R's own number for an extra weight. `set`
  /// ascending.
  void partial_adjoint(const Residual& residual, std::span<const Coord> set, std::span<double> out) const;

  /// Calls row(chunk, feature, g, step), where g[k*step] is X^T R at the feature's output k, for every
  /// feature that has some |g| > bound or a NaN, or that wanted(feature); in parallel, features ascending
  /// within a chunk, in O(K) memory a thread. Extra weights are left to the caller. Where processes share the
  /// positions, each calls row() for its own_chunks() alone, with sums over all of them.
  using Wanted = std::function<bool(Index feature)>;
  using Row = std::function<void(std::size_t chunk, Index feature, const double* g, std::size_t step)>;
  void for_each_row(const Residual& residual, double bound, const Wanted& wanted, const Row& row) const;
  /// The chunk numbers that it uses are below this.
  std::size_t feature_chunks() const { return feature_chunk_begin_.size() - 1; }
  /// That of an active feature.
  std::size_t chunk_of(Index feature) const;
  /// The chunks that a process visits, in order of processes: all, where it is the only one.
  struct Range {
    std::size_t begin, end;
  };
  Range own_chunks(std::size_t process) const;
  Range own_chunks() const;
  /// Gives all processes the unary numbers of `out`, of which each has those of the features that it visits.
  void share_rows(std::span<double> out) const { share_of_features(out.first(unary_), outputs_); }
  /// The same of one number for each feature.
  void share_features(std::span<double> out) const { share_of_features(out, 1); }
  /// The active features of the chunks [begin, end).
  std::span<const Index> features_of(std::size_t begin, std::size_t end) const;

  /// The same from rows of R in single precision, which fill_single_rows() makes: row(chunk, feature, g) for
  /// every feature. Only where no outputs collapse and X is binary.
  using SingleRow = std::function<void(std::size_t chunk, Index feature, const double* g)>;
  void for_each_single_row(const SingleRow& row) const;
  /// Returns the sums of |R| over positions, by output.
  std::vector<double> fill_single_rows(const Residual& residual) const;

  /// From now on for_each_row() and for_each_single_row() leave out all other features (ascending).
  void restrict_to(std::vector<Index> features);

  /// visit(feature, g) for every feature, in parallel: g[0..width) = sum_p x_pj * rows[p*width..), or x_pj^2
  /// instead of x_pj. `width` a multiple of kPad. Where processes share the positions, each visits the
  /// features of its own_chunks().
  using RowSum = std::function<void(Index feature, const double* g)>;
  void sum_rows(const double* rows, std::size_t width, bool squares, const RowSum& visit) const;

  /// Work of a full adjoint, and of gathering that of some coordinates, in multiply-adds of kPad numbers.
  double row_work() const;
  double gather_work(std::span<const Coord> coordinates) const;
  /// Entries of X under the coordinates of unary weights.
  double entries_under(std::span<const Coord> index) const;
  /// Of the full adjoint by definition (core/base/profile.h): each nonzero of X meets every column of the
  /// residual.
  Work full_work(const Residual& residual) const;

  /// From now on what the methods do is timed and counted there, by phase, and so are all loops of
  /// parallel(); null: nothing is. It must outlive the map or be taken away.
  void time_phases(Profile* profile) {
    profile_ = profile;
    parallel_.time_loops(profile);
  }

 private:
  /// Rows formed at a time before they are turned into columns, or back; rows of the residual in a task;
  /// coordinates of one output in a task.
  static constexpr std::size_t kRowsAtOnce = 64, kRowsPerTask = 512, kCoordinatesPerTask = 64;

  /// Nonzeros of X in a chunk of features: many chunks where there are many nonzeros.
  static constexpr std::uint64_t kChunkNonzeros = std::uint64_t{1} << 18;

  /// row(chunk, feature, g) for every active feature, in parallel, features ascending within a chunk; g is
  /// what gradients(features, g, stride) adds to zeros: `width` doubles for each feature, those of each of
  /// this process's nodes of the tree `stride` behind those of the one before.
  template <class Gradients, class Visit>
  void for_each_feature(std::size_t width, const Gradients& gradients, const Visit& row) const;
  template <class Size, class Fill, class Visit>
  void for_each_shared_chunk(const Size& size, const Fill& fill, const Visit& visit) const;
  void for_each_collapsed_row(double bound, const Wanted& wanted, const Row& row) const;
  void fill_rows(const Residual& residual) const;
  void add_rows(const double* rows, std::span<const Index> features, std::size_t width, bool squares,
                double* out, std::size_t stride) const;
  void add_columns(const double* column, std::span<const Index> features, const std::size_t* places,
                   double* out, std::size_t stride) const;
  void add_collapsed_rows(std::span<const Index> features, double* out, std::size_t stride) const;
  void add_shared_output(const Residual& residual, Coord c, double* out, std::size_t stride) const;
  void add_partial(const Residual& residual, std::span<const Coord> set, bool rows, double* out) const;
  void share_of_features(std::span<double> out, std::size_t numbers) const;
  void cut_features();
  /// Work by definition, whichever way it is done: what must be computed and what must move. Entries of X are
  /// counted with their values where it is not binary.
  Work apply_work(std::span<const Coord> index) const;
  Work advance_work(const Scores& direction) const;
  Work partial_work(std::span<const Coord> set) const;
  double entry_bytes() const;

  const DesignMatrix& x_;
  const Structure& structure_;
  const CollapsedOutputs* collapsed_;
  Parallel parallel_;
  Index outputs_;
  std::size_t extra_weights_;
  Coord unary_;
  Profile* profile_ = nullptr;
  LeafTree tree_;
  double typical_value_;
  std::vector<Index> instance_chunks_;
  std::vector<Index> active_features_;        ///< what for_each_row() visits, ascending
  std::vector<Index> feature_chunk_begin_;    ///< these cut into chunks of about equal nonzeros
  mutable AlignedVector<double> rows_;        ///< R by position, for full gradients
  mutable AlignedVector<float> single_rows_;  ///< the same in single precision
  mutable CompactRows compact_rows_;          ///< the same where outputs collapse
};

}  // namespace proxbench
