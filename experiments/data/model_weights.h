#pragma once
/// Weights in the coordinates of data, as models and from models.

#include <map>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/oracle.h"
#include "experiments/data/model.h"

namespace proxbench {

/// Returns the text of a model file. The coordinates from J*K on are the `extra_weights` of the oracle, and
/// `names` names them. Throws Error if a weight is NaN or infinite, if the shapes do not fit, or if extra
/// weights have no names, the wrong number of names, or the same names as another weight.
std::string model_text(const std::map<std::string, std::string>& header, const Dataset& data,
                       const SparseVector& w, std::size_t extra_weights, const ExtraWeightNames& names);

/// How to treat weights whose feature is missing in the vocabulary. (A missing label is always an error.)
enum class UnknownFeatures {
  kReject,  ///< Error (kInput) with file and line
  kDrop     ///< the feature does not occur in these data, so the weight is never used
};
/// Where the weights of a model belong in data.
struct ModelMatch {
  std::vector<Index> place;   ///< by feature of the data: the place of its row, or WeightTable::kNone
  std::vector<Index> output;  ///< by output of the model: its number in the data, if a weight has it
};
/// Throws Error (kInput) for unknown names.
ModelMatch match_model(const Model& model, const Dataset& data, UnknownFeatures unknown);
/// Returns w in the coordinates of the data's vocabulary. Zero weights are dropped. Throws Error (kInput) for
/// unknown names, and for lines that do not fit the oracle's extra weights.
SparseVector model_weights(const Model& model, const Dataset& data, std::size_t extra_weights,
                           const ExtraWeightNames& names, UnknownFeatures unknown);

/// Returns the oracle's extra weights alone, zeros included. Throws what model_weights() throws for them.
std::vector<double> model_extra(const Model& model, const Dataset& data, std::size_t extra_weights,
                                const ExtraWeightNames& names);
/// Returns the data with outputs renumbered to `labels`, so that a model can be used without its training
/// data. Gold outputs that are not among the labels become kUnknownOutput; all instances are kept. Moves X.
/// Throws Error (kInput) if the data have a hierarchy with other nodes.
Dataset with_labels(Dataset data, const std::vector<std::string>& labels);

}  // namespace proxbench
