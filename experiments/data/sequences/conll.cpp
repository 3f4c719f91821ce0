#include "experiments/data/sequences/conll.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "experiments/base/line_reader.h"
#include "experiments/data/files.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/data/sparse_line.h"

namespace proxbench {
namespace {

/// The same column of the tokens from `first` to `last`, counted from the current one: one attribute.
struct Template {
  Template(std::string_view name, std::string ConllToken::*column_, int first_, int last_)
      : column(column_), first(first_), last(last_) {
    for (int offset = first; offset <= last; ++offset)
      prefix += fmt::format("{}{}[{}]", offset == first ? "" : "|", name, offset);
    prefix += '=';
  }

  std::string ConllToken::*column;
  int first, last;
  std::string prefix;  ///< "w[-1]|w[0]="
};

/// The tutorial's, in its order; those of words come first.
const std::vector<Template>& chunking_templates() {
  static const std::vector<Template> templates = [] {
    std::vector<Template> out;
    const auto word = [&](int first, int last) { out.emplace_back("w", &ConllToken::word, first, last); };
    const auto pos = [&](int first, int last) { out.emplace_back("pos", &ConllToken::pos, first, last); };
    for (int i = -2; i <= 2; ++i) word(i, i);
    for (int i = -1; i <= 0; ++i) word(i, i + 1);
    for (int i = -2; i <= 2; ++i) pos(i, i);
    for (int i = -2; i <= 1; ++i) pos(i, i + 1);
    for (int i = -2; i <= 0; ++i) pos(i, i + 2);
    return out;
  }();
  return templates;
}

constexpr std::size_t kWordTemplates = 7;

std::string columns_text(std::size_t count) {
  return fmt::format("{} column{}", count, count == 1 ? "" : "s");
}

/// Reads files that all have the same columns.
class ConllReader {
 public:
  explicit ConllReader(const Options& options)
      : attributes_(options.string("attributes") == "words" ? ConllAttributes::kWords
                                                            : ConllAttributes::kChunking),
        word_{"word_column", options.integer("word_column")},
        pos_{"pos_column", options.integer("pos_column")},
        label_{"label_column", options.integer("label_column")} {}

  /// Throws Error (kInput) with file and line: another number of columns than in the first line of all, a
  /// column that is not there, no token.
  void read(const std::string& path, NamedSequences& out) {
    LineReader in(path);
    const std::size_t before = out.positions();
    std::string_view line;
    while (in.next(line)) {
      split(line);
      if (fields_.empty()) {
        end_sentence(out);
      } else {
        add_token(in);
      }
    }
    end_sentence(out);
    if (out.positions() == before) in.fail_empty("columns: word POS ... label");
  }

 private:
  struct Column {
    const char* option;
    std::int64_t number;  ///< from 0; a negative one counts back from the end, -1 being the last
    std::size_t at = 0;   ///< its place in fields_, once the number of columns is known
  };

  void split(std::string_view line) {
    fields_.clear();
    for (std::string_view field = take_word(line); !field.empty(); field = take_word(line))
      fields_.push_back(field);
  }

  void place(const LineReader& in, Column& column) const {
    const auto count = static_cast<std::int64_t>(fields_.size());
    const std::int64_t at = column.number < 0 ? count + column.number : column.number;
    if (at < 0 || at >= count)
      in.fail(columns_text(fields_.size()),
              fmt::format("enough for {} = {} (0 is the first, -1 the last)", column.option, column.number));
    column.at = static_cast<std::size_t>(at);
  }

  void require_distinct(const LineReader& in, const Column& one, const Column& other) const {
    if (one.at != other.at) return;
    in.fail(fmt::format("{}, of which {} = {} and {} = {} are the same", columns_text(fields_.size()),
                        one.option, one.number, other.option, other.number),
            "a column each (attributes = words needs none of POS)");
  }

  /// The first line of all says how many columns there are.
  void fix_columns(const LineReader& in) {
    place(in, word_);
    place(in, label_);
    require_distinct(in, word_, label_);
    if (attributes_ == ConllAttributes::kChunking) {
      place(in, pos_);
      require_distinct(in, word_, pos_);
      require_distinct(in, pos_, label_);
    }
    columns_ = fields_.size();
    first_line_ = fmt::format("{}:{}", in.path(), in.line());
  }

  void add_token(const LineReader& in) {
    if (columns_ == 0) fix_columns(in);
    if (fields_.size() != columns_)
      in.fail(columns_text(fields_.size()), fmt::format("{}, as in {}", columns_text(columns_), first_line_));
    sentence_.push_back(
        {.word = std::string(fields_[word_.at]),
         .pos = std::string(attributes_ == ConllAttributes::kChunking ? fields_[pos_.at] : ""),
         .label = std::string(fields_[label_.at])});
  }

  void end_sentence(NamedSequences& out) {
    for (std::size_t position = 0; position < sentence_.size(); ++position) {
      for_each_conll_attribute(sentence_, position, attributes_,
                               [&](std::string_view name) { out.add(name, 1.0); });
      out.end_position(sentence_[position].label);
    }
    out.end_sequence();
    sentence_.clear();
  }

  ConllAttributes attributes_;
  Column word_, pos_, label_;
  std::size_t columns_ = 0;  ///< of each line; 0: no line was read yet
  std::string first_line_;   ///< "file:line" that says so, for error messages
  std::vector<std::string_view> fields_;
  std::vector<ConllToken> sentence_;
};

DataPair read_conll(const DataFiles& files, const Options& options) {
  require_training_files(files, "conll");
  ConllReader reader(options);
  NamedSequences train;
  for (const std::string& path : files.train) reader.read(path, train);
  NamedSequences test = NamedSequences::test_for(train);
  for (const std::string& path : files.test) reader.read(path, test);
  return finish(std::move(train), std::move(test), files);
}

}  // namespace

void for_each_conll_attribute(std::span<const ConllToken> sentence, std::size_t position,
                              ConllAttributes attributes, const std::function<void(std::string_view)>& add) {
  const std::span<const Template> all = chunking_templates();
  const auto here = static_cast<std::ptrdiff_t>(position), end = std::ssize(sentence);
  std::string name;
  for (const Template& one : attributes == ConllAttributes::kWords ? all.first(kWordTemplates) : all) {
    if (here + one.first < 0 || here + one.last >= end) continue;
    name = one.prefix;
    for (int offset = one.first; offset <= one.last; ++offset) {
      if (offset > one.first) name += '|';
      name += sentence[static_cast<std::size_t>(here + offset)].*one.column;
    }
    add(name);
  }
  if (here == 0) add("__BOS__");
  if (here + 1 == end) add("__EOS__");
}

DataFormatInfo conll_format() {
  DataFormatInfo info;
  info.name = "conll";
  info.help = "columns word POS ... label, an empty line after each sentence; attributes are made of them";
  info.source = "CoNLL shared tasks; attributes: CRFsuite's tutorial on chunking (Okazaki 2007)";
  OptionSpec attributes{"attributes", OptionType::kString, "chunking",
                        "chunking: of words and POS in a window of five tokens, as in CRFsuite's tutorial; "
                        "words: only those of words"};
  attributes.choices = {"chunking", "words"};
  info.options = {
      attributes,
      {"word_column", OptionType::kInt, "0", "column of the word; 0 is the first, -1 the last"},
      {"pos_column", OptionType::kInt, "1", "column of the POS; not used with attributes = words"},
      {"label_column", OptionType::kInt, "-1", "column of the label"},
  };
  info.read = read_conll;
  return info;
}

}  // namespace proxbench
