/// CRFsuite's data format (http://www.chokkan.org/software/crfsuite/manual.html): one position per line,
///
///     label TAB attribute[:value] TAB attribute[:value] ...
///
/// and an empty line after each sequence (optional after the last one). Files are read as by CRFsuite's own
/// reader (frontend/iwa.c and reader.c):
/// - In names, `\:` stands for a colon and `\\` for a backslash. Any other backslash stands for itself.
/// - An unescaped colon starts the value. Without it the value is 1. Values of a repeated attribute are
///   added.
/// - `#` is an ordinary character: there are no comments. Spaces are part of names. Empty fields are skipped.
/// This reader differs where CRFsuite silently accepts bad input:
/// - A value that is not a finite number (or is empty) is an error. CRFsuite reads it as 0 or 1.
/// - A second unescaped colon in one attribute is an error in both.
/// - A label is the whole first field, even with unescaped colons. CRFsuite drops the text after the first
///   colon.
/// - A line without a TAB is a label without attributes. With a space in it, it is an error.
/// - Instance weights (`@weight:2` as a first field) are not supported and are an error.

#include <algorithm>

#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr const char* kCrfsuiteLine = "label TAB attribute[:value] TAB ...";

bool starts_escape(std::string_view text, std::size_t at) {
  return text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == ':' || text[at + 1] == '\\');
}

/// Position of the first unescaped colon, or npos.
std::size_t find_colon(std::string_view text, bool escapes) {
  if (!escapes) return text.find(':');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') return i;
    if (starts_escape(text, i)) ++i;
  }
  return std::string_view::npos;
}

/// Removes escapes. If there are any, the result is stored in `holder`.
std::string_view unescaped(std::string_view text, std::string& holder) {
  if (text.find('\\') == std::string_view::npos) return text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_escape(text, i)) ++i;
    holder += text[i];
  }
  return holder;
}

/// Warns of a field such as `w=12:30`, which probably does not mean the attribute `w=12` with the value 30.
void check_value(const LineReader& in, std::string_view field, std::size_t colon, NamedSequences& out) {
  std::int64_t number = 0;
  if (colon == field.npos || field.substr(0, colon).find('=') == field.npos ||
      !parse_integer(field.substr(colon + 1), number) || number == 1)
    return;
  out.warn(
      "fields such as {example} ({where}, {count} in all) are read as an attribute and its value: a colon "
      "inside a name is written \\:",
      in, field);
}

/// Whether the fields of a line have escapes and colons. Most lines have neither, and one search of a line
/// costs less than a search of each field.
struct Special {
  explicit Special(std::string_view line)
      : escapes(line.find('\\') != line.npos), colons(line.find(':') != line.npos) {}
  bool escapes, colons;
};

void add_attribute(const LineReader& in, std::string_view field, const Special& has, NamedSequences& out) {
  const std::size_t colon = has.colons ? find_colon(field, has.escapes) : field.npos;
  const std::string_view name = field.substr(0, colon);
  double value = 1.0;
  if (name.empty())
    in.fail("attribute " + in_quotes(field) + " without a name", "attribute or attribute:value");
  if (colon != std::string_view::npos && !parse_real(field.substr(colon + 1), value))
    in.fail("value " + in_quotes(field.substr(colon + 1)) + " of attribute " + in_quotes(name),
            "a finite real number (a colon inside a name is written \\:)");
  check_value(in, field, colon, out);
  if (!has.escapes) {
    out.add(name, value);
    return;
  }
  std::string holder;
  out.add(unescaped(name, holder), value);
}

void add_position(const LineReader& in, std::string_view line, NamedSequences& out) {
  const std::string_view label =
      out.labels() == TestLabels::kNone ? std::string_view() : line.substr(0, line.find('\t'));
  if (line.find_first_not_of(" \t") == std::string_view::npos)
    in.fail("a line of white space", "label TAB attributes, or an empty line after a sequence");
  if (label.empty() && out.labels() == TestLabels::kRequired) in.fail("an empty label", kCrfsuiteLine);
  if (label == "@weight" || label.starts_with("@weight:"))
    in.fail(in_quotes(label), "a label (instance weights are not supported)");
  const bool only_label = out.labels() != TestLabels::kNone && line.find('\t') == line.npos;
  if (only_label && line.find(' ') != line.npos) in.fail("no TAB in " + in_quotes(line), kCrfsuiteLine);
  if (only_label)
    out.warn(
        "lines without a TAB, such as {example} ({where}, {count} in all), are read as labels without "
        "attributes",
        in, line);
  add_attributes(in, line.substr(label.size()), out);
  std::string holder;
  out.end_position(in, label.empty() ? std::nullopt : std::optional(unescaped(label, holder)));
}

void read_crfsuite_file(const FilePart& part, NamedSequences& out) {
  out.read(part, kCrfsuiteLine, [&](const LineReader& in, std::string_view line) {
    if (line.empty())
      out.end_sequence();
    else
      add_position(in, line, out);
    return !line.empty();
  });
}

DataPair read_crfsuite(const DataFiles& files, const Options& options, const Processes* processes) {
  return read_sequences(files, options, processes, NamedSequences(), {.read = read_crfsuite_file});
}

}  // namespace

void add_attributes(const LineReader& in, std::string_view fields, NamedSequences& out) {
  const Special has(fields);
  while (!fields.empty()) {
    const std::string_view field = fields.substr(0, fields.find('\t'));
    if (!field.empty()) add_attribute(in, field, has, out);
    fields.remove_prefix(std::min(field.size() + 1, fields.size()));
  }
}

DataFormatInfo crfsuite_format() {
  return with_reader(
      {.name = "crfsuite",
       .help =
           "label TAB attribute[:value] TAB ..., an empty line after each sequence; \\: and \\\\ in names",
       .source = "CRFsuite (Okazaki 2007), www.chokkan.org/software/crfsuite/manual.html",
       .oracle = "chain"},
      read_crfsuite);
}

}  // namespace proxbench
