#include "experiments/data/sequences/conll.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "experiments/base/line_reader.h"
#include "experiments/config/ini.h"
#include "experiments/data/file_parts.h"
#include "experiments/data/files.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/data/sequences/templates.h"
#include "experiments/data/sparse_line.h"

namespace proxbench {
namespace {

/// What the option `template` names, or else `attributes`.
Templates templates_of(const Options& options) {
  if (!options.string("template").empty()) return Templates(option_lines(options, "template"));
  const std::string& name = options.string("attributes");
  return Templates(LineReader(shipped_template(name), "template " + name));
}

Padding padding_of(const Options& options) {
  Padding out;
  const std::string& tokens = options.string("pad");
  if (tokens == "auto") {
    if (!options.string("template").empty()) out.tokens = std::numeric_limits<std::int64_t>::max();
  } else if (!parse_integer(tokens, out.tokens) || out.tokens < 0) {
    throw Error::usage(fmt::format("option pad = {}: expected auto or an integer from 0", tokens));
  }
  const std::vector<std::string> symbols = split_list(options.string("pad_symbols"));
  out.numbered = symbols == std::vector<std::string>{"numbered"};
  if (symbols.empty() || symbols.size() > 2 || std::count(symbols.begin(), symbols.end(), "") > 0)
    throw Error::usage(
        fmt::format("option pad_symbols = {}: expected numbered, a symbol, or two: before, after",
                    options.string("pad_symbols")));
  out.before = out.numbered ? "_B" : symbols.front();
  out.after = out.numbered ? "_B" : symbols.back();
  return out;
}

bool ends_of(const Options& options) {
  const std::string& ends = options.string("ends");
  return ends == "auto" ? options.string("template").empty() : ends == "true";
}

std::string columns_text(std::size_t count) {
  return fmt::format("{} column{}", count, count == 1 ? "" : "s");
}

/// Reads files that all have the same columns.
class ConllReader {
 public:
  explicit ConllReader(const Options& options)
      : templates_(templates_of(options)),
        padding_(padding_of(options)),
        ends_(ends_of(options)),
        bias_(options.boolean("bias")),
        word_{"word_column", options.integer("word_column")},
        pos_{"pos_column", options.integer("pos_column")},
        label_{"label_column", options.integer("label_column")} {
    for (const std::string& name : split_list(options.string("lowercase")))
      lowercase_.push_back({name, "option lowercase"});
  }

  /// Throws Error (kInput) with file and line: another number of columns than in the first line of all, a
  /// column that is not there, no token.
  void read(const FilePart& part, NamedSequences& out) {
    out.read(part, "columns: word POS ... label", [&](const LineReader& in, std::string_view line) {
      split(line);
      if (fields_.empty())
        end_sentence(in, out);
      else
        add_token(in);
    });
  }

  /// Takes the number of columns from the file's first token, as read() does with the first file.
  void read_columns(const std::string& path) {
    LineReader in(path);
    std::string_view line;
    while (columns_ == 0 && in.next(line)) {
      split(line);
      if (!fields_.empty()) fix_columns(in);
    }
  }

 private:
  struct Column {
    const char* option;
    std::int64_t number;  ///< from 0; a negative one counts back from the end, -1 being the last
    std::size_t at = 0;   ///< its place in fields_, once the number of columns is known
    bool placed = false;  ///< whether it is: columns that no template names are not looked for
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
    column.placed = true;
  }

  void require_distinct(const LineReader& in, const Column& one, const Column& other) const {
    if (one.at != other.at) return;
    in.fail(fmt::format("{}, of which {} = {} and {} = {} are the same", columns_text(fields_.size()),
                        one.option, one.number, other.option, other.number),
            "a column each (attributes = words needs none of POS)");
  }

  /// The place of a column that templates or options name.
  std::size_t place_of(const LineReader& in, const Templates::Column& named) {
    if (named.name == "word") {
      place(in, word_);
      require_distinct(in, word_, label_);
      return word_.at;
    }
    if (named.name == "pos") {
      place(in, pos_);
      if (word_.placed) require_distinct(in, word_, pos_);
      require_distinct(in, pos_, label_);
      return pos_.at;
    }
    std::int64_t number = -1;
    parse_integer(named.name, number);
    if (number < 0 || number >= std::ssize(fields_) || static_cast<std::size_t>(number) == label_.at)
      throw Error(fmt::format("{}: found column {}, expected word, pos or one of the {} from 0 of {} but {}, "
                              "the label's",
                              named.where, in_quotes(named.name), columns_text(fields_.size()), first_line_,
                              label_.at),
                  ErrorKind::kInput);
    return static_cast<std::size_t>(number);
  }

