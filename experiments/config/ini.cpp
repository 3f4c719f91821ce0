#include "experiments/config/ini.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/options.h"

namespace proxbench {
namespace {

constexpr std::string_view kInclude = "include";

/// Cuts the comment off: '#' or ';' at the start or after white space.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if ((line[i] == '#' || line[i] == ';') && (i == 0 || kWhiteSpace.find(line[i - 1]) != kWhiteSpace.npos))
      return line.substr(0, i);
  return line;
}

/// A line with those in which it goes on, without comments and outer white space.
struct JoinedLine {
  std::string text;
  std::vector<TextPiece> pieces;
};

/// Takes a line off the text; adds the number of lines in the file to `lines`.
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

/// Where the byte `offset` of a text stands.
TextPiece piece_at(const std::vector<TextPiece>& pieces, std::size_t offset) {
  const auto behind =
      std::upper_bound(pieces.begin(), pieces.end(), offset,
                       [](std::size_t at, const TextPiece& piece) { return at < piece.offset; });
  const TextPiece& piece = *(behind == pieces.begin() ? behind : behind - 1);
  return {offset, piece.line, piece.column + (offset - piece.offset)};
}

/// The pieces of the text from `begin` on.
std::vector<TextPiece> pieces_from(const std::vector<TextPiece>& pieces, std::size_t begin) {
  std::vector<TextPiece> out{piece_at(pieces, begin)};
  for (const TextPiece& piece : pieces)
    if (piece.offset > begin) out.push_back(piece);
  for (TextPiece& piece : out) piece.offset -= begin;
  return out;
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", shown(text));
}

std::string section_title(const IniSection& section) {
  return fmt::format("[{}]", shown(section.name));
}

/// Parses one file.
class IniParser {
 public:
  /// `file`: its place in Ini::files.
  IniParser(const std::string& source, std::size_t file, Problems& problems)
      : file_(file), problems_(problems), ini_{source, {}, {}, {{source, {}}}} {}

  Ini parse(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    for (std::size_t lines = 0; !text.empty();) {
      line_ = take_line(text, lines);
      if (line_.text.empty()) continue;
      if (line_.text.front() == '[')
        begin_section();
      else
        read_entry();
    }
    return std::move(ini_);
  }

 private:
  /// Where a byte of the line stands.
  Location at(std::size_t offset) const {
    const TextPiece piece = piece_at(line_.pieces, offset);
    return {ini_.source, piece.line, piece.column, file_};
  }

  /// Where a part of the line, without outer white space, begins.
  std::size_t offset_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - line_.text.data());
  }

  void begin_section() {
    const std::string_view line = line_.text;
    const std::string_view name = line.back() == ']' ? trim(line.substr(1, line.size() - 2)) : "";
    inside_ = true;
    skip_ = name.empty() || name.find_first_of("[]") != name.npos;
    if (skip_) {
      problems_.add(at(0), "found " + in_quotes(line) + ", expected [section] or [section.name]");
    } else if (const auto known = section_numbers_.find(name); known != section_numbers_.end()) {
      section_ = known->second;
      const IniSection& first = ini_.sections[section_];
      problems_.add(at(offset_of(name)),
                    fmt::format("found section {} again, expected it once (first at line {})",
                                section_title(first), first.where.line));
    } else {
      section_ = ini_.sections.size();
      section_numbers_.emplace(name, section_);
      ini_.sections.push_back({std::string(name), at(offset_of(name)), {}});
    }
  }

  void read_entry() {
    const std::string_view line = line_.text;
    const std::size_t equals = line.find('=');
    const std::string key(trim(line.substr(0, equals)));
    if (equals == line.npos || key.empty())
      return problems_.add(at(0), "found " + in_quotes(line) + ", expected [section] or key = value");
    const std::string_view value = trim(line.substr(equals + 1));
    const std::size_t begin = value.empty() ? equals + 1 : offset_of(value);
    const IniEntry entry{key, std::string(value), at(0), pieces_from(line_.pieces, begin)};
    if (key == kInclude)
      note_includes(entry);
    else if (!inside_)
      problems_.add(at(0), fmt::format("found key {} outside a section{}, expected [section] first",
                                       in_quotes(key), did_you_mean(key, {std::string(kInclude)})));
    else if (!skip_)
      add_entry(ini_.sections[section_], entry);
  }

  void note_includes(const IniEntry& entry) {
    if (inside_)
      return problems_.add(entry.where,
                           "found 'include' in a section, expected it in front of the first one");
    if (!ini_.includes.empty())
      return problems_.add(entry.where, "found 'include' again, expected one with a list of files");
    if (entry.value.empty()) problems_.add(entry.at(), "include: found nothing, expected a list of files");
    for (const ListPart& part : list_parts(entry.value)) {
      if (part.text.empty())
        problems_.add(entry.at(part.offset), "include: found nothing between commas, expected a file");
      else
        ini_.includes.push_back({part.text, entry.at(part.offset)});
    }
  }

  void add_entry(IniSection& section, const IniEntry& entry) {
    const auto [first, added] = first_lines_.try_emplace({section_, entry.key}, entry.where.line);
    if (!added)
      problems_.add(entry.where, fmt::format("found key {} again in {}, expected it once (first at line {})",
                                             in_quotes(entry.key), section_title(section), first->second));
    else
      section.entries.push_back(entry);
  }

  const std::size_t file_;
  Problems& problems_;
  Ini ini_;
  JoinedLine line_;
  // By name, so that many sections and keys take no quadratic time.
  std::map<std::string, std::size_t, std::less<>> section_numbers_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> first_lines_;  // of the keys of each section
  std::size_t section_ = 0;                                                 // of ini_.sections, where inside_
  bool inside_ = false;                                                     // a section has begun
  bool skip_ = false;  // its header was malformed and reported: what follows belongs nowhere
};

