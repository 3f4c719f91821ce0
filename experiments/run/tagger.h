#pragma once
/// Labels data with a stored model, as they are read.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/data/data_format.h"
#include "core/oracle.h"
#include "core/scores.h"
#include "experiments/config/config.h"
#include "experiments/data/model.h"

namespace proxbench {

/// How well data fit a model: what of them the model does not know.
struct Fit {
  std::uint64_t attributes = 0, unknown_attributes = 0;  ///< entries of X; unknown: without a weight
  std::uint64_t positions = 0, unlabelled = 0, unknown_labels = 0;

  /// Whether any gold output can be predicted, so that an accuracy means something.
  bool graded() const { return positions > unlabelled + unknown_labels; }
  /// What over half of is unknown, and what to do; empty where the data fit. Attributes are compared with
  /// those of the training data, where the header of the model tells their share (kKnownShare).
  std::string warning(const Model& model) const;
};

/// Of a whole data set and the model's weights there.
Fit fit_of(const Dataset& data, const Model& model, const SparseVector& w);

/// What a model says of a batch.
struct Tagged {
  std::unique_ptr<Oracle> oracle;  ///< of the batch
  Scores scores;
  std::vector<Index> outputs;  ///< data.prediction_size() numbers
};

/// A model at work. Formats that stream are read as they come where there is no training set, in memory for
/// some instances; all other data are read as a whole, and are one batch.
class Tagger {
 public:
  /// The model is borrowed. Throws Error (kUsage) where the config names nothing to read, or asks for
  /// unlabelled text of a format that has none.
  Tagger(const Model& model, DataConfig config, const Parallel& parallel);

  /// Calls `use` for each batch, in order. Throws Error.
  void run(const std::function<void(const DataBatch&, const Tagged&)>& use);
  const Fit& fit() const { return fit_; }

 private:
  void read(const std::function<void(DataBatch&&)>& use) const;
  void index_weights(const Dataset& data, const Structure& structure, const OracleInfo& info);
  Scores scores(const DataBatch& batch, const Oracle& oracle);

  const Model& model_;
  DataConfig config_;
  const DataFormatInfo& format_;
  Parallel parallel_;
  Fit fit_;
  /// Weights by feature: those of feature j are entries [begin_[j], begin_[j+1]).
  std::vector<std::size_t> begin_;
  std::vector<std::pair<Index, double>> weight_;  ///< output and value
  std::vector<Index> outputs_;                    ///< that have weights, ascending
  std::vector<double> extra_;
};

/// Probabilities under the model.
class Marginals {
 public:
  /// Throws Error (kUsage) where the oracle does not know sums.
  Marginals(const DataBatch& batch, const Tagged& tagged, const Parallel& parallel);
  /// Of the structure that was predicted for the instance.
  double structure(std::size_t instance) const { return structure_[instance]; }
  /// That the output is on at the position.
  double at(Index position, Index output) const;

 private:
  std::unique_ptr<Oracle> oracle_;  ///< for which the predicted structures are gold
  Residual residual_;
  std::vector<double> structure_;
};

/// What was predicted for all batches, for what looks at the whole: without X.
struct Predictions {
  Dataset data;
  std::vector<Index> outputs;
  void add(const DataBatch& batch, const Tagged& tagged);
};

}  // namespace proxbench