  /// The first line of all says how many columns there are.
  void fix_columns(const LineReader& in) {
    columns_ = sentence_.columns = fields_.size();
    first_line_ = fmt::format("{}:{}", in.path(), in.line());
    place(in, label_);
    for (Templates::Column& column : templates_.columns()) column.place = place_of(in, column);
    for (Templates::Column& column : lowercase_) column.place = place_of(in, column);
  }

  void add_token(const LineReader& in) {
    if (columns_ == 0) fix_columns(in);
    if (fields_.size() != columns_)
      in.fail(columns_text(fields_.size()), fmt::format("{}, as in {}", columns_text(columns_), first_line_));
    const std::size_t first = sentence_.cells.size();
    sentence_.cells.insert(sentence_.cells.end(), fields_.begin(), fields_.end());
    for (const Templates::Column& column : lowercase_) to_lowercase(sentence_.cells[first + column.place]);
  }

  void end_sentence(const LineReader& in, NamedSequences& out) {
    const std::size_t size = sentence_.size();
    const auto add = [&](std::string_view name) { out.add(name, 1.0); };
    for (std::size_t position = 0; position < size; ++position) {
      templates_.attributes(sentence_, position, padding_, add);
      if (bias_) add("bias");
      if (ends_ && position == 0) add("__BOS__");
      if (ends_ && position + 1 == size) add("__EOS__");
      out.end_position(in, sentence_.cells[position * columns_ + label_.at]);
    }
    out.end_sequence();
    sentence_.cells.clear();
  }

  Templates templates_;
  Padding padding_;
  bool ends_, bias_;
  Column word_, pos_, label_;
  std::vector<Templates::Column> lowercase_;
  std::size_t columns_ = 0;  ///< of each line; 0: no line was read yet
  std::string first_line_;   ///< "file:line" that says so, for error messages
  std::vector<std::string_view> fields_;
  Sentence sentence_;
};

DataPair read_conll(const DataFiles& files, const Options& options, const Processes* processes) {
  require_training_files(files, "conll");
  ConllReader reader(options);
  if (processes != nullptr) reader.read_columns(files.train.front());
  return read_sequences(
      files, options, processes, NamedSequences(),
      [&](const FilePart& part, NamedSequences& out) { reader.read(part, out); },
      static_cast<std::size_t>(options.integer("min_count")));
}

}  // namespace

DataFormatInfo conll_format() {
  DataFormatInfo info;
  info.name = "conll";
  info.help = "columns word POS ... label, an empty line after each sentence; attributes are made of them";
  info.source = "CoNLL shared tasks; attributes: CRFsuite's tutorial on chunking (Okazaki 2007)";
  OptionSpec attributes{"attributes", OptionType::kString, "chunking",
                        "chunking: of words and POS in a window of five tokens, as in CRFsuite's tutorial; "
                        "words: only those of words"};
  attributes.choices = {"chunking", "words"};
  OptionSpec own{"template", OptionType::kString, "",
                 "file with templates, as CRF++ and Wapiti have them, in place of attributes; see "
                 "configs/TEMPLATES.md"};
  own.file = true;
  OptionSpec ends{"ends", OptionType::kString, "auto",
                  "__BOS__ is an attribute of the first token and __EOS__ of the last; auto: true without "
                  "template, else false"};
  ends.choices = {"auto", "true", "false"};
  info.options = {
      attributes,
      own,
      {"pad", OptionType::kString, "auto",
       "tokens before and after a sentence that templates can refer to; a template that reaches further "
       "gives no attribute; auto: 0 without template, else as many as the templates reach"},
      {"pad_symbols", OptionType::kString, "numbered",
       "what stands in their columns: numbered: _B-1, _B-2, ... before the sentence and _B+1, _B+2, ... "
       "after "
       "it, as in CRF++; or a symbol, or two: before, after"},
      ends,
      {"bias", OptionType::kBool, "false", "true: bias is an attribute of every token"},
      {"lowercase", OptionType::kString, "",
       "columns whose letters A to Z are made a to z, separated by commas: word, pos or numbers from 0"},
      {"min_count", OptionType::kInt, "1", "attributes at fewer positions of the training set are dropped",
       1},
      {"word_column", OptionType::kInt, "0", "column of the word; 0 is the first, -1 the last"},
      {"pos_column", OptionType::kInt, "1", "column of the POS; only used where templates have it"},
      {"label_column", OptionType::kInt, "-1", "column of the label"},
  };
  set_reader(info, read_conll);
  info.every_feature = {{"min_count", "1"}};
  return info;
}

}  // namespace proxbench
