#pragma once
/// Models as files (DESIGN section 5): nonzero weights under the names of the data, in full precision.
///
///     # proxbench model 1
///     # key=value                            format, data options, lambda, ...: what made the model
///     # labels=NAME<TAB>NAME...              all outputs in their order, also those without a weight
///     unary<TAB>feature<TAB>output<TAB>weight
///     pair<TAB>label<TAB>label<TAB>weight    first label: that of the position before
///
/// In names and header values TAB, newline, carriage return and backslash are written \t, \n, \r and \\.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/base/types.h"

namespace proxbench {

/// A model file as it stands, under names.
struct Model {
  struct Weight {
    std::string first, second;  ///< feature and output, or two labels
    double weight;
    std::size_t line;
  };
  std::string source;  ///< the file, for messages
  std::map<std::string, std::string> header;
  std::vector<std::string> labels;  ///< empty where the file does not give them
  std::vector<Weight> unary, pair;

  /// The value of a header key; throws Error (kInput) naming the file where there is none.
  const std::string& at(const std::string& key) const;
};

/// The text of a model file. `extra_weights` is 0 or K*K (then the coordinates from J*K on are pairs). Throws
/// Error where a weight is NaN or infinite, or the shapes do not fit.
std::string model_text(const std::map<std::string, std::string>& header, const Vocabulary& vocabulary,
                       const SparseVector& w, std::size_t extra_weights);

/// Parses a model. Throws Error (kInput) with file, line, found and expected: missing first line, malformed
/// lines, weights that are no finite number, an entry given twice, a label that is not among `# labels=`.
Model parse_model(std::string_view text, const std::string& source);
/// Reads the file first; throws Error (kInput) also where that fails.
Model read_model(const std::filesystem::path& file);

/// What becomes of weights whose feature the vocabulary lacks. (Labels it lacks are always an error.)
enum class UnknownFeatures {
  kReject,  ///< Error (kInput) with file and line
  kDrop     ///< the feature does not occur in these data, so the weight is never used
};
/// w in the coordinates of the vocabulary; zero weights are dropped. Throws Error (kInput) for unknown names,
/// and for pair weights where extra_weights is 0.
SparseVector model_weights(const Model& model, const Vocabulary& vocabulary, std::size_t extra_weights,
                           UnknownFeatures unknown);

/// The data with outputs renumbered to `labels`, so that a model without its training data can be used on
/// them. Gold outputs that are not among the labels become kUnknownOutput; all instances are kept. Moves X.
/// Throws Error (kInput) where the data have a hierarchy whose nodes are others.
Dataset with_labels(Dataset data, const std::vector<std::string>& labels);

}  // namespace proxbench
