#include "experiments/data/documents/libsvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "experiments/data/documents/documents.h"
#include "experiments/data/file_parts.h"
#include "experiments/data/files.h"
#include "experiments/data/sequences/named_sequences.h"

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

/// Sorts the names by number, where all are numbers, and renumbers `gold`.
std::vector<std::string> sort_labels(const std::vector<std::string>& names, std::vector<Index>& gold) {
  std::vector<double> number(names.size());
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!parse_real(names[k], number[k])) return names;
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return number[a] < number[b]; });
  std::vector<std::string> sorted;
  std::vector<Index> place(names.size());
  for (const std::size_t k : order) {
    place[k] = static_cast<Index>(sorted.size());
    sorted.push_back(names[k]);
  }
  for (Index& label : gold) label = place[label];
  return sorted;
}

DataPair read_libsvm(const DataFiles& files, const Options& options, const Processes* processes) {
  require_training_files(files, "libsvm");
  const SparseLineRules rules = libsvm_rules(options.boolean("zero_based"));
  const double bias = options.real("bias");
  const ValueScale scale = value_scale(options);

  NameIndex labels;
  Documents train = read_documents(
      own_parts(files, options, processes, FileRecords::kLine), rules,
      [&](const LineReader& in, std::string_view label) { return labels.intern(label_name(in, label)); });
  if (processes != nullptr) {
    const std::vector<Index> number = merge_names(labels, *processes);
    for (Index& gold : train.gold) gold = number[gold];
  }
  require_features(train, files.train, processes);
  const std::vector<std::string> names = sort_labels(labels.names(), train.gold);
  NameIndex known;
  for (const std::string& name : names) known.intern(name);
  const FeatureTable features(train, scale, processes);
  Documents test = read_test_documents(files.test, features, [&](const std::vector<FilePart>& parts) {
    return read_documents(parts, rules, [&](const LineReader& in, std::string_view label) {
      return known.find(label_name(in, label)).value_or(kUnknownOutput);
    });
  });
  if (bias > 0.0)
    for (Documents* documents : {&train, &test}) documents->extra.assign(documents->size(), bias);

  DataPair out = document_data(std::move(train), std::move(test), features, {names, nullptr},
                               bias > 0.0 ? "bias" : "", processes);
  describe_documents(files,
                     fmt::format("{} labels{}{}", names.size(),
                                 scale == ValueScale::kMax ? ", values divided by their maximum" : "",
                                 bias > 0.0 ? fmt::format(", bias {}", bias) : ""),
                     out);
  return out;
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
  info.fitted = [](const Options& options) { return value_scale(options) == ValueScale::kMax; };
  set_reader(info, read_libsvm);
  return info;
}

}  // namespace proxbench
