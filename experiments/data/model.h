#pragma once
/// Model files: nonzero weights with the names of the data, in full precision.
///
///     # proxbench model 1
///     # lines=N                            number of lines of the file; not in older models
///     # checksum=HEX                       checksum of all lines below; not in older models
///     # key=value                          how the model was made: format, data options, lambda, ...
///     # labels=NAME<TAB>NAME...            all outputs in their order, including those without a weight
///     unary<TAB>feature<TAB>output<TAB>weight
///     pair<TAB>label<TAB>label<TAB>weight    first label: at the previous position
///
/// The last line is that of a chain. The oracle determines the first word of lines of extra weights, and the
/// number of their names (ExtraWeightNames in core/oracle.h).
///
/// In names and header values, TAB, newline, carriage return and backslash are written \t, \n, \r and \\.
///
/// A file whose name ends in .pbm is binary. It is mapped into memory, so that `predict` starts at once. It
/// has a head (binary_model.cpp), the lines of the text but the first three and those of unary weights, and
/// the rows and the hash table of WeightTable. It is read only as a whole: size, version, byte order and a
/// checksum of all bytes must be right. The checksum detects damage, not forgery.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/paths.h"
#include "experiments/data/weight_table.h"

namespace proxbench {

/// The contents of a model file.
struct Model {
  struct ExtraWeight {
    std::string word;
    std::vector<std::string> names;
    double weight;
    std::size_t line;
  };
  std::string source;  ///< the file, for messages
  std::map<std::string, std::string> header;
  std::vector<std::string> labels;   ///< empty if the file does not list them
  std::vector<std::string> outputs;  ///< of the unary weights: the labels, or those that have weights
  WeightTable unary;
  std::vector<ExtraWeight> extra;
  /// The first line with a feature, in the order of rows, and with an output. Empty for a binary file.
  std::vector<std::size_t> feature_line, output_line;

  /// Returns the value of a header key. Throws Error (kInput) with the name of the file if the key is
  /// missing.
  const std::string& at(const std::string& key) const;
};

/// Returns the text of a model.
std::string model_text(const Model& model);
/// Returns the bytes of a binary file. Throws Error (kInput) if the model does not list its labels.
std::string model_bytes(const Model& model);
/// Whether a model of this file name is written as a binary one.
bool names_binary_model(const fs::path& file);

/// Parses a model, text or binary. Throws Error (kInput) with file, line, found and expected if the first
/// line is missing, lines were changed, a line is malformed, a weight is not a finite number, an entry occurs
/// twice, or the output of a unary weight is missing in `# labels=`; or if a binary model is not as it was
/// written.
Model parse_model(std::string_view text, const std::string& source);
/// Reads a file in the same way, text line by line. A binary file stays mapped as long as the model or a copy
/// lives. Throws Error (kInput) also if the file cannot be read.
Model read_model(const fs::path& file);

}  // namespace proxbench
