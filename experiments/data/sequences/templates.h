#pragma once
/// Feature templates in the syntax of CRF++ and Wapiti. They make the attributes of each token. One template
/// per line,
///
///     U00:%x[-1,0]/%x[0,0]
///
/// where %x[ROW,COLUMN] stands for a cell of the data. Rows count from the current token, and columns from 0.
/// %t and %m apply a regular expression to the cell. configs/TEMPLATES.md describes the whole syntax and the
/// differences from these two programs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/line_reader.h"
#include "experiments/data/sequences/token_regex.h"

namespace proxbench {

/// The cells of one sentence, token after token, with the same number of columns for each token.
struct Sentence {
  std::size_t columns = 0;
  std::vector<std::string> cells;

  std::size_t size() const { return columns == 0 ? 0 : cells.size() / columns; }
};

/// The symbols that replace the cells of rows beyond the sentence.
struct Padding {
  std::int64_t tokens = 0;  ///< padded rows on each side; a template that reaches further gives no attribute
  bool numbered = false;    ///< symbols end with the distance to the sentence: _B-1, _B-2 and _B+1, _B+2
  std::string before, after;  ///< symbols at the start and at the end
};

/// A parsed file of templates.
class Templates {
 public:
  /// A column that some template uses.
  struct Column {
    std::string name;       ///< its number (from 0), "word" or "pos"
    std::string where;      ///< "file:line" of its first use
    std::size_t place = 0;  ///< its index in a Sentence; the reader sets it
  };

  /// Throws Error (kInput) with file and line if a line is malformed, if it asks for something that a chain
  /// with only one weight per pair of labels cannot express, or if no line makes attributes.
  explicit Templates(LineReader&& in);

  std::vector<Column>& columns() { return columns_; }
  /// Calls `add` with each attribute of the token at `position`, in the order of the templates. The text is
  /// valid only during the call.
  void attributes(const Sentence& sentence, std::size_t position, const Padding& padding,
                  const std::function<void(std::string_view)>& add) const;

 private:
  /// %x[row,column], or %t or %m with a regular expression, and the text before it.
  struct Macro {
    std::string before;
    std::int64_t row;
    std::size_t column;               ///< an index into columns_
    bool lowercase;                   ///< %X, %T, %M
    std::optional<TokenRegex> regex;  ///< of %t and %m
    bool tests;                       ///< true for %t, whose value is whether the regex matches
  };
  struct Template {
    std::vector<Macro> macros;
    std::string end;  ///< the text after the last macro
  };

  void parse_line(const LineReader& in, std::string_view line);
  Template parse_template(const LineReader& in, std::string_view text);
  Macro parse_macro(const LineReader& in, std::string_view& text);
  std::size_t column_index(const LineReader& in, std::string_view name);

  std::vector<Template> templates_;
  std::vector<Column> columns_;
  bool transitions_ = false;  ///< whether a line `B` or `*` asks for weights of pairs
};

/// Returns the text of a file of configs/templates that is compiled into the program: "chunking" or "words".
std::string_view shipped_template(std::string_view name);

}  // namespace proxbench
