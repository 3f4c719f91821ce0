#pragma once
/// Labels data with a stored model while reading it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/data/data_format.h"
#include "core/oracle.h"
#include "core/scores.h"
#include "experiments/config/config.h"
#include "experiments/data/model_weights.h"

namespace proxbench {

/// How well data fit a model: counts of the labels and attributes that the model does not know.
struct Fit {
  std::uint64_t attributes = 0, unknown_attributes = 0;  ///< entries of X; those without a weight
  std::uint64_t positions = 0, unlabelled = 0, unknown_labels = 0;

  Fit& operator+=(const Fit& other);
  /// Whether any gold output can be predicted. Otherwise an accuracy means nothing.
  bool graded() const { return positions > unlabelled + unknown_labels; }
  /// If more than half of the labels or attributes are unknown, says so and what to do; otherwise empty. If
  /// the model's header has the known share of attributes in its training data (kKnownShare), attributes are
  /// compared with that.
  std::string warning(const Model& model) const;
};

/// Returns the fit of a whole data set; w holds the model's weights there.
Fit fit_of(const Dataset& data, const Model& model, const SparseVector& w);

/// A model's output for a batch.
struct Tagged {
  std::unique_ptr<Oracle> oracle;  ///< of the batch
  Scores scores;
  std::vector<Index> outputs;  ///< data.prediction_size() numbers
  Fit fit;
};

/// Applies a model to data. If the format streams and there is no training set, it reads a few instances at a
/// time. Any other data set is read completely and forms one batch.
class Tagger {
 public:
  /// Borrows the model. Throws Error (kUsage) if the config names nothing to read, or asks for unlabelled
  /// text in a format that has none.
  Tagger(const Model& model, DataConfig config, const Parallel& parallel);
  /// Makes run() keep the lines of the test files (DataBatch::lines). Throws Error (kUsage) if they are not
  /// read line by line, or have no columns.
  void keep_lines();

  /// Calls `use` for each batch, in order. Throws Error.
  void run(const std::function<void(const DataBatch&, const Tagged&)>& use);
  const Fit& fit() const { return fit_; }
  /// Signs that the files were read wrongly, after run().
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  bool streams() const;
  bool reads_ahead() const;
  void read(const std::function<void(DataBatch&&)>& use);
  void index_weights(const DataBatch& batch);
  Tagged tag(const DataBatch& batch, const Parallel& parallel) const;
  DesignMatrix::Builder looked_up(const NamedRows& rows, std::size_t begin, std::size_t end, Fit& fit) const;
  void score(const DataBatch& batch, std::size_t begin, std::size_t end, Scores& out, Fit& fit) const;

  const Model& model_;
  DataConfig config_;
  const DataFormatInfo& format_;
  Parallel parallel_;
  bool keeps_lines_ = false;
  std::vector<std::string> warnings_;
  Fit fit_;
  ModelMatch match_;            ///< set by the first batch; without features if rows have names
  std::vector<Index> outputs_;  ///< outputs with weights, ascending
  std::vector<double> extra_;
};

/// Probabilities under the model.
class Marginals {
 public:
  /// Throws Error (kUsage) if the oracle has no sums.
  Marginals(const DataBatch& batch, const Tagged& tagged, const Parallel& parallel);
  /// The probability of the structure that was predicted for the instance.
  double structure(std::size_t instance) const { return structure_[instance]; }
  /// The probability that the output is on at the position.
  double at(Index position, Index output) const;

 private:
  std::unique_ptr<Oracle> oracle_;  ///< takes the predicted structures for gold
  Residual residual_;
  std::vector<double> structure_;
};

/// The predictions of all batches, without X.
struct Predictions {
  Dataset data;
  std::vector<Index> outputs;
  void add(const DataBatch& batch, const Tagged& tagged);
};

}  // namespace proxbench
