#include "experiments/data/label_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/line_reader.h"
#include "experiments/data/sequences/columns.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr const char* kColumns =
    "gold and predicted label as the last two columns (predict --with-gold writes them)";

struct Line {
  std::uint64_t number;
  std::string_view text;  ///< without blanks at its ends; empty: ends a sequence
  std::vector<std::string_view> cells = {};
  bool hash() const { return text.starts_with('#'); }
  /// Whether this is surely a position, unless it is left out.
  bool sure() const { return !text.empty() && !hash(); }
  std::string_view gold() const { return cells[cells.size() - 2]; }
  std::string_view predicted() const { return cells.back(); }
};

bool is_integer(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
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
    for (std::string_view line; in_.next(line);) {
      const std::string_view text = trim(line, " \r\f\v");
      lines_.push_back({in_.line(), trim(text).empty() ? "" : std::string_view(texts_.emplace_back(text))});
    }
  }

  LabelColumns read() {
    split();
    leave_out("lines @score and @probability", [](const Line& line) {
      const std::vector<std::string_view> words = words_of(line.text);
      double number = 0.0;
      return words.size() == 2 && (words[0] == "@score" || words[0] == "@probability") &&
             parse_real(words[1], number);
    });
    if (counts_words())
      leave_out("ranges and empty nodes of CoNLL-U",
                [](const Line& line) { return line.sure() && is_range(line.cells.front()); });
    split_input_columns();
    leave_out_comments();
    check_labels();
    return result();
  }

 private:
  [[noreturn]] void fail(const Line& line, const std::string& found, const std::string& expected) const {
    throw Error::in_file(in_.path(), line.number, found, expected);
  }

  /// Removes the lines for which wrong(line), called in their order, is true.
  template <class Wrong>
  void leave_out(const char* what, const Wrong& wrong) {
    const std::size_t before = lines_.size();
    std::vector<Line> left;
    for (Line& line : lines_)
      if (!wrong(line)) left.push_back(std::move(line));
    lines_ = std::move(left);
    if (lines_.size() < before)
      notes_.push_back(fmt::format("{} left out: {}", what, before - lines_.size()));
  }

  void split() {
    const auto first = std::ranges::find_if(
        lines_, [](const Line& line) { return line.sure() && !line.text.starts_with('@'); });
    const bool tabs = first != lines_.end() && first->text.find('\t') != std::string_view::npos;
    for (Line& line : lines_) split_cells(line.text, tabs, line.cells);
  }

  /// Whether the integers in the first column count 1, 2, ... in each sequence, and all other lines are
  /// ranges.
  bool counts_words() const {
    std::int64_t next = 1, number = 0;
    bool any = false;
    for (const Line& line : lines_) {
      if (line.text.empty()) next = 1;
      if (!line.sure() || is_range(line.cells.front())) continue;
      const std::string_view id = line.cells.front();
      if (!is_integer(id) || !parse_integer(id, number) || number != next++) return false;
      any = true;
    }
    return any;
  }

  /// In Wapiti's output, only the predicted label stands after a TAB. Labels may also contain blanks; then
  /// a predicted label does so, or equals the whole text before the TAB.
  void split_input_columns() {
    std::set<std::string_view> predicted;
    for (const Line& line : lines_)
      if (line.sure()) predicted.insert(line.predicted());
    const auto with_blanks = [](std::string_view label) { return words_of(label).size() > 1; };
    if (std::ranges::any_of(predicted, with_blanks)) return;
    const auto first = std::ranges::find_if(lines_, &Line::sure);
    if (first == lines_.end() || first->cells.size() != 2 || !with_blanks(first->gold())) return;
    if (std::ranges::any_of(lines_, [&](const Line& line) {
          return line.sure() && line.cells.size() == 2 && predicted.contains(line.gold());
        }))
      return;
    for (Line& line : lines_) {
      if (line.cells.size() != 2) continue;
      std::vector<std::string_view> cells = words_of(line.gold());
      cells.push_back(line.predicted());
      line.cells = std::move(cells);
    }
  }

  /// Also checks that all other lines have the same number of columns.
  void leave_out_comments() {
    const auto found = std::ranges::find_if(lines_, &Line::sure);
    if (found == lines_.end()) throw Error::in_file(in_.path(), 0, "no labels", kColumns);
    const std::size_t columns = found->cells.size(), first = found->number;
    if (columns < 2) fail(*found, "one column", kColumns);
    std::set<std::string_view> labels;
    for (const Line& line : lines_)
      if (line.sure() && line.cells.size() == columns) labels.insert({line.gold(), line.predicted()});
    bool inside = false;  // a token of the sequence is known
    leave_out("comments (#)", [&](const Line& line) {
      const bool fits = line.cells.size() == columns;
      if (line.text.empty()) return inside = false;
      if (!inside && line.hash()) {
        refuse_nbest(line);
        inside = fits && (labels.contains(line.gold()) || labels.contains(line.predicted()));
        return !inside;
      }
      inside = true;
      if (!fits)
        fail(line, line.cells.size() == 1 ? "one column" : fmt::format("{} columns", line.cells.size()),
             fmt::format("{}, as in line {}", columns, first));
      return false;
    });
  }

  /// Wapiti and CRF++ begin each of the n best label sequences with a line `# NUMBER SCORE`.
  void refuse_nbest(const Line& line) const {
    const std::vector<std::string_view> words = words_of(line.text);
    double score = 0.0;
    if (words[0] == "#" && words.size() == 3 && words[1] != "0" && is_integer(words[1]) &&
        parse_real(words[2], score))
      fail(line, "one of the n best label sequences", "only the best one of each sequence");
  }

  void check_labels() const {
    std::set<std::string_view> gold;
    bool probable = true;
    for (const Line& line : lines_) {
      if (line.text.empty()) continue;
      for (const std::size_t back : {1, 2})
        if (line.cells[line.cells.size() - back].empty())
          fail(line, fmt::format("an empty label in column {}", line.cells.size() - back + 1), kColumns);
      gold.insert(line.gold());
      probable = probable && (line.hash() || has_probability(line.predicted()));
    }
    for (const Line& line : lines_)
      if (probable && !line.text.empty() && !gold.contains(line.predicted()))
        fail(line, fmt::format("{}, a label with a probability", in_quotes(line.predicted())),
             "predicted labels alone (without --marginals, crfsuite -i, crf_test -v)");
  }

  LabelColumns result() {
    LabelColumns out;
    NameIndex names;
    lines_.push_back({});
    for (const Line& line : lines_) {
      const auto positions = static_cast<Index>(out.data.positions());
      if (line.text.empty() && out.data.begin.back() != positions) out.data.begin.push_back(positions);
      if (line.text.empty()) continue;
      out.data.gold.push_back(names.intern(line.gold()));
      out.predicted.push_back(names.intern(line.predicted()));
    }
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
    out.notes = std::move(notes_);
    return out;
  }

  LineReader in_;
  std::deque<std::string> texts_;
  std::vector<Line> lines_;
  std::vector<std::string> notes_;
};

}  // namespace

LabelColumns read_label_columns(const std::string& path) {
  return ColumnsFile(path).read();
}

}  // namespace proxbench
