#pragma once
/// Feature templates in the syntax of CRF++ and Wapiti: what each token's attributes are made of. One line a
/// template,
///
///     U00:%x[-1,0]/%x[0,0]
///
/// where %x[ROW,COLUMN] stands for a cell of the data, rows counted from the current token and columns from
/// 0; %t and %m look at the cell through a regular expression. configs/TEMPLATES.md describes all of it, and
/// what differs from these two programs.

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

/// The cells of one sentence, token after token, the same number of columns for each.
struct Sentence {
  std::size_t columns = 0;
  std::vector<std::string> cells;

  std::size_t size() const { return columns == 0 ? 0 : cells.size() / columns; }
};

/// What stands for the cells of rows beyond the sentence.
struct Padding {
  std::int64_t tokens = 0;    ///< on each side; a template that reaches further gives no attribute
  bool numbered = false;      ///< symbols end in the distance to the sentence: _B-1, _B-2 and _B+1, _B+2
  std::string before, after;  ///< symbols at the start and at the end
};

/// A parsed file of templates.
class Templates {
 public:
  /// A column that templates use.
  struct Column {
    std::string name;       ///< its number from 0, or "word" or "pos"
    std::string where;      ///< "file:line" of its first use
    std::size_t place = 0;  ///< among the columns of a Sentence: its reader says so
  };

  /// Throws Error (kInput) with file and line where a line is malformed, says what a chain with weights for
  /// pairs of labels alone cannot express, or where no line makes attributes.
  explicit Templates(LineReader&& in);

  std::vector<Column>& columns() { return columns_; }
  /// Hands the attributes of the token at `position` to `add`, in the order of the templates. The text is
  /// valid during the call only.
  void attributes(const Sentence& sentence, std::size_t position, const Padding& padding,
                  const std::function<void(std::string_view)>& add) const;

 private:
  /// %x[row,column], or %t or %m with a regular expression, with the text that stands before it.
  struct Macro {
    std::string before;
    std::int64_t row;
    std::size_t column;               ///< index into columns_
    bool lowercase;                   ///< %X, %T, %M
    std::optional<TokenRegex> regex;  ///< of %t and %m
    bool tests;                       ///< %t: whether it matches; %m: what matches
  };
  struct Template {
    std::vector<Macro> macros;
    std::string end;  ///< what stands after the last of them
  };

  void parse_line(const LineReader& in, std::string_view line);
  Template parse_template(const LineReader& in, std::string_view text);
  Macro parse_macro(const LineReader& in, std::string_view& text);
  std::size_t column_index(const LineReader& in, std::string_view name);

  std::vector<Template> templates_;
  std::vector<Column> columns_;
  bool transitions_ = false;  ///< a line said so
};

/// A to Z in lower case; all other bytes stay as they are, in UTF-8 also letters beyond ASCII.
void to_lowercase(std::string& text);

/// The text of a file of configs/templates that is part of the program: "chunking" or "words".
std::string_view shipped_template(std::string_view name);

}  // namespace proxbench
