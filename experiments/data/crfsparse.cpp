#include "experiments/data/crfsparse.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "experiments/data/files.h"
#include "experiments/data/line_reader.h"
#include "experiments/data/named_sequences.h"
#include "experiments/data/readers.h"

namespace proxbench {
namespace {

constexpr const char* kLineFormat = "label feature:value feature:value ...";

/// Takes the next word off the front of `text`; empty at its end.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kSpace = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kSpace));
  text.remove_prefix(word.size());
  return word;
}

void add_feature(const LineReader& in, std::string_view word, NamedSequences& out) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) in.fail(in_quotes(word), "feature:value");
  std::int64_t feature = 0;
  double value = 0.0;
  if (!parse_integer(word.substr(0, colon), feature) || feature < 0)
    in.fail("feature " + in_quotes(word.substr(0, colon)), "an integer of at least 0");
  if (!parse_real(word.substr(colon + 1), value))
    in.fail("value " + in_quotes(word.substr(colon + 1)) + " of feature " + std::to_string(feature),
            "a finite real number");
  out.add(std::to_string(feature), value);
}

/// `label_file`: the template that fixed the labels, or empty.
void read_file(const std::string& path, const std::string& label_file, NamedSequences& out) {
  LineReader in(path);
  const std::size_t before = out.positions();
  std::string_view line;
  while (in.next(line)) {
    const std::string_view label = take_word(line);
    if (label.empty()) {
      out.end_sequence();
      continue;
    }
    if (!label_file.empty() && !out.knows_label(label))
      in.fail("label " + in_quotes(label), "one of the labels in " + label_file);
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
      add_feature(in, word, out);
    try {
      out.end_position(label);
    } catch (const Error&) {
      in.fail("a repeated feature whose values sum to no finite number", "values with finite sums");
    }
  }
  out.end_sequence();
  if (out.positions() == before) in.fail_empty(kLineFormat);
}

DataPair read_crfsparse(const DataFiles& files, const Options& options) {
  require_training_files(files, "crfsparse");
  const std::string& label_file = options.string("template");
  NamedSequences train(label_file.empty() ? std::vector<std::string>() : read_label_template(label_file));
  for (const std::string& path : files.train) read_file(path, label_file, train);
  NamedSequences test = NamedSequences::test_for(train);
  for (const std::string& path : files.test) read_file(path, "", test);
  return finish(std::move(train), std::move(test), files);
}

}  // namespace

std::vector<std::string> read_label_template(const std::string& path) {
  LineReader in(path);
  std::vector<std::string> labels;
  std::string_view line;
  bool inside = false;
  while (in.next(line)) {
    std::string_view word = take_word(line);
    if (!inside) {
      if (word.empty()) continue;
      if (word != "label:") in.fail(in_quotes(word), "'label:'");
      inside = true;
      word = take_word(line);
    } else if (word == "unigram:" || word == "bigram:") {
      break;
    }
    for (; !word.empty(); word = take_word(line)) {
      if (std::find(labels.begin(), labels.end(), word) != labels.end())
        in.fail("label " + in_quotes(word) + " a second time", "each label once");
      labels.emplace_back(word);
    }
  }
  if (!inside) in.fail_empty("'label:' and the labels");
  if (labels.empty()) in.fail("no labels", "labels after 'label:'");
  return labels;
}

DataFormatInfo crfsparse_format() {
  DataFormatInfo info;
  info.name = "crfsparse";
  info.help = "label feature:value ..., an empty line after each sequence; features are numbers";
  info.source = "the solver published by the authors of Zhong et al. 2014 (Prox-QN)";
  info.options = {{"template", OptionType::kString, "",
                   "file with the label set and its order; empty: labels in order of first appearance"}};
  info.read = read_crfsparse;
  return info;
}

}  // namespace proxbench
