#pragma once
/// Models as files: nonzero weights under the names of the data, in full precision.
///
///     # proxbench model 1
///     # lines=N                            of the whole file; models of before have neither this
///     # checksum=HEX                       of all lines below, nor this
///     # key=value                            format, data options, lambda, ...: what made the model
///     # labels=NAME<TAB>NAME...              all outputs in their order, also those without a weight
///     unary<TAB>feature<TAB>output<TAB>weight
///     pair<TAB>label<TAB>label<TAB>weight    first label: that of the position before
///
/// The last line is that of a chain: what the lines of extra weights are called, and by how many names, says
/// the oracle (ExtraWeightNames in core/oracle.h).
///
/// In names and header values TAB, newline, carriage return and backslash are written \t, \n, \r and \\.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/oracle.h"

namespace proxbench {

/// A model file as it stands, under names.
struct Model {
  struct Weight {
    std::string feature, output;
    double weight;
    std::size_t line;
  };
  struct ExtraWeight {
    std::string word;
    std::vector<std::string> names;
    double weight;
    std::size_t line;
  };
  std::string source;  ///< the file, for messages
  std::map<std::string, std::string> header;
  std::vector<std::string> labels;  ///< empty where the file does not give them
  std::vector<Weight> unary;
  std::vector<ExtraWeight> extra;

  /// The value of a header key; throws Error (kInput) naming the file where there is none.
  const std::string& at(const std::string& key) const;
};

/// A digest of data as headers and manifests have it: "0123456789abcdef".
std::string digest_text(std::uint64_t digest);

/// A name as model files have it, with escapes.
std::string escaped_name(std::string_view name);

/// The text of a model file. The coordinates from J*K on are `extra_weights` of the oracle, which `names`
/// says the names of. Throws Error where a weight is NaN or infinite, where the shapes do not fit, or where
/// extra weights have no names, too many or too few, or those of another.
std::string model_text(const std::map<std::string, std::string>& header, const Dataset& data,
                       const SparseVector& w, std::size_t extra_weights, const ExtraWeightNames& names);

/// Parses a model. Throws Error (kInput) with file, line, found and expected: missing first line, other lines
/// than were written, malformed lines, weights that are no finite number, an entry given twice, an output of
/// a unary weight that is not among `# labels=`.
Model parse_model(std::string_view text, const std::string& source);
/// Reads the file first; throws Error (kInput) also where that fails.
Model read_model(const std::filesystem::path& file);

/// What becomes of weights whose feature the vocabulary lacks. (Labels it lacks are always an error.)
enum class UnknownFeatures {
  kReject,  ///< Error (kInput) with file and line
  kDrop     ///< the feature does not occur in these data, so the weight is never used
};
/// w in the coordinates of the data's vocabulary; zero weights are dropped. Throws Error (kInput) for unknown
/// names, and for lines that are not those of the oracle's extra weights.
SparseVector model_weights(const Model& model, const Dataset& data, std::size_t extra_weights,
                           const ExtraWeightNames& names, UnknownFeatures unknown);

/// The data with outputs renumbered to `labels`, so that a model without its training data can be used on
/// them. Gold outputs that are not among the labels become kUnknownOutput; all instances are kept. Moves X.
/// Throws Error (kInput) where the data have a hierarchy whose nodes are others.
Dataset with_labels(Dataset data, const std::vector<std::string>& labels);

}  // namespace proxbench
