#include "experiments/data/sequences/crfsparse.h"

#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/line_reader.h"
#include "experiments/base/text.h"
#include "experiments/data/documents/documents.h"
#include "experiments/data/files.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

/// `label_file` is the template that gave the labels, or empty.
void read_crfsparse_file(const FilePart& part, const std::string& label_file, NamedSequences& out) {
  const SparseLineRules rules;
  out.read(part, rules.line, [&](const LineReader& in, std::string_view line) {
    if (trim(line, kBlanks).empty()) return out.end_sequence();
    const std::string_view label = take_label(line, out);
    if (!label.empty() && !label_file.empty() && !out.known().labels.find(label))
      in.fail("label " + in_quotes(label), "one of the labels in " + label_file);
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      const SparseEntry entry = parse_entry(in, word, rules);
      out.add(entry.name, entry.value);
    }
    out.end_position(in, label.empty() ? std::nullopt : std::optional(label));
  });
}

DataPair read_crfsparse(const DataFiles& files, const Options& options, const Processes* processes) {
  const std::string& label_file = options.string("template");
  if (!files.hierarchy.empty()) {
    if (!label_file.empty())
      throw Error::usage("option template: for sequences, but the labels here are those of the hierarchy");
    return read_documents(files, options, processes, {});
  }
  NamedSequences train(label_file.empty() ? std::vector<std::string>()
                                          : read_label_template(option_lines(options, "template")));
  const auto read = [&](const FilePart& part, NamedSequences& out) {
    read_crfsparse_file(part, out.is_test() ? "" : label_file, out);
  };
  return read_sequences(files, options, processes, std::move(train), {.read = read});
}

}  // namespace

std::vector<std::string> read_label_template(LineReader&& in) {
  NameIndex labels;
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
      if (labels.find(word)) in.fail("label " + in_quotes(word) + " a second time", "each label once");
      labels.intern(word);
    }
  }
  if (!inside) in.fail_empty("'label:' and the labels");
  if (labels.names().empty()) in.fail("no labels", "labels after 'label:'");
  return labels.names();
}

DataFormatInfo crfsparse_format() {
  DataFormatInfo info;
  info.name = "crfsparse";
  info.help =
      "label feature:value ..., an empty line after each sequence; with a hierarchy: one document a line";
  info.source = "the solver published by the authors of Zhong et al. 2014 (Prox-QN)";
  info.options = {{"template", OptionType::kString, "",
                   "file with the label set and its order; empty: labels in order of first appearance"}};
  info.options[0].file = true;
  set_reader(info, read_crfsparse, HierarchyUse::kOptional);
  return info;
}

}  // namespace proxbench
