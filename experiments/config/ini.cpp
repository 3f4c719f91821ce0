#include "experiments/config/ini.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <tuple>

#include "core/base/options.h"
#include "experiments/base/files.h"

namespace proxbench {
namespace {

constexpr std::string_view kInclude = "include";

/// Removes the comment: '#' or ';' at the start or after white space.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if ((line[i] == '#' || line[i] == ';') && (i == 0 || kWhiteSpace.find(line[i - 1]) != kWhiteSpace.npos))
      return line.substr(0, i);
  return line;
}

/// A line joined with its continuation lines, without comments and outer white space.
struct JoinedLine {
  std::string text;
  std::vector<TextPiece> pieces;
};

/// Takes a line from the text; adds its number of lines in the file to `lines`.
JoinedLine take_line(std::string_view& text, std::size_t& lines) {
  JoinedLine out;
  for (bool more = true; more && !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    std::string_view line = trim(without_comment(whole));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++lines;
    more = line.ends_with('\\');
    if (more) line = trim(line.substr(0, line.size() - 1));
    if (line.empty()) continue;
    if (!out.text.empty()) out.text += ' ';
    out.pieces.push_back({out.text.size(), lines, static_cast<std::size_t>(line.data() - whole.data()) + 1});
    out.text += line;
  }
  return out;
}

/// Returns the location of the byte `offset` of a line.
Location location_at(const std::vector<TextPiece>& pieces, std::size_t offset, const Location& file) {
  const TextPiece& piece = *(std::ranges::upper_bound(pieces, offset, {}, &TextPiece::offset) - 1);
  return {file.source, piece.line, piece.column + (offset - piece.offset), file.file};
}

/// Returns false if there is no such file.
bool read_text(const fs::path& file, std::string& out) {
  std::error_code ignored;  // a file that cannot be examined cannot be opened either
  if (fs::is_directory(file, ignored) || !std::ifstream(file)) return false;
  out = text_of(file);
  return true;
}

/// Returns a path that is the same for all names of a file.
fs::path identity(const fs::path& file) {
  std::error_code ignored;  // after an error, the name is returned as given
  const fs::path found = fs::weakly_canonical(file, ignored);
  return found.empty() ? file : found;
}

/// The files so far, and whether they were read to their ends.
using FilesRead = std::map<fs::path, bool>;

/// Reads one file into an Ini, after the files that it includes.
class IniReader {
 public:
  IniReader(const IniFile& file, const IniReader* includer, Ini& ini, FilesRead& read, Problems& problems)
      : here_{file.name, 0, 0, ini.files.size()},
        identity_(identity(file.name)),
        includer_(includer),
        ini_(ini),
        read_(read),
        problems_(problems) {
    ini.files.push_back(file);
    read_[identity_] = false;
  }

  void read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    for (std::size_t lines = 0; !text.empty();) {
      line_ = take_line(text, lines);
      if (line_.text.empty()) continue;
      if (line_.text.front() == '[')
        begin_section();
      else
        read_entry();
    }
    read_[identity_] = true;
  }

 private:
  /// Returns the location of a byte of the line.
  Location at(std::size_t offset) const { return location_at(line_.pieces, offset, here_); }

  /// Returns the offset of a part of the line.
  std::size_t offset_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - line_.text.data());
  }

  void begin_section() {
    const std::string_view line = line_.text;
    const std::string_view name = line.back() == ']' ? trim(line.substr(1, line.size() - 2)) : "";
    inside_ = true;
    section_ = nullptr;
    if (name.empty() || name.find_first_of("[]") != name.npos)
      return problems_.add(at(0), "found " + in_quotes(line) + ", expected [section] or [section.name]");
    const Location where = at(offset_of(name));
    const IniSection* known = ini_.sections.find(name);
    const bool again = known && known->where.file == here_.file;
    if (again)
      problems_.add(where, fmt::format("found section {} again, expected it once (first at line {})",
                                       known->title(), known->where.line));
    section_ = &ini_.sections.get({std::string(name), where});
    if (!again) section_->where = where;
  }

  void read_entry() {
    const std::string_view line = line_.text;
    const std::size_t equals = line.find('=');
    const std::string key(trim(line.substr(0, equals)));
    if (equals == line.npos || key.empty())
      return problems_.add(at(0), "found " + in_quotes(line) + ", expected [section] or key = value");
    const std::string_view value = trim(line.substr(equals + 1));
    const std::size_t begin = value.empty() ? equals + 1 : offset_of(value);
    const IniEntry entry{key, std::string(value), at(0), line_.pieces, begin};
    if (key == kInclude)
      include_all(entry);
    else if (!inside_)
      problems_.add(at(0), fmt::format("found key {} outside a section{}, expected [section] first",
                                       in_quotes(key), did_you_mean(key, {std::string(kInclude)})));
    else if (section_ != nullptr)
      set_entry(entry);
  }

  void set_entry(const IniEntry& entry) {
    const IniEntry* known = section_->entries.find(entry.key);
    if (known && known->where.file == here_.file)
      return problems_.add(entry.where,
                           fmt::format("found key {} again in {}, expected it once (first at line {})",
                                       in_quotes(entry.key), section_->title(), known->where.line));
    section_->entries.get(entry) = entry;
  }

  void include_all(const IniEntry& entry) {
    if (inside_)
      return problems_.add(entry.where,
                           "found 'include' in a section, expected it in front of the first one");
    ini_.files[here_.file].includes = true;
    if (entry.value.empty()) problems_.add(entry.at(), "include: found nothing, expected a list of files");
    for (const ListPart& part : list_parts(entry.value)) {
      const std::string problem =
          part.text.empty() ? "found nothing between commas, expected a file" : include(part.text);
      if (!problem.empty()) problems_.add(entry.at(part.offset), "include: " + problem);
    }
  }

  /// Reads an included file. Returns its error with the chain of includes, or "".
  std::string include(const std::string& name) {
    const fs::path folder = ini_.files[here_.file].folder;
    if (folder.empty())
      return fmt::format("found {}, expected no include in a text that stands in no folder", in_quotes(name));
    const fs::path file = (folder / name).lexically_normal();
    std::error_code ignored;  // a file that cannot be examined does not count
    std::string text, expected;
    const fs::path same = identity(file);
    const auto known = read_.find(same);
    if (known != read_.end() && known->second) return "";
    if (known != read_.end())
      expected = "no file that includes itself";
    else if (!fs::exists(file, ignored))
      expected = "a config file, but there is none of this name";
    else if (fs::is_directory(file, ignored))
      expected = "a config file, but it is a folder";
    else if (!fs::is_regular_file(file, ignored) || !read_text(file, text))
      expected = "a config file that can be read";  // a pipe or device may never end
    if (!expected.empty())
      return fmt::format("found {}, expected {} ({}{})", in_quotes(name), expected, chain(), file.string());
    IniReader({file.string(), file.parent_path()}, this, ini_, read_, problems_).read(text);
    return "";
  }

  /// Returns "FILE -> FILE -> ": the chain of includes, from the outermost file on.
  std::string chain() const { return (includer_ ? includer_->chain() : "") + here_.source + " -> "; }

  const Location here_;  // the file
  const fs::path identity_;
  const IniReader* const includer_;  // null: none
  Ini& ini_;
  FilesRead& read_;
  Problems& problems_;
  JoinedLine line_;
  IniSection* section_ = nullptr;  // null: its header was malformed and reported; lines below it are skipped
  bool inside_ = false;            // a section has begun
};

}  // namespace

