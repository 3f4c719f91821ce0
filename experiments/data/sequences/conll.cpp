/// Columns, as in the data of the CoNLL shared tasks: one token per line,
///
///     word POS ... label
///
/// separated by one or more spaces or tabs, or with delimiter = tab by a single TAB, so that cells may
/// contain spaces. All lines of all files have the same number of columns. An empty (or blank) line follows
/// each sentence (optional after the last one). No line is special: `#` starts no comment, and `-DOCSTART-`
/// is an ordinary token. Options say which columns hold the word, the part of speech (POS) and the label.
///
/// The format `conllu` reads CoNLL-U, the format of Universal Dependencies, in the same way: ten columns,
/// each after a TAB, of which UPOS is the label by default. Comments, ranges (1-2) and empty nodes (1.1) are
/// skipped. In a test set whose first token has the label `_`, no token has a label.
///
/// Templates (templates.h) make the attributes of a token. They come from the user's file or are selected by
/// `attributes`. With `attributes = chunking`, the attributes are those of CRFsuite's tutorial on chunking
/// (example/chunking.py), with the same order and names:
///
///     w[-2]=the ... w[2]=.   w[-1]|w[0]=a|b   w[0]|w[1]=a|b
///     pos[-2]=DT ... pos[2]=.   pos[-2]|pos[-1]=DT|NN and so on to pos[1]|pos[2]
///     pos[-2]|pos[-1]|pos[0]=DT|NN|VB   pos[-1]|pos[0]|pos[1]=...   pos[0]|pos[1]|pos[2]=...
///     __BOS__ at the first token, __EOS__ at the last
///
/// A template that reaches beyond the sentence gives no attribute at that token. Nothing is padded; __BOS__
/// and __EOS__ are separate attributes. So the training file of CoNLL-2000 gives 335,672 attributes of
/// templates and these two, J = 335,674. With its K = 22 labels, d = J*K + K*K = 7,385,312. All values are 1.
/// Names keep the bytes of the data: the tutorial's script writes `__COLON__` because its output cannot
/// contain a colon, but here the name contains the colon.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "experiments/base/files.h"
#include "experiments/config/ini.h"
#include "experiments/data/sequences/columns.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/data/sequences/templates.h"

namespace proxbench {
namespace {

/// The templates of the option `template` or, without it, of `attributes`.
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

/// Reads files. All must have the same columns.
class ConllReader {
 public:
  ConllReader(const Options& options, bool conllu)
      : options_(options),
        conllu_(conllu),
        tabs_(conllu || options.string("delimiter") == "tab"),
        templates_(templates_of(options)),
        padding_(padding_of(options)),
        ends_(ends_of(options)),
        bias_(options.boolean("bias")),
        most_(static_cast<std::size_t>(options.integer("sentences"))) {
    for (const std::string& name : split_list(options.string("lowercase")))
      lowercase_.push_back({name, "option lowercase"});
  }

  /// Throws Error (kInput) with file and line if there is no token, if a column does not exist, or if a line
  /// has another number of columns than the first line of the first file.
  void read(const FilePart& part, NamedSequences& out) {
    out.read(part, "columns: word POS ... label", [&](const LineReader& in, std::string_view line) {
      if (most_ > 0 && !out.is_test() && out.data.instances() == most_) return false;
      if (conllu_ && line.starts_with('#')) return false;
      split_cells(line, tabs_, fields_);
      if (fields_.empty()) {
        end_sentence(in, out);
        return false;
      }
      if (conllu_ && is_range(fields_.front())) return false;
      check_token(in, line, out);
      add_token(in, line, out);
      return true;
    });
    check_hash_lines(part, out);
  }

  /// Determines the columns from the file's first token, as read() does for the first file.
  void read_columns(const std::string& path) {
    LineReader in(path);
    std::string_view line;
    while (columns_ == 0 && in.next(line)) {
      if (conllu_ && line.starts_with('#')) continue;
      split_cells(line, tabs_, fields_);
      if (!fields_.empty() && !(conllu_ && is_range(fields_.front()))) fix_columns(in);
    }
  }

 private:
  /// Whether a line has blanks that may belong to a cell.
  static bool is_mixed(std::string_view line) {
    return line.find('\t') != line.npos && trim(line, kBlanks).find(' ') != line.npos;
  }

  /// Whether the cells are names of columns, such as `word pos label`.
  bool is_header() const {
    static const std::vector<std::string> words{"word", "words", "token",   "tokens",
                                                "form", "text",  "sentence"},
        labels{"label",    "labels", "tag", "tags", "ner", "ner_tag",
               "ner_tags", "chunk",  "pos", "upos", "xpos"};
    std::string first(fields_.front()), last(fields_.back());
    to_lowercase(first);
    to_lowercase(last);
    return contains(words, first) && contains(labels, last);
  }

