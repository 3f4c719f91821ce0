#include "experiments/data/label_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/line_reader.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr const char* kColumns =
    "gold and predicted label as the last two columns (predict --with-gold writes them)";

struct Line {
  std::uint64_t number;
  std::string text;                     ///< without blanks at its ends; empty: ends a sequence
  std::vector<std::string_view> cells;  ///< views into `text`
  bool position = true;                 ///< false: left out
  bool hash() const { return text.starts_with('#'); }
  std::string_view gold() const { return cells[cells.size() - 2]; }
  std::string_view predicted() const { return cells.back(); }
};

std::vector<std::string_view> cells_of(std::string_view text, bool tabs) {
  if (!tabs) return words_of(text);
  std::vector<std::string_view> out = split(text, '\t');
  for (std::string_view& cell : out) cell = trim(cell, " ");
  return out;
}

bool is_integer(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// 1-2 or 1.1
bool is_range(std::string_view id) {
  const std::size_t middle = id.find_first_of("-.");
  return middle != id.npos && is_integer(id.substr(0, middle)) && is_integer(id.substr(middle + 1));
}

/// Whether a label ends in a probability: LABEL:P or LABEL/P.
bool has_probability(std::string_view label) {
  const std::size_t at = label.find_last_of(":/");
  double p = 0.0;
  return at != label.npos && at > 0 && parse_real(label.substr(at + 1), p) && p >= 0.0 && p <= 1.0;
}

class ColumnsFile {
 public:
  explicit ColumnsFile(const std::string& path) : in_(path) {
    for (std::string_view line; in_.next(line);)
      lines_.push_back({in_.line(), std::string(trim(line, " \r\f\v")), {}});
    for (Line& line : lines_)
      if (trim(line.text).empty()) line.text.clear();
  }

  LabelColumns read() {
    split();
    leave_out_scores();
    leave_out_ranges();
    check_columns();
    split_input_columns();
    leave_out_comments();
    check_labels();
    return result();
  }

 private:
  [[noreturn]] void fail(const Line& line, const std::string& found, const std::string& expected) const {
    throw Error::in_file(in_.path(), line.number, found, expected);
  }

  /// Calls use(line) for each line that may be a position.
  template <class Use>
  void each(const Use& use) {
    for (Line& line : lines_)
      if (line.position && !line.text.empty()) use(line);
  }
  /// Does what each() does, but skips lines that begin with '#'.
  template <class Use>
  void each_sure(const Use& use) {
    each([&](Line& line) {
      if (!line.hash()) use(line);
    });
  }
  bool all_sure(bool (*holds)(const Line&)) {
    bool all = true;
    each_sure([&](const Line& line) { all = all && holds(line); });
    return all;
  }

  void leave_out(Line& line, std::size_t& count) {
    line.position = false;
    ++count;
  }

  void split() {
    const auto first = std::ranges::find_if(lines_, [](const Line& line) {
      return !line.text.empty() && !line.hash() && !line.text.starts_with('@');
    });
    const bool tabs = first != lines_.end() && first->text.find('\t') != std::string::npos;
    for (Line& line : lines_)
      if (!line.text.empty()) line.cells = cells_of(line.text, tabs);
  }

  void leave_out_scores() {
    each([&](Line& line) {
      const std::vector<std::string_view> words = words_of(line.text);
      double number = 0.0;
      if (words.size() == 2 && (words[0] == "@score" || words[0] == "@probability") &&
          parse_real(words[1], number))
        leave_out(line, scores_);
    });
  }

  /// Whether the integers in the first column count 1, 2, ... in each sequence, and all other lines are
  /// ranges.
  bool counts_words() const {
    std::int64_t next = 1, number = 0;
    bool any = false;
    for (const Line& line : lines_) {
      if (line.text.empty()) next = 1;
      if (line.text.empty() || line.hash() || !line.position) continue;
      const std::string_view id = line.cells.front();
      if (is_range(id)) continue;
      if (!is_integer(id) || !parse_integer(id, number) || number != next++) return false;
      any = true;
    }
    return any;
  }

  void leave_out_ranges() {
    if (!counts_words()) return;
    each_sure([&](Line& line) {
      if (is_range(line.cells.front())) leave_out(line, ranges_);
    });
  }

  void check_columns() {
    const Line* first = nullptr;
    each_sure([&](const Line& line) {
      if (first == nullptr) first = &line;
      if (line.cells.size() < 2 && first == &line) fail(line, "one column", kColumns);
    });
    if (first == nullptr) throw Error::in_file(in_.path(), 0, "no labels", kColumns);
    bool inside = false;  // a token of the sequence is known
    for (Line& line : lines_) {
      if (line.text.empty()) inside = false;
      if (line.text.empty() || !line.position) continue;
      if (!line.hash()) inside = true;
      if (line.hash() && !inside) refuse_nbest(line);
      if (line.cells.size() == first->cells.size()) continue;
      if (inside)
        fail(line, line.cells.size() == 1 ? "one column" : fmt::format("{} columns", line.cells.size()),
             fmt::format("{}, as in line {}", first->cells.size(), first->number));
      leave_out(line, comments_);
    }
  }

  /// Wapiti and CRF++ begin each of the n best label sequences with a line `# NUMBER SCORE`.
  void refuse_nbest(const Line& line) const {
    const std::vector<std::string_view> words = words_of(line.text);
    double score = 0.0;
    if (words[0] == "#" && words.size() == 3 && words[1] != "0" && is_integer(words[1]) &&
        parse_real(words[2], score))
      fail(line, "one of the n best label sequences", "only the best one of each sequence");
  }

  /// In Wapiti's output, only the predicted label stands after a TAB. Labels may also contain blanks; then
  /// a predicted label does so, or equals the whole text before the TAB.
  void split_input_columns() {
    std::set<std::string_view> predicted;
    const Line* first = nullptr;
    bool blanks = false;
    each_sure([&](const Line& line) {
      if (first == nullptr) first = &line;
      predicted.insert(line.predicted());
      blanks = blanks || line.predicted().find(' ') != std::string_view::npos;
    });
    if (first->cells.size() != 2 || blanks) return;
    bool whole = false;
    each_sure([&](const Line& line) { whole = whole || predicted.contains(line.gold()); });
    const std::size_t columns = words_of(first->gold()).size();
    if (whole || columns < 2) return;
    each([&](Line& line) {
      const std::vector<std::string_view> words = words_of(line.gold());
      if (words.size() == columns)
        line.cells[0] = words.back();
      else if (line.hash())
        leave_out(line, comments_);
      else
        fail(line, fmt::format("{} columns before the TAB", words.size()),
             fmt::format("{}, as in line {}", columns, first->number));
    });
  }

  void leave_out_comments() {
    std::set<std::string_view> labels;
    each_sure([&](const Line& line) { labels.insert({line.gold(), line.predicted()}); });
    bool inside = false;  // a token of the sequence is known
    for (Line& line : lines_) {
      if (line.text.empty()) inside = false;
      if (line.text.empty() || !line.position) continue;
      if (line.hash() && !inside && !labels.contains(line.gold()) && !labels.contains(line.predicted()))
        leave_out(line, comments_);
      else
        inside = true;
    }
  }

  void check_labels() {
    each([&](const Line& line) {
      for (const std::size_t back : {1, 2})
        if (line.cells[line.cells.size() - back].empty())
          fail(line, fmt::format("an empty label in column {}", line.cells.size() - back + 1), kColumns);
    });
    if (!all_sure([](const Line& line) { return has_probability(line.predicted()); })) return;
    std::set<std::string_view> gold;
    each([&](const Line& line) { gold.insert(line.gold()); });
    each([&](const Line& line) {
      if (!gold.contains(line.predicted()))
        fail(line, fmt::format("{}, a label with a probability", in_quotes(line.predicted())),
             "predicted labels alone (without --marginals, crfsuite -i, crf_test -v)");
    });
  }

  LabelColumns result() {
    LabelColumns out;
    NameIndex names;
    const auto end_sequence = [&] {
      const auto positions = static_cast<Index>(out.data.positions());
      if (out.data.begin.back() != positions) out.data.begin.push_back(positions);
    };
    for (const Line& line : lines_) {
      if (line.text.empty()) end_sequence();
      if (line.text.empty() || !line.position) continue;
      out.data.gold.push_back(names.intern(line.gold()));
      out.predicted.push_back(names.intern(line.predicted()));
    }
    end_sequence();
    out.data.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{}, names.names()});
    std::vector<std::uint64_t> positions(names.names().size());
    for (const auto* labels : {&out.data.gold, &out.predicted})
      for (const Index label : *labels) ++positions[label];
    std::vector<std::string> alike;
    for (const auto& [text, group] : alike_labels(names.names(), [&](std::size_t k) {
           return fmt::format("{} ({})", in_quotes(names.names()[k]), positions[k]);
         }))
      if (group.size() > 1) alike.push_back(joined(group, " and "));
    out.warning = alike_text(std::move(alike));
    for (const auto& [count, what] : {std::pair(comments_, "comments (#)"),
                                      {scores_, "lines @score and @probability"},
                                      {ranges_, "ranges and empty nodes of CoNLL-U"}})
      if (count > 0) out.notes.push_back(fmt::format("{} left out: {}", what, count));
    return out;
  }

  LineReader in_;
  std::vector<Line> lines_;
  std::size_t comments_ = 0, scores_ = 0, ranges_ = 0;
};

}  // namespace

LabelColumns read_label_columns(const std::string& path) {
  return ColumnsFile(path).read();
}

}  // namespace proxbench
