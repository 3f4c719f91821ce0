#include "experiments/data/sequences/templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

constexpr const char *kMacro = "%x[ROW,COLUMN]", *kRegexMacros = "%t[ROW,COLUMN,\"REGEX\"] or %m[...]";
/// Rows further away are treated as mistakes.
constexpr std::int64_t kFurthestRow = 1000;

/// Removes a comment, which starts with # at the beginning of the line or after white space.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return trim(line.substr(0, at), kBlanks);
  return trim(line, kBlanks);
}

TokenRegex compiled(const LineReader& in, std::string_view regex) {
  try {
    return TokenRegex(regex);
  } catch (const Error& error) {
    in.fail("regular expression " + in_quotes(regex), fmt::format("one that PCRE2 takes: {}", error.what()));
  }
}

/// Returns the length of %t[ROW,COLUMN,"REGEX"] at the start of the text, and sets `regex` to its REGEX. A \"
/// does not end REGEX.
std::size_t take_regex(const LineReader& in, std::string_view text, std::string_view& regex) {
  const std::size_t begin = std::min(text.find(",\""), text.size() - 2) + 2;
  std::size_t end = begin;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (!text.substr(std::min(end, text.size())).starts_with("\"]")) in.fail(in_quotes(text), kRegexMacros);
  regex = text.substr(begin, end - begin);
  return end + 2;
}

bool append_symbol(const std::string& symbol, char side, std::int64_t distance, const Padding& padding,
                   std::string& out) {
  if (distance > padding.tokens) return false;
  out += symbol;
  if (padding.numbered) out += side + std::to_string(distance);
  return true;
}

}  // namespace

Templates::Templates(LineReader&& in) {
  std::string_view line;
  while (in.next(line)) {
    line = without_comment(line);
    if (!line.empty()) parse_line(in, line);
  }
  if (templates_.empty())
    throw Error::in_file(in.path(), 0, "no template that makes attributes", "at least one line U...");
}

void Templates::parse_line(const LineReader& in, std::string_view line) {
  const char kind = line.front();
  if (std::string_view("UuBb*").find(kind) == std::string_view::npos)
    in.fail(in_quotes(line), "U and a template, B, * or a comment after #");
  const bool unigram = kind == 'U' || kind == 'u';
  Template one = parse_template(in, line.substr(1));
  if (!unigram) {
    if (!one.macros.empty())
      in.fail(fmt::format("{}: weights of pairs of labels for each attribute", in_quotes(line)),
              fmt::format("{} without {}: a chain has one weight for each pair of labels", kind, kMacro));
    if (transitions_)
      in.fail(fmt::format("{}: a second line for pairs of labels", in_quotes(line)),
              "one: a chain has one weight for each pair of labels");
    transitions_ = true;
  }
  if (kind == 'B' || kind == 'b') return;
  if (one.macros.empty() && one.end.empty()) one.end = "bias";
  templates_.push_back(std::move(one));
}

Templates::Template Templates::parse_template(const LineReader& in, std::string_view text) {
  Template out;
  for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%')) {
    std::string before(text.substr(0, at));
    text.remove_prefix(at);
    out.macros.push_back(parse_macro(in, text));
    out.macros.back().before = std::move(before);
  }
  out.end = text;
  return out;
}

Templates::Macro Templates::parse_macro(const LineReader& in, std::string_view& text) {
  const std::string_view letter = text.substr(1, 1);
  const bool tests = letter == "t" || letter == "T", takes = letter == "m" || letter == "M";
  std::string_view regex;
  const std::size_t end = tests || takes ? take_regex(in, text, regex) : text.find(']') + 1;  // 0: none
  const std::string_view macro = text.substr(0, end == 0 ? text.npos : end);
  const std::size_t comma = macro.find(',');
  const bool plain = letter == "x" || letter == "X";
  if (!(plain || tests || takes) || macro.substr(2, 1) != "[" || end == 0 || comma == macro.npos)
    in.fail(in_quotes(macro), tests || takes ? kRegexMacros : kMacro);
  const std::string_view row = trim(macro.substr(3, comma - 3), kBlanks);
  const std::size_t column_end = plain ? end - 1 : macro.find(",\"");
  const std::string_view column = trim(macro.substr(comma + 1, column_end - comma - 1), kBlanks);
  Macro out{.before = {},
            .row = 0,
            .column = 0,
            .lowercase = macro[1] <= 'Z',
            .regex = std::nullopt,
            .tests = tests};
  if (!plain) out.regex = compiled(in, regex);
  if (!parse_integer(row, out.row) || out.row < -kFurthestRow || out.row > kFurthestRow)
    in.fail(fmt::format("row {} in {}", in_quotes(row), in_quotes(macro)),
            fmt::format("an integer from {} to {}, counted from the token", -kFurthestRow, kFurthestRow));
  std::int64_t number = 0;
  const bool numbered = parse_integer(column, number) && number >= 0;
  if (!numbered && column != "word" && column != "pos")
    in.fail(fmt::format("column {} in {}", in_quotes(column), in_quotes(macro)),
            "an integer from 0, word or pos");
  out.column = column_index(in, numbered ? std::to_string(number) : std::string(column));
  text.remove_prefix(end);
  return out;
}

std::size_t Templates::column_index(const LineReader& in, std::string_view name) {
  const auto known = std::ranges::find(columns_, name, &Column::name);
  const auto index = static_cast<std::size_t>(known - columns_.begin());
  if (known == columns_.end())
    columns_.push_back({std::string(name), fmt::format("{}:{}", in.path(), in.line())});
  return index;
}

void Templates::attributes(const Sentence& sentence, std::size_t position, const Padding& padding,
                           const std::function<void(std::string_view)>& add) const {
  const auto here = static_cast<std::int64_t>(position), size = static_cast<std::int64_t>(sentence.size());
  std::string name, cell;
  const auto append = [&](const Macro& macro) {
    const std::int64_t row = here + macro.row;
    const bool inside = row >= 0 && row < size;
    cell.clear();
    if (inside)
      cell = sentence.cells[static_cast<std::size_t>(row) * sentence.columns + columns_[macro.column].place];
    else if (!(row < 0 ? append_symbol(padding.before, '-', -row, padding, cell)
                       : append_symbol(padding.after, '+', row - size + 1, padding, cell)))
      return false;
    if (macro.regex) {
      const auto match = macro.regex->find(cell);
      cell = macro.tests ? (match ? "true" : "false") : std::string(match.value_or(""));
    }
    if (macro.lowercase && inside) to_lowercase(cell);
    (name += macro.before) += cell;
    return true;
  };
  for (const Template& one : templates_) {
    name.clear();
    if (!std::all_of(one.macros.begin(), one.macros.end(), append)) continue;
    name += one.end;
    if (!name.empty()) add(name);  // a name can be empty if it is only a %m that matches nothing
  }
}

}  // namespace proxbench