std::string Location::text() const {
  if (line == 0) return source;
  return fmt::format("{}:{}{}", source, line, column > 0 ? fmt::format(":{}", column) : "");
}

Location IniEntry::at(std::size_t offset) const {
  return pieces.empty() ? where : location_at(pieces, begin + offset, where);
}

std::vector<Problems::Problem> Problems::sorted() const {
  static constexpr std::size_t kLast = std::numeric_limits<std::size_t>::max();
  const auto place = [](const Problem& problem) {
    const Location& where = problem.where;
    return std::tuple(where.file, where.line > 0 ? where.line : kLast, where.column);
  };
  std::vector<Problem> sorted = found_;
  std::ranges::stable_sort(sorted, {}, place);
  return sorted;
}

std::vector<std::string> Problems::lines() const {
  std::vector<std::string> out;
  for (const Problem& problem : sorted()) out.push_back(problem.where.text() + ": " + problem.what);
  return out;
}

void Problems::throw_if_any(const std::string& subject) const {
  constexpr std::size_t kShown = 20;  // number of problems shown of each kind
  if (empty()) return;
  std::string text = fmt::format("{}: {} error{}", subject, found_.size(), found_.size() == 1 ? "" : "s");
  std::map<std::string, std::size_t> counts;
  for (const Problem& problem : sorted())
    if (++counts[problem.what.substr(0, problem.what.find('\''))] <= kShown)
      text += "\n" + problem.where.text() + ": " + problem.what;
  for (const auto& [kind, count] : counts)
    if (count > kShown)
      text += fmt::format("\n{} more errors that begin with \"{}\"", count - kShown, trim(kind));
  throw Error::usage(text);
}

std::vector<ListPart> list_parts(std::string_view text) {
  std::vector<ListPart> parts;
  if (trim(text).empty()) return parts;
  int depth = 0;
  for (std::size_t begin = 0, at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '(') ++depth;
    if (at < text.size() && text[at] == ')') --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    const std::string_view part = trim(text.substr(begin, at - begin));
    parts.push_back(
        {std::string(part), part.empty() ? at : static_cast<std::size_t>(part.data() - text.data())});
    begin = at + 1;
  }
  return parts;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (ListPart& part : list_parts(text)) parts.push_back(std::move(part.text));
  return parts;
}

Ini parse_ini(std::string_view text, const std::string& source, const fs::path& folder, Problems& problems) {
  Ini ini;
  FilesRead read;
  IniReader({source, folder}, nullptr, ini, read, problems).read(text);
  return ini;
}

Ini read_ini(const fs::path& file, Problems& problems) {
  std::string text;
  std::error_code ignored;
  if (!read_text(file, text))
    throw Error::usage(file.string() +
                       (fs::is_directory(file, ignored) ? ": found a directory" : ": cannot be read") +
                       ", expected a config file");
  return parse_ini(text, file.string(), file.has_parent_path() ? file.parent_path() : ".", problems);
}

void apply_override(Ini& ini, const std::string& assignment, Problems& problems) {
  const Location here{"--set " + assignment, 0, 0, Location::kNoFile};
  const std::string_view text = assignment;
  const std::size_t equals = text.find('=');
  const std::size_t dot = equals == text.npos ? text.npos : text.substr(0, equals).rfind('.');
  const std::string name(dot == text.npos ? "" : trim(text.substr(0, dot)));
  const std::string key(dot == text.npos ? "" : trim(text.substr(dot + 1, equals - dot - 1)));
  if (name.empty() || key.empty())
    return problems.add(here, fmt::format("found {}, expected section.key=value", in_quotes(text)));
  const std::string value(trim(text.substr(equals + 1)));
  if (without_comment(value).size() != value.size() || value.find('\n') != value.npos)
    return problems.add(
        here, "found a comment or line break in the value, expected a value that a config file can hold");
  const IniEntry entry{key, value, here};
  ini.sections.get({name, here}).entries.get(entry) = entry;
}

}  // namespace proxbench
