#pragma once
/// The linear map S = X W from weights to scores, and its adjoint X^T R from residuals to gradients. It knows
/// features and the layout of scores; what a structure makes of the scores is an oracle's.
///
/// X is kept by position and by feature (core/data/design_matrix.h): whole maps and gradients go by the cheaper of
/// both ways, parts over a working set by feature (Zhong et al. 2014, section 2.3).

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

/// X and the oracle are borrowed and must outlive the map. One map is used by one thread at a time (its methods
/// run in parallel inside and share scratch memory).
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
  void share_rows(std::span<double> out) const;
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

  /// Bounds on sums of sizes over all positions, for any two coordinates of unary or extra weights: of x^2,
  /// and of what their covariances within an instance are sums of (expectations of products, products of
  /// expectations).
  double square_bound() const;
  double covariance_bound() const;

  /// Work of a full adjoint, and of gathering that of some coordinates, in multiply-adds of kPad numbers.
  double row_work() const;
  double gather_work(std::span<const Coord> coordinates) const;
  /// Entries of X under the coordinates of unary weights.
  double entries_under(std::span<const Coord> index) const;
  /// Of the full adjoint by definition (core/base/profile.h): each nonzero of X meets every column of the residual.
  Work full_work(const Residual& residual) const;

  /// From now on what the methods do is timed and counted there, by phase, and so are all loops of parallel();
  /// null: nothing is. It must outlive the map or be taken away.
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
  /// what gradients(features, g) adds to zeros: `width` doubles for each feature.
  template <class Gradients, class Visit>
  void for_each_feature(std::size_t width, const Gradients& gradients, const Visit& row) const;
  template <class Size, class Fill, class Visit>
  void for_each_shared_chunk(const Size& size, const Fill& fill, const Visit& visit) const;
  void for_each_collapsed_row(const Grid& grid, double bound, const Wanted& wanted, const Row& row) const;
  Grid grid_of(const Residual& residual) const;
  void fill_rows(const Residual& residual, const Grid& grid) const;
  void gradient_rows(std::span<const Index> features, const Grid& grid, std::size_t width,
                     double* gradient) const;
  void gather_column(const Residual& residual, const Grid& grid, std::span<const Index> features,
                     double* gradient) const;
  void gradient_rows_collapsed(std::span<const Index> features, const Grid& grid, double* gradient) const;
  void add_partial(const Residual& residual, const Grid& grid, std::span<const Coord> set, bool rows,
                   std::span<double> out) const;
  double gold_count(Index feature, Index output, const Grid& grid) const;
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
  double largest_entry_;  ///< of |x|, over all processes; at least 1
  double pairs_;          ///< positions of the same instance, by twos, over all processes
  double typical_value_;
  std::vector<Index> instance_chunks_;
  std::vector<Index> active_features_;      ///< what for_each_row() visits, ascending
  std::vector<Index> feature_chunk_begin_;  ///< these cut into chunks of about equal nonzeros
  mutable AlignedVector<double> rows_;        ///< R by position, for full gradients
  mutable AlignedVector<float> single_rows_;  ///< the same in single precision
  mutable CompactRows compact_rows_;          ///< the same where outputs collapse
};

}  // namespace proxbench