  void check_token(const LineReader& in, std::string_view line, NamedSequences& out) const {
    if (in.line() == 1 && is_header())
      out.warn("{example} ({where}) looks like a header and is read as a token: remove this line", in, line);
    if (!tabs_ && is_mixed(line))
      out.warn(
          "lines with TABs and spaces, such as {example} ({where}, {count} in all): both separate columns; "
          "if only "
          "TABs do, give --data-option delimiter=tab",
          in, line);
    if (fields_.front() == "-DOCSTART-")
      out.warn(
          "lines -DOCSTART- ({where}, {count} in all) are read as sentences of one token: remove them if "
          "they only "
          "mark documents",
          in);
  }

  void check_label(const LineReader& in, std::string_view line, NamedSequences& out) {
    constexpr std::size_t kUpos = 3, kXpos = 4, kRelation = 7;  // of CoNLL-U; each word should have them
    if (conllu_ && fields_[label_] == "_" && (label_ == kUpos || label_ == kXpos || label_ == kRelation))
      out.warn(
          "words with the label '_' ({where}, {count} in all): '_' means none in CoNLL-U, and is read as a "
          "label",
          in);
    if (conllu_ || !line.starts_with('#') || !sentence_.cells.empty()) return;
    HashLines& lines = hash_lines_[std::string(fields_[label_])];
    if (lines.count++ == 0) lines = {1, std::string(line), in.line()};
  }

  /// Warns of lines that begin sentences with '#', if no other line has their label.
  void check_hash_lines(const FilePart& part, NamedSequences& out) {
    for (const auto& [label, lines] : std::exchange(hash_lines_, {})) {
      const auto number = out.names.labels.find(label);
      if (number && static_cast<std::uint64_t>(std::ranges::count(out.data.gold, *number)) == lines.count)
        out.warn(
            "lines that begin with '#', such as {example} ({where}, {count} in all), are read as tokens: "
            "this format has no comments",
            fmt::format("{}:{}", shown_name(part.path), lines.first), lines.example, lines.count);
    }
  }

  /// Returns the place of a column from its number, which counts from the end if it is negative.
  std::int64_t place_in_line(std::int64_t number) const {
    return number < 0 ? std::ssize(fields_) + number : number;
  }

  /// Whether lines of the test set have no label. If the number of columns is known, such lines have one
  /// column fewer. Otherwise the label's column does not exist, or it is one that templates use.
  bool lacks_label(const NamedSequences& out) {
    if (conllu_) {
      const auto label = static_cast<std::size_t>(place_in_line(options_.integer("label_column")));
      if (!blank_labels_ && out.is_test())
        blank_labels_ =
            out.labels() == TestLabels::kNone ||
            (out.labels() == TestLabels::kIfAny && label < fields_.size() && fields_[label] == "_");
      return out.is_test() && *blank_labels_;
    }
    if (out.labels() != TestLabels::kIfAny || !out.is_test()) return out.labels() == TestLabels::kNone;
    if (columns_ > 0) return unlabelled_ || fields_.size() + 1 == columns_;
    const std::int64_t label = place_in_line(options_.integer("label_column"));
    return label >= std::ssize(fields_) ||
           std::ranges::any_of(templates_.columns(), [&](const Templates::Column& used) {
             std::int64_t number = 0;
             if (!parse_integer(used.name, number)) number = options_.integer(used.name + "_column");
             return place_in_line(number) == label;
           });
  }

  /// Returns the place of the column that an option numbers. Two options must not number the same column.
  std::size_t place(const LineReader& in, const std::string& option) {
    const std::int64_t count = std::ssize(fields_), number = options_.integer(option);
    const std::int64_t at = place_in_line(number);
    if (at < 0 || at >= count)
      in.fail(columns_text(fields_.size()),
              fmt::format("enough for {} = {} (0 is the first, -1 the last)", option, number));
    for (const auto& [other, other_at] : places_)
      if (other != option && other_at == static_cast<std::size_t>(at)) {
        if (unlabelled_)
          in.fail(columns_text(fields_.size() - 1) + " without a label",
                  fmt::format("one more for {} = {}", option == "label_column" ? other : option,
                              options_.integer(option == "label_column" ? other : option)));
        const auto& [second, first] = std::minmax(option, other);
        in.fail(fmt::format("{}, of which {} = {} and {} = {} are the same", columns_text(fields_.size()),
                            first, options_.integer(first), second, options_.integer(second)),
                "a column each (attributes = words needs none of POS)");
      }
    return places_[option] = static_cast<std::size_t>(at);
  }