/// False where there is no such file.
bool read_text(const std::filesystem::path& file, std::string& out) {
  std::error_code ignored;  // a file that cannot be looked at cannot be opened either
  std::ifstream in(file);
  if (std::filesystem::is_directory(file, ignored) || !in) return false;
  std::ostringstream text;
  text << in.rdbuf();
  out = std::move(text).str();
  return true;
}

/// Adds what `over` has and `items` has not, by name; `replace` changes what both have.
template <class Item, class Replace>
void override_items(std::vector<Item>& items, const std::vector<Item>& over, std::string Item::*name,
                    Replace replace) {
  std::map<std::string, std::size_t> numbers;
  for (const Item& item : items) numbers.emplace(item.*name, numbers.size());
  for (const Item& item : over)
    if (const auto known = numbers.find(item.*name); known == numbers.end())
      items.push_back(item);
    else
      replace(items[known->second], item);
}

void override_sections(std::vector<IniSection>& sections, const std::vector<IniSection>& over) {
  override_items(sections, over, &IniSection::name, [](IniSection& section, const IniSection& from) {
    section.where = from.where;
    override_items(section.entries, from.entries, &IniEntry::key,
                   [](IniEntry& entry, const IniEntry& other) { entry = other; });
  });
}

/// Reads all that a file includes, depth first.
class IncludeReader {
 public:
  IncludeReader(Ini& ini, Problems& problems) : ini_(ini), problems_(problems) {}

  void read() {
    chain_.push_back({identity(ini_.source), ini_.source});
    const std::filesystem::path folder = ini_.files.front().folder;  // a copy, as files grows
    include_all(ini_.includes, folder);
    override_sections(below_, ini_.sections);
    ini_.sections = std::move(below_);
  }

 private:
  struct Link {
    std::filesystem::path file;  // the same for every name of a file
    std::string name;
  };

  static std::filesystem::path identity(const std::filesystem::path& file) {
    std::error_code ignored;  // then its name is all we know of it
    const std::filesystem::path found = std::filesystem::weakly_canonical(file, ignored);
    return found.empty() ? file : found;
  }

  void include_all(const std::vector<IniInclude>& includes, const std::filesystem::path& folder) {
    for (const IniInclude& include : includes) {
      const std::filesystem::path file = (folder / include.file).lexically_normal();
      const Link link{identity(file), file.string()};
      const auto same = [&](const Link& other) { return other.file == link.file; };
      if (std::any_of(chain_.begin(), chain_.end(), same))
        report(include, link, "no file that includes itself");
      else if (std::none_of(done_.begin(), done_.end(), same))
        read_file(include, link);
    }
  }

  void read_file(const IniInclude& include, const Link& link) {
    std::error_code ignored;  // what cannot be looked at is no file for us
    std::string text;
    if (!std::filesystem::exists(link.name, ignored))
      return report(include, link, "a config file, but there is none of this name");
    // A pipe or device may never end.
    if (!std::filesystem::is_regular_file(link.name, ignored) || !read_text(link.name, text))
      return report(include, link,
                    std::filesystem::is_directory(link.name, ignored) ? "a config file, but it is a folder"
                                                                      : "a config file that can be read");
    const std::filesystem::path folder = std::filesystem::path(link.name).parent_path();
    const Ini included = IniParser(link.name, ini_.files.size(), problems_).parse(text);
    ini_.files.push_back({link.name, folder});
    chain_.push_back(link);
    include_all(included.includes, folder);
    chain_.pop_back();
    done_.push_back(link);
    override_sections(below_, included.sections);
  }

