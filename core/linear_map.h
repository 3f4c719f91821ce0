#pragma once
/// The linear map S = X W from weights to scores, and its adjoint X^T R from residuals to gradients. The map
/// knows features and the layout of scores. Only the oracle knows what the scores mean for a structure.
///
/// X is stored by position and by feature (core/data/design_matrix.h). Maps and gradients over all
/// coordinates use the cheaper of the two. Partial ones over a working set go by feature (Zhong et al. 2014,
/// section 2.3).

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

/// X and the oracle are borrowed and must outlive the map. Use one map from one thread at a time: its methods
/// run in parallel inside and share scratch memory.
class LinearMap {
 public:
  /// If processes share the positions, they sum a full gradient in pieces of this many numbers, or of one
  /// chunk of features per process if that is more.
  static constexpr std::size_t kGradientsInPiece = std::size_t{1} << 17;

  /// Takes the layout of scores from the oracle. Throws Error unless X and the oracle have the same number of
  /// positions.
  LinearMap(const DesignMatrix& x, const Oracle& oracle, const Parallel& parallel);

  /// X itself, for code that walks its rows or columns.
  const DesignMatrix& x() const { return x_; }
  Index features() const { return x_.features(); }
  Index outputs() const { return outputs_; }
  /// J*K unary weights. The extra weights of the oracle follow them.
  Coord unary_weights() const { return unary_; }
  /// The feature and the output of a unary weight.
  Index feature_of(Coord c) const { return static_cast<Index>(c / outputs_); }
  Index output_of(Coord c) const { return static_cast<Index>(c % outputs_); }
  /// The number of unary weights among these coordinates, which must ascend.
  std::size_t count_unary(std::span<const Coord> set) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(set, unary_) - set.begin());
  }
  std::size_t extra_weights() const { return extra_weights_; }
  /// d = J*K + the oracle's extra weights.
  Coord dimension() const { return unary_ + extra_weights_; }
  const Parallel& parallel() const { return parallel_; }
  /// instance_chunks() of the instances (core/base/sum.h).
  std::span<const Index> instance_chunks() const { return instance_chunks_; }
  /// Whether scores have columns for some outputs only (core/oracle.h).
  bool collapses() const { return collapsed_ != nullptr; }
  /// The layout of such scores; null otherwise.
  const CollapsedOutputs* collapsed() const { return collapsed_; }
  /// typical_value() of X (core/data/typical_value.h).
  double typical_value() const { return typical_value_; }

  /// Makes buffers of the right shape: zero-filled, or still without columns if outputs collapse
  /// (core/oracle.h).
  Scores make_scores() const;

  /// Computes S = X W for a sparse w (also used for directions). If outputs collapse, `out` gets columns for
  /// the outputs of all given coordinates, even of those with value 0. A residual inferred there then has
  /// columns of its own for these outputs.
  void apply(std::span<const Coord> index, std::span<const double> value, Scores& out) const;
  void apply(const SparseVector& w, Scores& out) const { apply(w.index, w.value, out); }
  /// Computes base += alpha * direction, and counts the step (OutputColumns::advanced).
  void advance(Scores& base, double alpha, const Scores& direction) const;
  /// The norm of scores over all positions of all processes, where each extra weight counts once a position.
  double norm(const Scores& scores) const;
  /// Returns the sum over outputs and positions of (a - b)*(s - t), extra weights included. a was inferred at
  /// s, and b at t.
  double inner(const Residual& a, const Residual& b, const Scores& s, const ScorePoint& t) const;

  /// out[i] = coordinate set[i] of the adjoint of R: an entry of X^T R, or the number that R holds for an
  /// extra weight. `set` must ascend. If `squares` is true, x_pj^2 replaces x_pj, and outputs must not
  /// collapse.
  void partial_adjoint(const Residual& residual, std::span<const Coord> set, std::span<double> out,
                       bool squares = false) const;

  /// Calls visit(chunk, feature, g, step) for every feature with some |g| > bound or a NaN, and for every
  /// feature for which wanted() is true. g[k*step] is the entry of X^T R for the feature's output k. Runs in
  /// parallel, with features ascending within a chunk and O(K) memory per thread. Does not visit extra
  /// weights. If processes share the positions, each process calls visit() only for its own_chunks(), with
  /// sums over all processes.
  using Wanted = std::function<bool(Index feature)>;
  using Visit = std::function<void(std::size_t chunk, Index feature, const double* g, std::size_t step)>;
  void for_each_gradient(const Residual& residual, double bound, const Wanted& wanted,
                         const Visit& visit) const;
  /// Visits all features.
  void for_each_gradient(const Residual& residual, const Visit& visit) const {
    for_each_gradient(
        residual, 0.0, [](Index) { return true; }, visit);
  }
  /// The number of chunks: visit() gets chunk numbers below this.
  std::size_t feature_chunks() const { return feature_chunk_begin_.size() - 1; }
  /// The chunk number of an active feature.
  std::size_t chunk_of(Index feature) const;
  /// The first chunk that a process visits, and the first one after them. The processes share the chunks in
  /// order; a single process visits all.
  std::pair<std::size_t, std::size_t> own_chunks(std::size_t process) const;
  std::pair<std::size_t, std::size_t> own_chunks() const;
  /// `out` has so many numbers for each feature. Before this call, each process has those of the features
  /// that it visits. After it, all processes have all of them.
  void share(std::span<double> out, std::size_t numbers = 1) const;
  /// The active features of the chunks [begin, end).
  std::span<const Index> features_of(std::size_t begin, std::size_t end) const;

  /// From now on, only these features are visited, which must ascend.
  void restrict_to(std::vector<Index> features);

  /// Calls visit(feature, g) for every feature, in parallel: g[0..width) = sum_p x_pj * rows[p*width..), or
  /// with x_pj^2 in place of x_pj. `width` must be a multiple of kPad. If processes share the positions, each
  /// visits the features of its own_chunks().
  using RowSum = std::function<void(Index feature, const double* g)>;
  void sum_rows(const double* rows, std::size_t width, bool squares, const RowSum& visit) const;

  /// The number of entries of X in the columns of these coordinates, summed over coordinates and processes.
  /// Extra weights have none.
  double whole_entries_under(std::span<const Coord> index) const;
  /// The same for the entries of this process.
  double entries_under(std::span<const Coord> index) const;
  /// Work of the full adjoint by definition (core/base/profile.h): each nonzero of X meets every column of
  /// the residual.
  Work full_work(const Residual& residual) const;

  /// Times the methods and all loops of parallel() from now on, and counts their work in `profile` by phase.
  /// Null stops this. The profile must outlive the map, or be removed by passing null.
  void time_phases(Profile* profile) {
    profile_ = profile;
    parallel_.time_loops(profile);
  }

 private:
  /// The number of rows that are formed before they are turned into columns, or back; of rows of the residual
  /// in a task; of coordinates of one output in a task.
  static constexpr std::size_t kRowsAtOnce = 64, kRowsPerTask = 512, kCoordinatesPerTask = 64;

  /// A chunk of features holds at most about this many nonzeros of X, so many nonzeros give many chunks.
  static constexpr std::uint64_t kChunkNonzeros = std::uint64_t{1} << 18;

  /// Calls visit(chunk, feature, g) for the active features that keep(features) returns, in parallel, with
  /// features ascending within a chunk. gradients(features, out) must add to the zeros in `out` the `width`
  /// doubles of each feature. g points to the sums of one feature. Processes keep all features.
  template <class Keep, class Gradients, class OfFeature>
  void for_each_feature(std::size_t width, const Keep& keep, const Gradients& gradients,
                        const OfFeature& visit) const;
  template <class Size, class Fill, class OfChunk>
  void for_each_shared_chunk(const Size& size, const Fill& fill, const OfChunk& visit) const;
  void for_each_collapsed_gradient(double bound, const Wanted& wanted, const Visit& visit) const;
  double norm_of(double squares, std::span<const double> extra) const;
  void fill_rows(const Residual& residual) const;
  double fill_peaks(std::size_t width) const;
  std::vector<Index> without_quiet(std::span<const Index> features, double mean_peak, double bound,
                                   const Wanted& wanted) const;
  void add_rows(const double* rows, std::span<const Index> features, std::size_t width, bool squares,
                double* out) const;
  void add_columns(const double* column, std::span<const Index> features, bool squares, double* out) const;
  void add_collapsed_rows(std::span<const Index> features, double* out) const;
  double shared_output(const Residual& residual, Coord c) const;
  void add_partial(const Residual& residual, std::span<const Coord> set, bool rows, bool squares,
                   double* out) const;
  /// The necessary flops and bytes by definition, whatever the implementation does. Unless X is binary, the
  /// values of its entries count.
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
  double typical_value_;
  std::vector<Index> instance_chunks_;
  std::vector<Index> active_features_;      ///< the features that are visited, ascending
  std::vector<Index> feature_chunk_begin_;  ///< cuts active_features_ into chunks of about equal nonzeros
  mutable AlignedVector<double> rows_;      ///< R by position, for full gradients
  mutable AlignedVector<double> peaks_;     ///< the largest |entry| of each row, for full gradients
  mutable CompactRows compact_rows_;        ///< R by position if outputs collapse
};

}  // namespace proxbench
