/// The format of LIBSVM and LIBLINEAR, for multiclass and binary logistic models: one instance per line,
///
///     label index:value index:value ...    # comment
///
/// with indices from 1 (from 0 with the option `zero_based`), in any order, each at most once per line. An
/// entry with value 0 is ignored.
///
/// The outputs are the labels of the training data, without a hierarchy. Numerically equal labels are the
/// same ("+1", "1" and "1.0" are "1"). If all labels are numbers, they are sorted as such; otherwise they are
/// in order of first appearance. Several labels on a line ("2,5") are an error.
#include <fmt/format.h>

#include <cmath>

#include "experiments/data/documents/documents.h"

namespace proxbench {
namespace {

/// Integers up to here are exact in a double.
constexpr double kLargestExact = 9007199254740992.0;

std::string label_name(const LineReader& in, std::string_view label) {
  if (label.find(',') != std::string_view::npos)
    in.fail("labels " + in_quotes(label), "one label a line (--format arff reads sets of labels)");
  return canonical_label(label);
}

DataPair read_libsvm(const DataFiles& files, const Options& options, const Processes* processes) {
  const bool zero_based = options.boolean("zero_based");
  return read_documents(
      files, options, processes,
      {.rules = {.line = "label index:value index:value ...",
                 .first_feature = zero_based ? 0 : 1,
                 .first_feature_hint = zero_based ? "" : " (or of 0 with zero_based = true)"},
       .divide_by_max = divides_by_max(options),
       .bias = options.real("bias"),
       .output = label_name});
}

}  // namespace

std::string canonical_label(std::string_view label) {
  std::int64_t integer = 0;
  double real = 0.0;
  if (parse_integer(label, integer)) return std::to_string(integer);
  if (!parse_real(label, real)) return std::string(label);
  if (real == std::floor(real) && std::abs(real) <= kLargestExact)
    return std::to_string(static_cast<std::int64_t>(real));
  return fmt::format("{}", real);
}

DataFormatInfo libsvm_format() {
  return with_reader(
      {.name = "libsvm",
       .help = "label index:value ..., one instance a line: multiclass and binary logistic models",
       .source = "LIBSVM and LIBLINEAR, www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets",
       .options = {value_scale_option("none"),
                   {"bias", OptionType::kReal, "0",
                    "value of one more feature, the bias (LIBLINEAR's -B); 0: none", 0},
                   {"zero_based", OptionType::kBool, "false", "true: indices begin with 0"}},
       .fitted = divides_by_max,
       .oracle = "tree"},
      read_libsvm);
}

}  // namespace proxbench
