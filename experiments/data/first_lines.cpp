#include "experiments/data/first_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "experiments/base/files.h"
#include "experiments/base/paths.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

/// A line that is not blank.
struct FirstLine {
  std::uint64_t number;
  std::vector<std::string> words;  ///< separated by blanks, at least one
  std::size_t tabs, commas;        ///< semicolons, too, are commas

  const std::string& label() const { return words.front(); }
};

struct FirstLines {
  std::vector<FirstLine> all;
  bool gap = false;  ///< there is a blank line between others

  template <class Holds>
  bool each(const Holds& holds) const {
    return std::ranges::all_of(all, holds);
  }
  template <class Holds>
  bool half(const Holds& holds) const {
    return 2 * std::ranges::count_if(all, holds) >= std::ssize(all);
  }
  template <class Holds>
  bool any(const Holds& holds) const {
    return std::ranges::any_of(all, holds);
  }
};

FirstLines first_lines(const std::string& file) {
  constexpr std::uint64_t kMost = 100;
  FirstLines out;
  // A file behind standard input is opened anew, so its reader still starts at the first line.
  const std::string name = file == kStandardStream ? "/dev/stdin" : file;
  std::error_code ignored;  // the reader says why a file cannot be read
  if (!fs::is_regular_file(name, ignored)) return out;
  LineReader in(name);
  bool blank = false;
  for (std::string_view line; in.line() < kMost && in.next(line);) {
    FirstLine one{
        in.line(),
        {},
        static_cast<std::size_t>(std::ranges::count(line, '\t')),
        static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return c == ',' || c == ';'; }))};
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
      one.words.emplace_back(word);
    const bool was_blank = std::exchange(blank, one.words.empty());
    if (blank) continue;
    out.gap = out.gap || (was_blank && !out.all.empty());
    out.all.push_back(std::move(one));
  }
  return out;
}

bool has_tab(const FirstLines& lines) {
  return lines.any([](const FirstLine& line) { return line.tabs > 0; });
}

bool is_arff(const FirstLines& lines) {
  return lines.any([](const FirstLine& line) {
    std::string keyword = line.label();
    to_lowercase(keyword);
    return keyword == "@relation" || keyword == "@attribute";
  });
}

bool has_pixels(const FirstLine& line) {
  constexpr std::size_t kPixelsAndMore = 133;
  return line.tabs >= kPixelsAndMore;
}

bool is_ocr(const FirstLines& lines) {
  return lines.half(has_pixels);
}

/// feature:value, or qid:number of a ranking problem
bool is_entry(std::string_view word) {
  if (word.starts_with("qid:")) return true;
  std::int64_t feature = 0;
  double value = 0.0;
  const std::size_t colon = std::min(word.find(':'), word.size() - 1);
  return parse_integer(word.substr(0, colon), feature) && parse_real(word.substr(colon + 1), value);
}

/// `label feature:value ...`, or a comment
bool is_numbered(const FirstLine& line) {
  const auto end = std::ranges::find_if(line.words, [](const std::string& word) { return word[0] == '#'; });
  return end == line.words.begin() ||
         (!is_entry(line.label()) && std::all_of(line.words.begin() + 1, end, is_entry));
}

bool are_numbered(const FirstLines& lines) {
  return lines.each(is_numbered) && lines.any([](const FirstLine& line) { return line.words.size() > 1; });
}

/// A line of CoNLL-U: a word, a range (1-2) or an empty node (1.1).
bool is_conllu_token(const FirstLine& line) {
  return line.tabs == 9 && line.label().find_first_not_of("0123456789-.") == std::string::npos;
}

bool has_conllu_tokens(const FirstLines& lines) {
  return lines.any(is_conllu_token) &&
         lines.each([](const FirstLine& line) { return line.label()[0] == '#' || is_conllu_token(line); });
}

/// Checks for comments or ranges, since other formats have ten columns, too.
bool is_conllu(const FirstLines& lines) {
  return has_conllu_tokens(lines) && lines.any([](const FirstLine& line) {
    return line.label().find_first_of("#-.") != std::string::npos;
  });
}

/// A line of three numbers, and then lines with several labels.
bool is_xmc(const FirstLines& lines) {
  const FirstLine& head = lines.all.front();
  std::int64_t number = 0;
  return lines.all.size() > 1 && head.words.size() == 3 &&
         std::ranges::all_of(head.words,
                             [&](const std::string& word) { return parse_integer(word, number); }) &&
         std::all_of(lines.all.begin() + 1, lines.all.end(),
                     [](const FirstLine& line) { return is_numbered(line) || is_entry(line.label()); });
}

/// Feature 0 is a document's id.
bool is_lshtc(const FirstLines& lines) {
  std::set<std::string> ids;
  std::int64_t id = 0;
  return lines.all.size() > 1 && are_numbered(lines) && lines.each([&](const FirstLine& line) {
    return line.words.size() > 1 && line.words[1].starts_with("0:") &&
           parse_integer(line.words[1].substr(2), id) && ids.insert(line.words[1]).second;
  });
}

bool can_be_lshtc(const FirstLines& lines) {
  return lines.half(is_numbered) && !is_xmc(lines) &&
         lines.any([](const FirstLine& line) { return line.words.size() > 1 && is_numbered(line); });
}

bool is_crfsparse(const FirstLines& lines) {
  return are_numbered(lines) && lines.gap;
}

bool can_be_crfsparse(const FirstLines& lines) {
  constexpr std::size_t kOneSequence = 20;  // more lines without a gap are probably no sequence
  return can_be_lshtc(lines) && (lines.gap || (lines.all.size() < kOneSequence && !is_lshtc(lines)));
}

