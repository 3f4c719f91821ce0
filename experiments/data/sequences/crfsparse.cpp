/// The sequence format of the solver published by the authors of Prox-QN (Zhong et al. 2014): one position
/// per line,
///
///     label feature:value feature:value ...
///
/// separated by spaces, with numbers as features. An empty line follows each sequence. A template file (the
/// data option `template`) may give the label set and its order: the lines after "label:" up to "unigram:" or
/// "bigram:" list the labels. Without a template file, the labels are taken from the training data in order
/// of first appearance. The parts on unigram and bigram features are not used: features come from the lines,
/// and transitions belong to the chain.
///
/// With a hierarchy file (documents.h), this is the authors' format for hierarchical classification: one
/// document per line, labelled with a leaf. The values are scaled already, no feature occurs twice, and
/// feature 0 is an ordinary one.

#include "experiments/data/documents/documents.h"

namespace proxbench {
namespace {

DataPair read_crfsparse(const DataFiles& files, const Options& options, const Processes* processes) {
  const std::string& label_file = options.string("template");
  if (!files.hierarchy.empty()) {
    if (!label_file.empty())
      throw Error::usage("option template: for sequences, but the labels here are those of the hierarchy");
    return read_documents(files, options, processes, {});
  }
  NamedSequences train(label_file.empty() ? std::vector<std::string>()
                                          : read_label_template(option_lines(options, "template")));
  const SparseLineRules rules;
  const auto read = [&](const FilePart& part, NamedSequences& out) {
    out.read(part, rules.line, [&](const LineReader& in, std::string_view line) {
      if (trim(line, kBlanks).empty()) {
        out.end_sequence();
        return false;
      }
      const std::string_view label = take_label(line, out);
      if (!label.empty() && !label_file.empty() && !out.is_test() && !out.names.labels.find(label))
        in.fail("label " + in_quotes(label), "one of the labels in " + label_file);
      if (label.starts_with('#') && trim(line, kBlanks).empty())
        out.warn(
            "lines such as {example} ({where}, {count} in all) are read as labels without features: this "
            "format has no comments",
            in, label);
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        const SparseEntry entry = parse_entry(in, word, rules);
        out.add(entry.name, entry.value);
      }
      out.end_position(in, label.empty() ? std::nullopt : std::optional(label));
      return true;
    });
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
  return with_reader(
      {.name = "crfsparse",
       .help = "label feature:value ..., an empty line after each sequence; with a hierarchy: one document a "
               "line",
       .source = "the solver published by the authors of Zhong et al. 2014 (Prox-QN)",
       .options = {{.name = "template",
                    .default_value = "",
                    .help =
                        "file with the label set and its order; empty: labels in order of first appearance",
                    .file = true}}},
      read_crfsparse, HierarchyUse::kOptional);
}

}  // namespace proxbench