  /// Returns the place of a column that templates or options name.
  std::size_t place_of(const LineReader& in, const Templates::Column& named) {
    if (named.name == "word" || named.name == "pos") return place(in, named.name + "_column");
    std::int64_t number = -1;
    parse_integer(named.name, number);
    if (number < 0 || number >= std::ssize(fields_) || static_cast<std::size_t>(number) == label_)
      throw Error(
          fmt::format("{}: found column {}, expected word, pos or one of the {} from 0 of {} but {}, "
                      "the label's",
                      named.where, in_quotes(named.name), columns_text(fields_.size()), first_line_, label_),
          ErrorKind::kInput);
    return static_cast<std::size_t>(number);
  }

  /// Determines the columns from the first line of all.
  void fix_columns(const LineReader& in) {
    columns_ = sentence_.columns = fields_.size();
    first_line_ = fmt::format("{}:{}", in.path(), in.line());
    label_ = place(in, "label_column");
    for (Templates::Column& column : templates_.columns()) column.place = place_of(in, column);
    for (Templates::Column& column : lowercase_) column.place = place_of(in, column);
  }

  void add_token(const LineReader& in, std::string_view line, NamedSequences& out) {
    constexpr std::size_t kConlluColumns = 10;
    if (conllu_ && fields_.size() != kConlluColumns)
      in.fail(columns_text(fields_.size()),
              fmt::format("the {} of CoNLL-U, each after a TAB", kConlluColumns));
    unlabelled_ = lacks_label(out);
    if (unlabelled_ && !conllu_) {  // inserts an empty cell in place of the label
      const std::int64_t label = options_.integer("label_column"), last = std::ssize(fields_);
      fields_.insert(
          fields_.begin() + std::clamp<std::int64_t>(label < 0 ? last + 1 + label : label, 0, last),
          std::string_view());
    }
    if (columns_ == 0) {
      fix_columns(in);
      first_mixed_ = is_mixed(line);
    }
    if (fields_.size() != columns_)
      in.fail(columns_text(fields_.size() - unlabelled_),
              fmt::format("{}, as in {}{}", columns_text(columns_ - unlabelled_), first_line_,
                          !tabs_ && (first_mixed_ || is_mixed(line))
                              ? "; if only TABs separate columns, give --data-option delimiter=tab"
                              : ""));
    if (conllu_ && unlabelled_) fields_[label_] = {};
    if (!unlabelled_ && fields_[label_].empty())
      in.fail(fmt::format("an empty label in column {}", label_), "a label (columns count from 0)");
    if (!out.is_test()) check_label(in, line, out);
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
      const std::string& label = sentence_.cells[position * columns_ + label_];
      out.end_position(in, label.empty() ? std::nullopt : std::optional<std::string_view>(label));
    }
    out.end_sequence();
    sentence_.cells.clear();
  }

  /// Lines of one label that begin sentences with '#'.
  struct HashLines {
    std::uint64_t count = 0;
    std::string example;
    std::uint64_t first = 0;
  };