  /// With the files that lead there.
  void report(const IniInclude& include, const Link& link, const std::string& expected) {
    std::string chain;
    for (const Link& above : chain_) chain += above.name + " -> ";
    problems_.add(include.where, fmt::format("include: found {}, expected {} ({}{})", in_quotes(include.file),
                                             expected, chain, link.name));
  }

  Ini& ini_;
  Problems& problems_;
  std::vector<IniSection> below_;  // what was included so far
  std::vector<Link> chain_;        // what is being read, from the outermost file on
  std::vector<Link> done_;
};

}  // namespace

std::string Location::text() const {
  if (line == 0) return source;
  return fmt::format("{}:{}{}", source, line, column > 0 ? fmt::format(":{}", column) : "");
}

Location IniEntry::at(std::size_t offset) const {
  if (pieces.empty()) return where;
  const TextPiece piece = piece_at(pieces, offset);
  return {where.source, piece.line, piece.column, where.file};
}

void Problems::add(const Location& where, const std::string& what) {
  const std::size_t line = where.line > 0 ? where.line : std::numeric_limits<std::size_t>::max();
  found_.push_back(
      {where.file, line, where.column, where.text() + ": " + what, what.substr(0, what.find('\''))});
}

std::vector<Problems::Problem> Problems::sorted() const {
  std::vector<Problem> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
  });
  return sorted;
}

std::vector<std::string> Problems::lines() const {
  std::vector<std::string> out;
  for (Problem& problem : sorted()) out.push_back(std::move(problem.text));
  return out;
}

void Problems::throw_if_any(const std::string& subject) const {
  constexpr std::size_t kShown = 20;  // of a kind
  if (empty()) return;
  std::string text = fmt::format("{}: {} error{}", subject, found_.size(), found_.size() == 1 ? "" : "s");
  std::map<std::string, std::size_t> counts;
  for (const Problem& problem : sorted())
    if (++counts[problem.kind] <= kShown) text += "\n" + problem.text;
  for (const auto& [kind, count] : counts)
    if (count > kShown)
      text += fmt::format("\n{} more errors that begin with \"{}\"", count - kShown, trim(kind));
  throw Error::usage(text);
}

const IniEntry* IniSection::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &IniEntry::key);
  return found == entries.end() ? nullptr : &*found;
}
const IniSection* Ini::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &IniSection::name);
  return found == sections.end() ? nullptr : &*found;
}
std::filesystem::path Ini::folder_of(const Location& where) const {
  if (files.empty()) return {};
  return files[where.file < files.size() ? where.file : 0].folder;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out;
  for (char c : text.substr(0, kShown)) out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return out + (text.size() > kShown ? "..." : "");
}

std::vector<ListPart> list_parts(std::string_view text) {
  std::vector<ListPart> parts;
  if (trim(text).empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = trim(text.substr(begin, end - begin));
    parts.push_back(
        {std::string(part), part.empty() ? end : static_cast<std::size_t>(part.data() - text.data())});
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (ListPart& part : list_parts(text)) parts.push_back(std::move(part.text));
  return parts;
}

Ini parse_ini(std::string_view text, const std::string& source, Problems& problems) {
  return IniParser(source, 0, problems).parse(text);
}

Ini read_ini(const std::filesystem::path& file, Problems& problems) {
  std::string text;
  if (!read_text(file, text)) throw Error::usage(file.string() + ": cannot be read, expected a config file");
  Ini ini = parse_ini(text, file.string(), problems);
  read_includes(ini, file.has_parent_path() ? file.parent_path() : ".", problems);
  return ini;
}

void read_includes(Ini& ini, const std::filesystem::path& folder, Problems& problems) {
  ini.files.front().folder = folder;
  if (ini.includes.empty()) return;
  if (folder.empty()) {
    for (const IniInclude& include : ini.includes)
      problems.add(include.where, "include: found " + in_quotes(include.file) +
                                      ", expected no include in a text that stands in no folder");
    return;
  }
  IncludeReader(ini, problems).read();
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
  const IniSection* known = ini.find(name);
  override_sections(ini.sections, {{name, known ? known->where : here, {{key, value, here}}}});
}

}  // namespace proxbench
