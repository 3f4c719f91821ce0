#include "experiments/ini.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace proxbench {
namespace {

constexpr std::string_view kSpace = " \t\r\v\f";

/// Cuts the comment off: '#' or ';' at the start or after white space.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if ((line[i] == '#' || line[i] == ';') && (i == 0 || kSpace.find(line[i - 1]) != kSpace.npos))
      return line.substr(0, i);
  return line;
}

/// Takes a line off the text, without comment and outer white space, and joins those in which it goes on;
/// adds their number to `lines`.
std::string take_line(std::string_view& text, std::size_t& lines) {
  std::string out;
  for (bool more = true; more && !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++lines;
    more = line.ends_with('\\');
    if (more) line = trim(line.substr(0, line.size() - 1));
    if (!out.empty() && !line.empty()) out += ' ';
    out += line;
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  out += shown(text);
  return out + "'";
}

}  // namespace

void Problems::add(const Location& where, const std::string& what) {
  const std::size_t line = where.line > 0 ? where.line : std::numeric_limits<std::size_t>::max();
  found_.push_back({line, where.text() + ": " + what});
}

std::vector<std::string> Problems::lines() const {
  std::vector<Problem> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.line < b.line; });
  std::vector<std::string> out;
  for (Problem& problem : sorted) out.push_back(std::move(problem.text));
  return out;
}

void Problems::throw_if_any(const std::string& subject) const {
  if (empty()) return;
  std::string text =
      subject + ": " + std::to_string(found_.size()) + (found_.size() == 1 ? " error" : " errors");
  for (const std::string& line : lines()) text += "\n" + line;
  throw Error::usage(text);
}

const IniEntry* IniSection::find(std::string_view key) const {
  for (const IniEntry& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}
IniEntry* IniSection::find(std::string_view key) {
  return const_cast<IniEntry*>(std::as_const(*this).find(key));
}
const IniSection* Ini::find(std::string_view name) const {
  for (const IniSection& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}
IniSection* Ini::find(std::string_view name) {
  return const_cast<IniSection*>(std::as_const(*this).find(name));
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out;
  for (char c : text.substr(0, kShown)) out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return text.size() > kShown ? out + "..." : out;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  if (trim(text).empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

Ini parse_ini(std::string_view text, const std::string& source, Problems& problems) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Ini ini{source, {}};
  std::map<std::string, std::size_t, std::less<>> number;                 // of a section's name
  std::map<std::pair<std::size_t, std::string>, std::size_t> first_line;  // of a key in a section
  std::size_t section = 0;                                                // of ini.sections, where `inside`
  bool inside = false;                                                    // a section has begun
  bool skip_section = false;  // its header was malformed and reported: what follows belongs nowhere
  Location here{source, 0};
  for (std::size_t lines = 0; !text.empty();) {
    here.line = lines + 1;
    const std::string whole = take_line(text, lines);
    const std::string_view line = whole;
    if (line.empty()) continue;

    if (line.front() == '[') {
      const std::string_view name = line.back() == ']' ? trim(line.substr(1, line.size() - 2)) : "";
      inside = true;
      skip_section = name.empty() || name.find_first_of("[]") != name.npos;
      if (skip_section) {
        problems.add(here, "found " + quoted(line) + ", expected [section] or [section.name]");
      } else if (const auto known = number.find(name); known != number.end()) {
        section = known->second;
        problems.add(here, "found section [" + shown(name) + "] again, expected it once (first at line " +
                               std::to_string(ini.sections[section].where.line) + ")");
      } else {
        section = ini.sections.size();
        number.emplace(name, section);
        ini.sections.push_back({std::string(name), here, {}});
      }
      continue;
    }

    const std::size_t equals = line.find('=');
    const std::string key(trim(line.substr(0, equals)));
    if (equals == line.npos || key.empty()) {
      problems.add(here, "found " + quoted(line) + ", expected [section] or key = value");
    } else if (!inside) {
      problems.add(here, "found key '" + key + "' outside a section, expected [section] first");
    } else if (!skip_section) {
      IniSection& current = ini.sections[section];
      if (const auto [first, added] = first_line.try_emplace({section, key}, here.line); !added)
        problems.add(here, "found key " + quoted(key) + " again in [" + shown(current.name) +
                               "], expected it once (first at line " + std::to_string(first->second) + ")");
      else
        current.entries.push_back({key, std::string(trim(line.substr(equals + 1))), here});
    }
  }
  return ini;
}

void apply_override(Ini& ini, const std::string& assignment, Problems& problems) {
  const Location here{"--set " + assignment, 0};
  const std::string_view text = assignment;
  const std::size_t equals = text.find('=');
  const std::size_t dot = equals == text.npos ? text.npos : text.substr(0, equals).rfind('.');
  if (dot == text.npos) {
    problems.add(here, "found " + quoted(text) + ", expected section.key=value");
    return;
  }
  const std::string name(trim(text.substr(0, dot))), key(trim(text.substr(dot + 1, equals - dot - 1)));
  if (name.empty() || key.empty()) {
    problems.add(here, "found " + quoted(text) + ", expected section.key=value");
    return;
  }
  const std::string value(trim(text.substr(equals + 1)));
  if (without_comment(value).size() != value.size() || value.find('\n') != value.npos) {
    problems.add(here,
                 "found a comment or line break in the value, expected a value that a config file can hold");
    return;
  }
  IniSection* section = ini.find(name);
  if (!section) section = &ini.sections.emplace_back(IniSection{name, here, {}});
  if (IniEntry* entry = section->find(key))
    *entry = {key, value, here};
  else
    section->entries.push_back({key, value, here});
}

}  // namespace proxbench