  const Options& options_;
  const bool conllu_, tabs_;  ///< tabs_: only TABs separate columns
  Templates templates_;
  Padding padding_;
  bool ends_, bias_;
  std::size_t most_;                           ///< sentences of the training set; 0: all
  std::map<std::string, std::size_t> places_;  ///< of the columns that options number and templates use
  std::size_t label_ = 0;                      ///< the place of the label
  std::vector<Templates::Column> lowercase_;
  std::size_t columns_ = 0;           ///< columns of each line with a label; 0: no line read yet
  bool unlabelled_ = false;           ///< lines have no label
  bool first_mixed_ = false;          ///< the line that set the columns has TABs and spaces
  std::optional<bool> blank_labels_;  ///< whether the test set of CoNLL-U has no labels; none: not known yet
  std::string first_line_;            ///< "file:line" of the line that set these, for messages
  std::vector<std::string_view> fields_;
  Sentence sentence_;
  std::map<std::string, HashLines> hash_lines_;  ///< of the training file that is read, by label
};

/// Drops the features that occur at fewer than min_count positions of the training set. They are then unknown
/// in test data.
void drop_rare_features(NamedSequences& train, double min_count, const Processes* processes) {
  const std::vector<std::string>& names = train.names.features.names();
  std::vector<double> count(names.size(), 0.0);
  for (std::size_t p = 0; p < train.data.positions(); ++p)
    for (const Index feature : train.rows.row(p)) ++count[feature];
  if (processes != nullptr) processes->add(count);
  NameIndex kept;
  std::vector<Index> number(names.size());
  for (std::size_t j = 0; j < names.size(); ++j)
    if (count[j] >= min_count) number[j] = kept.intern(names[j]);
  if (kept.names().empty())
    throw Error::usage(fmt::format("option min_count = {}: no attribute occurs so often", min_count));
  if (const std::size_t rare = names.size() - kept.names().size(); rare > 0)
    train.data.notes["rare attributes"] = rare;
  train.remake_rows([&](DesignMatrix::Builder& rows, Index feature, double value) {
    if (count[feature] >= min_count) rows.add(number[feature], value);
  });
  train.names.features = std::move(kept);
}

template <bool conllu>
DataPair read_conll(const DataFiles& files, const Options& options, const Processes* processes) {
  ConllReader reader(options, conllu);
  if (processes != nullptr && options.integer("sentences") > 0)
    throw Error::usage("option sentences: found several processes, expected one, or all sentences");
  if (processes != nullptr) reader.read_columns(files.train.front());
  const auto min_count = static_cast<double>(options.integer("min_count"));
  return read_sequences(files, options, processes, NamedSequences(),
                        {.read = [&](const FilePart& part, NamedSequences& out) { reader.read(part, out); },
                         .complete =
                             [&](NamedSequences& set) {
                               if (min_count > 1 && !set.is_test())
                                 drop_rare_features(set, min_count, processes);
                             }});
}

OptionTable conll_options(bool conllu) {
  OptionTable out{
      {.name = "attributes",
       .default_value = conllu ? "words" : "chunking",
       .help = "chunking: of words and POS in a window of five tokens, as in CRFsuite's tutorial; "
               "words: only those of words",
       .choices = {"chunking", "words"}},
      {.name = "template",
       .default_value = "",
       .help = "file with templates, as CRF++ and Wapiti have them, in place of attributes; see "
               "configs/TEMPLATES.md",
       .file = true},
      {.name = "pad",
       .default_value = "auto",
       .help = "tokens before and after a sentence that templates can refer to; a template that reaches "
               "further gives no attribute; auto: 0 without template, else as many as the templates reach"},
      {.name = "pad_symbols",
       .default_value = "numbered",
       .help = "what stands in their columns: numbered: _B-1, _B-2, ... before the sentence and _B+1, "
               "_B+2, ... after it, as in CRF++; or a symbol, or two: before, after"},
      {.name = "ends",
       .default_value = "auto",
       .help = "__BOS__ is an attribute of the first token and __EOS__ of the last; auto: true without "
               "template, else false",
       .choices = {"auto", "true", "false"}},
      {"bias", OptionType::kBool, "false", "true: bias is an attribute of every token"},
      {.name = "lowercase",
       .default_value = "",
       .help = "columns whose letters A to Z are made a to z, separated by commas: word, pos or "
               "numbers from 0"},
      {"min_count", OptionType::kInt, "1", "attributes at fewer positions of the training set are dropped",
       1},
      {"word_column", OptionType::kInt, conllu ? "1" : "0",
       "column of the word; 0 is the first, -1 the last"},
      {"pos_column", OptionType::kInt, conllu ? "4" : "1",
       "column of the POS; only used where templates have it"},
      {"label_column", OptionType::kInt, conllu ? "3" : "-1",
       conllu ? "column of the label: 3 is UPOS, 4 XPOS, 7 DEPREL" : "column of the label"},
      {"sentences", OptionType::kInt, "0",
       "take only the first so many sentences of the training files; 0: all", 0}};
  if (!conllu)
    out.push_back({.name = "delimiter",
                   .default_value = "blanks",
                   .help = "what separates columns: blanks: spaces and TABs; tab: a single TAB, so cells may "
                           "contain spaces",
                   .choices = {"blanks", "tab"}});
  return out;
}

}  // namespace

DataFormatInfo conll_format() {
  return with_reader(
      {.name = "conll",
       .help = "columns word POS ... label, an empty line after each sentence; attributes are made of them",
       .source = "CoNLL shared tasks; attributes: CRFsuite's tutorial on chunking (Okazaki 2007)",
       .options = conll_options(false),
       .oracle = "chain"},
      read_conll<false>);
}

DataFormatInfo conllu_format() {
  return with_reader({.name = "conllu",
                      .help = "CoNLL-U: ten columns after TABs; comments, ranges and empty nodes are skipped",
                      .source = "Universal Dependencies, universaldependencies.org/format.html",
                      .options = conll_options(true),
                      .oracle = "chain"},
                     read_conll<true>);
}

}  // namespace proxbench
