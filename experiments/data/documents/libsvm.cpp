#include "experiments/data/documents/libsvm.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/data/documents/documents.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

/// Integers up to here are exact in a double.
constexpr double kLargestExact = 9007199254740992.0;

SparseLineRules libsvm_rules(bool zero_based) {
  SparseLineRules rules;
  rules.line = "label index:value index:value ...";
  rules.first_feature = zero_based ? 0 : 1;
  if (!zero_based) rules.first_feature_hint = " (or of 0 with zero_based = true)";
  return rules;
}

std::string label_name(const LineReader& in, std::string_view label) {
  if (label.find(',') != std::string_view::npos) in.fail("labels " + in_quotes(label), "one label a line");
  return canonical_label(label);
}

DataPair read_libsvm(const DataFiles& files, const Options& options, const Processes* processes) {
  return read_documents(files, options, processes,
                        {.rules = libsvm_rules(options.boolean("zero_based")),
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
  DataFormatInfo info;
  info.name = "libsvm";
  info.help = "label index:value ..., one instance a line: multiclass and binary logistic models";
  info.source = "LIBSVM and LIBLINEAR, www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets";
  info.options = {
      value_scale_option("none"),
      {"bias", OptionType::kReal, "0", "value of one more feature, the bias (LIBLINEAR's -B); 0: none", 0},
      {"zero_based", OptionType::kBool, "false", "true: indices begin with 0"}};
  info.fitted = divides_by_max;
  set_reader(info, read_libsvm);
  return info;
}

}  // namespace proxbench