bool is_libsvm(const FirstLines& lines) {
  return are_numbered(lines) && !lines.gap && !is_lshtc(lines);
}

bool can_be_libsvm(const FirstLines& lines) {
  return can_be_lshtc(lines) && !lines.gap && !is_lshtc(lines);
}

bool has_quality(const FirstLine& line) {
  double quality = 0.0;
  return parse_real(line.label(), quality) || std::ranges::count(line.label(), '/') == 2;
}

/// Checks for qualities with '.' or '/', which labels do not have.
bool is_rerank(const FirstLines& lines) {
  return has_tab(lines) && lines.each(has_quality) && lines.any([](const FirstLine& line) {
    return line.label().find_first_of("./") != std::string::npos;
  });
}

bool can_be_rerank(const FirstLines& lines) {
  return has_tab(lines) && lines.half(has_quality) && !is_conllu(lines);
}

bool has_named_attributes(const FirstLines& lines) {
  std::size_t fields = 0, named = 0;
  for (const FirstLine& line : lines.all) {
    fields += line.words.size() - 1;
    named += static_cast<std::size_t>(std::count_if(
        line.words.begin() + 1, line.words.end(),
        [](const std::string& word) { return word.find_first_of("=:", 1) != std::string::npos; }));
  }
  return has_tab(lines) && named > 0 && 2 * named >= fields;
}

/// Checks for attributes with names, or numbers of attributes that vary between lines.
bool is_crfsuite(const FirstLines& lines) {
  std::set<std::size_t> counts;
  for (const FirstLine& line : lines.all) counts.insert(line.tabs);
  return has_named_attributes(lines) || (has_tab(lines) && counts.size() > 2);
}

bool can_be_conllu(const FirstLines& lines) {
  return lines.any(is_conllu_token);
}

bool is_csv(const FirstLines& lines) {
  const std::size_t commas = lines.all.front().commas;
  return commas > 0 && !has_tab(lines) &&
         lines.half([&](const FirstLine& line) { return line.commas == commas; }) &&
         lines.each([](const FirstLine& line) { return line.commas > 0; });
}

bool can_be_crfsuite(const FirstLines& lines) {
  if (has_tab(lines)) return !is_conllu(lines);
  return !is_csv(lines) && lines.each([](const FirstLine& line) { return line.words.size() == 1; });
}

/// Counts the lines with as many columns as the first.
std::size_t regular(const FirstLines& lines) {
  return static_cast<std::size_t>(std::ranges::count_if(
      lines.all, [&](const FirstLine& line) { return line.words.size() == lines.all[0].words.size(); }));
}

bool is_json(const FirstLines& lines) {
  std::string text;
  for (const FirstLine& line : lines.all)
    for (const std::string& word : line.words)
      if (text.size() < 3) text += word;
  const std::size_t first = text.find_first_not_of("[{");
  return first != std::string::npos && first > 0 && text[first] == '"';
}

bool never(const FirstLines&) {
  return false;
}

bool is_conll(const FirstLines& lines) {
  return regular(lines) == lines.all.size() && lines.all.size() > 1 && lines.all[0].words.size() > 1;
}

bool can_be_conll(const FirstLines& lines) {
  return 2 * regular(lines) >= lines.all.size() && !are_numbered(lines) && !is_ocr(lines) &&
         !has_named_attributes(lines) && !is_conllu(lines) && !is_csv(lines) && !is_json(lines);
}

struct TextFormat {
  const char* name;
  bool (*looks_like)(const FirstLines&);  ///< true for few files of other formats
  bool (*can_be)(const FirstLines&);      ///< true for all files of this format, even if a line is wrong
  const char* advice = nullptr;           ///< for a format that no reader reads
};

/// More specific formats come first.
constexpr TextFormat kTextFormats[] = {
    {"arff", is_arff, is_arff},
    {"json", is_json, never, "JSON, which no format reads"},
    {"xmc", is_xmc, never,
     "a file of the extreme classification repository, with a header and several labels per line, which no "
     "format reads (--format arff has sets of labels)"},
    {"conllu", is_conllu, can_be_conllu},
    {"ocr", is_ocr, is_ocr},
    {"lshtc", is_lshtc, can_be_lshtc},
    {"crfsparse", is_crfsparse, can_be_crfsparse},
    {"libsvm", is_libsvm, can_be_libsvm},
    {"rerank", is_rerank, can_be_rerank},
    {"crfsuite", is_crfsuite, can_be_crfsuite},
    {"csv", is_csv, never,
     "CSV, which no format reads (for --format conll, put TABs between columns and remove a header)"},
    {"conll", is_conll, can_be_conll},
};

std::string shown(const TextFormat& format) {
  return format.advice != nullptr ? format.advice : fmt::format("`--format {}`", format.name);
}

}  // namespace

std::string other_format(const std::string& format, const std::string& file) {
  const FirstLines lines = first_lines(file);
  const auto* const own = std::ranges::find(kTextFormats, format, &TextFormat::name);
  if (own == std::end(kTextFormats) || lines.all.empty() || own->can_be(lines)) return "";
  const auto* const found =
      std::ranges::find_if(kTextFormats, [&](const TextFormat& one) { return one.looks_like(lines); });
  const std::string other = found == std::end(kTextFormats) ? "" : shown(*found);
  if (format == "crfsuite" && !has_tab(lines))
    throw Error(fmt::format("{}: line {} has no TAB{}", shown_name(file), lines.all.front().number,
                            other.empty() ? ", expected label TAB attribute[:value] TAB ..."
                                          : fmt::format("; is this {}?", other)),
                ErrorKind::kInput);
  return other;
}

}  // namespace proxbench
